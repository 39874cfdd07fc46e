//! The two APIs: where they are, and how they tell of errors.

use serde_json::{Value, json};

use super::script::ApiError;
use super::{anthropic, openai};
use crate::http_mock::HttpReply;

/// An API of models that call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Api {
    /// OpenAI's chat completions.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// Where the models are listed, in both.
pub(super) const MODELS: &str = "/v1/models";

impl Api {
    pub(crate) const ALL: [Api; 2] = [Api::OpenAi, Api::Anthropic];

    /// Its name, as scripts have it.
    pub fn name(self) -> &'static str {
        match self {
            Api::OpenAi => "openai",
            Api::Anthropic => "anthropic",
        }
    }

    /// Where an answer is asked for.
    pub(super) fn path(self) -> &'static str {
        match self {
            Api::OpenAi => "/v1/chat/completions",
            Api::Anthropic => "/v1/messages",
        }
    }

    /// What its clients take as the base of their URLs, behind the origin.
    pub(super) fn base(self) -> &'static str {
        match self {
            Api::OpenAi => "/v1",
            Api::Anthropic => "",
        }
    }

    /// The header that a response is numbered by.
    pub(super) fn request_id(self) -> &'static str {
        match self {
            Api::OpenAi => "x-request-id",
            Api::Anthropic => "request-id",
        }
    }

    /// The list of models.
    pub(super) fn models(self, models: &[String]) -> Value {
        match self {
            Api::OpenAi => openai::models(models),
            Api::Anthropic => anthropic::models(models),
        }
    }

    /// The body of an error.
    pub(super) fn error_body(self, error: &ApiError) -> Value {
        let kind = error.kind.clone().unwrap_or_else(|| self.kind(error.status).to_owned());
        match self {
            Api::OpenAi => json!({"error": {
                "message": error.message, "type": kind, "param": null, "code": error.code,
            }}),
            Api::Anthropic => {
                json!({"type": "error", "error": {"type": kind, "message": error.message}})
            }
        }
    }

    /// An error as a reply.
    pub(super) fn refuse(self, error: &ApiError) -> HttpReply {
        let mut reply = HttpReply::json(&self.error_body(error)).status(error.status);
        if let Some(after) = error.retry_after {
            let seconds = after.as_millis().div_ceil(1000);
            reply = reply.header("retry-after", &seconds.to_string());
            // Both makers' clients know this one too, and heed it first.
            reply = reply.header("retry-after-ms", &after.as_millis().to_string());
        }
        reply
    }

    /// What an error of a status is called.
    fn kind(self, status: u16) -> &'static str {
        match (self, status) {
            (_, 400) => "invalid_request_error",
            (Api::OpenAi, 429) => "rate_limit_exceeded",
            (Api::OpenAi, 400..=499) => "invalid_request_error",
            (Api::OpenAi, _) => "server_error",
            (Api::Anthropic, 401) => "authentication_error",
            (Api::Anthropic, 402) => "billing_error",
            (Api::Anthropic, 403) => "permission_error",
            (Api::Anthropic, 404) => "not_found_error",
            (Api::Anthropic, 413) => "request_too_large",
            (Api::Anthropic, 429) => "rate_limit_error",
            (Api::Anthropic, 504) => "timeout_error",
            (Api::Anthropic, 529) => "overloaded_error",
            (Api::Anthropic, 400..=499) => "invalid_request_error",
            (Api::Anthropic, _) => "api_error",
        }
    }
}

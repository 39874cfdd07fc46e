//! The two APIs: their paths and error responses.

use serde_json::{Value, json};

use super::script::ApiError;
use super::{anthropic, openai};
use crate::http_mock::HttpReply;

/// An LLM API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Api {
    /// OpenAI's chat completions.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

/// The path of the list of models, in both APIs.
pub(super) const MODELS_PATH: &str = "/v1/models";

impl Api {
    pub(crate) const ALL: [Api; 2] = [Api::OpenAi, Api::Anthropic];

    /// Returns its name in scripts.
    pub fn name(self) -> &'static str {
        match self {
            Api::OpenAi => "openai",
            Api::Anthropic => "anthropic",
        }
    }

    /// Returns the path of requests.
    pub(super) fn path(self) -> &'static str {
        match self {
            Api::OpenAi => "/v1/chat/completions",
            Api::Anthropic => "/v1/messages",
        }
    }

    /// Returns the path of the base URL that its clients take.
    pub(super) fn base_path(self) -> &'static str {
        match self {
            Api::OpenAi => "/v1",
            Api::Anthropic => "",
        }
    }

    /// Returns the response header with the request id.
    pub(super) fn request_id_header(self) -> &'static str {
        match self {
            Api::OpenAi => "x-request-id",
            Api::Anthropic => "request-id",
        }
    }

    /// Renders the list of models.
    pub(super) fn render_models(self, models: &[String]) -> Value {
        match self {
            Api::OpenAi => openai::render_models(models),
            Api::Anthropic => anthropic::render_models(models),
        }
    }

    /// Renders the body of an error.
    pub(super) fn error_body(self, error: &ApiError) -> Value {
        let kind =
            error.kind.clone().unwrap_or_else(|| self.default_error_type(error.status).to_owned());
        match self {
            Api::OpenAi => json!({"error": {
                "message": error.message, "type": kind, "param": null, "code": error.code,
            }}),
            Api::Anthropic => {
                json!({"type": "error", "error": {"type": kind, "message": error.message}})
            }
        }
    }

    /// Renders an error as a reply.
    pub(super) fn error_reply(self, error: &ApiError) -> HttpReply {
        let mut reply = HttpReply::json(&self.error_body(error)).status(error.status);
        if let Some(after) = error.retry_after {
            let seconds = after.as_millis().div_ceil(1000);
            reply = reply.header("retry-after", &seconds.to_string());
            // The official clients of both APIs read this header first.
            reply = reply.header("retry-after-ms", &after.as_millis().to_string());
        }
        reply
    }

    /// Returns the default error type of a status.
    fn default_error_type(self, status: u16) -> &'static str {
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

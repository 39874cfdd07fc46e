//! The APIs of a script, and the forms of requests and answers on the wire.

use serde_json::{Value, json};

use super::chat_request::{ChatRequest, InvalidRequest};
use super::model_answer::{EventStream, ModelAnswer};
use super::script::ApiError;
use super::{chat_completions, gemini, messages, responses};
use crate::http_mock::HttpReply;

/// The APIs that a script serves, by its key for the turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Api {
    /// All APIs.
    Any,
    /// OpenAI's chat completions and Responses.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
}

/// The form of a request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireApi {
    ChatCompletions,
    Responses,
    Messages,
    Gemini,
}

impl Api {
    pub(crate) const ALL: [Api; 4] = [Api::Any, Api::OpenAi, Api::Anthropic, Api::Gemini];

    /// Returns its key in scripts.
    pub fn name(self) -> &'static str {
        match self {
            Api::Any => "turns",
            Api::OpenAi => "openai",
            Api::Anthropic => "anthropic",
            Api::Gemini => "gemini",
        }
    }

    /// Returns the path of the base URL that its clients take. Paths may omit `/v1`, so the
    /// base URL for all APIs has none.
    pub(super) fn base_path(self) -> &'static str {
        match self {
            Api::OpenAi => "/v1",
            Api::Any | Api::Anthropic | Api::Gemini => "",
        }
    }

    /// Returns the forms that it serves.
    pub(super) fn wire_apis(self) -> &'static [WireApi] {
        match self {
            Api::Any => &WireApi::ALL,
            Api::OpenAi => &[WireApi::ChatCompletions, WireApi::Responses],
            Api::Anthropic => &[WireApi::Messages],
            Api::Gemini => &[WireApi::Gemini],
        }
    }
}

impl WireApi {
    const ALL: [WireApi; 4] =
        [WireApi::ChatCompletions, WireApi::Responses, WireApi::Messages, WireApi::Gemini];

    /// Returns its method and path, for messages.
    pub(super) fn endpoint(self) -> &'static str {
        match self {
            WireApi::ChatCompletions => "POST /v1/chat/completions",
            WireApi::Responses => "POST /v1/responses",
            WireApi::Messages => "POST /v1/messages",
            WireApi::Gemini => "POST /v1beta/models/MODEL:generateContent",
        }
    }

    /// Returns the response header with the request id.
    pub(super) fn request_id_header(self) -> &'static str {
        match self {
            WireApi::Messages => "request-id",
            _ => "x-request-id",
        }
    }

    /// Returns the start of generated ids of calls.
    pub(super) fn call_id_prefix(self) -> &'static str {
        match self {
            WireApi::Messages => "toolu",
            _ => "call",
        }
    }

    /// Parses the body of a request. `model` is the model in the path, if the path has one.
    pub(super) fn parse(
        self,
        body: &Value,
        model: Option<&str>,
    ) -> Result<ChatRequest, InvalidRequest> {
        if !body.is_object() {
            return Err("the body must be an object".to_owned());
        }
        let chat = match self {
            WireApi::ChatCompletions => chat_completions::parse(body)?,
            WireApi::Responses => responses::parse(body)?,
            WireApi::Messages => messages::parse(body)?,
            WireApi::Gemini => gemini::parse(body, model.unwrap_or_default())?,
        };
        Ok(chat)
    }

    /// Renders a complete answer.
    pub(super) fn render_complete(self, answer: &ModelAnswer) -> Value {
        match self {
            WireApi::ChatCompletions => chat_completions::render_complete(answer),
            WireApi::Responses => responses::render_complete(answer),
            WireApi::Messages => messages::render_complete(answer),
            WireApi::Gemini => gemini::render_complete(answer),
        }
    }

    /// Renders an answer as events.
    pub(super) fn render_stream(self, answer: &ModelAnswer, chat: &ChatRequest) -> EventStream {
        match self {
            WireApi::ChatCompletions => chat_completions::render_stream(answer, chat.with_usage),
            WireApi::Responses => responses::render_stream(answer),
            WireApi::Messages => messages::render_stream(answer),
            WireApi::Gemini => gemini::render_stream(answer),
        }
    }

    /// Renders the event of an error in a stream, after `sequence` other events.
    pub(super) fn error_event(
        self,
        error: &ApiError,
        answer: &ModelAnswer,
        sequence: usize,
    ) -> String {
        match self {
            WireApi::Responses => {
                responses::render_failure(answer, &self.error_body(error), sequence)
            }
            WireApi::Messages => format!("event: error\ndata: {}\n\n", self.error_body(error)),
            WireApi::ChatCompletions | WireApi::Gemini => {
                format!("data: {}\n\n", self.error_body(error))
            }
        }
    }

    /// Returns the first line of an event that is not JSON; APIs with named events need a name.
    pub(super) fn garbage_event_name(self) -> &'static str {
        match self {
            WireApi::Messages => "event: content_block_delta\n",
            WireApi::Responses => "event: response.output_text.delta\n",
            WireApi::ChatCompletions | WireApi::Gemini => "",
        }
    }

    /// Renders the list of models.
    pub(super) fn render_models(self, models: &[String]) -> Value {
        match self {
            WireApi::ChatCompletions | WireApi::Responses => {
                let models: Vec<Value> = models.iter().map(|id| self.render_model(id)).collect();
                json!({"object": "list", "data": models})
            }
            WireApi::Messages => json!({
                "data": models.iter().map(|id| self.render_model(id)).collect::<Vec<_>>(),
                "has_more": false, "first_id": models.first(), "last_id": models.last(),
            }),
            WireApi::Gemini => json!({
                "models": models.iter().map(|id| self.render_model(id)).collect::<Vec<_>>(),
            }),
        }
    }

    /// Renders one model.
    pub(super) fn render_model(self, id: &str) -> Value {
        match self {
            WireApi::ChatCompletions | WireApi::Responses => {
                json!({"id": id, "object": "model", "created": 0, "owned_by": "sparring"})
            }
            WireApi::Messages => json!({
                "type": "model", "id": id, "display_name": id, "lifecycle": "active",
                "created_at": "1970-01-01T00:00:00Z",
            }),
            WireApi::Gemini => gemini::render_model(id),
        }
    }

    /// Renders the body of an error.
    pub(super) fn error_body(self, error: &ApiError) -> Value {
        let kind =
            error.kind.clone().unwrap_or_else(|| self.default_error_type(error.status).to_owned());
        match self {
            WireApi::ChatCompletions | WireApi::Responses => json!({"error": {
                "message": error.message, "type": kind, "param": null, "code": error.code,
            }}),
            WireApi::Messages => {
                json!({"type": "error", "error": {"type": kind, "message": error.message}})
            }
            WireApi::Gemini => gemini::render_error(error, &kind),
        }
    }

    /// Renders an error as a reply.
    pub(super) fn error_reply(self, error: &ApiError) -> HttpReply {
        let mut reply = HttpReply::json(&self.error_body(error)).status(error.status);
        if let Some(after) = error.retry_after {
            let seconds = after.as_millis().div_ceil(1000);
            reply = reply.header("retry-after", &seconds.to_string());
            // The official clients of OpenAI and Anthropic read this header first.
            reply = reply.header("retry-after-ms", &after.as_millis().to_string());
        }
        reply
    }

    /// Returns the default error type of a status.
    fn default_error_type(self, status: u16) -> &'static str {
        match (self, status) {
            (WireApi::Gemini, _) => gemini::default_error_status(status),
            (_, 400) => "invalid_request_error",
            (WireApi::Messages, 401) => "authentication_error",
            (WireApi::Messages, 402) => "billing_error",
            (WireApi::Messages, 403) => "permission_error",
            (WireApi::Messages, 404) => "not_found_error",
            (WireApi::Messages, 413) => "request_too_large",
            (WireApi::Messages, 429) => "rate_limit_error",
            (WireApi::Messages, 504) => "timeout_error",
            (WireApi::Messages, 529) => "overloaded_error",
            (WireApi::Messages, 400..=499) => "invalid_request_error",
            (WireApi::Messages, _) => "api_error",
            (_, 429) => "rate_limit_exceeded",
            (_, 400..=499) => "invalid_request_error",
            (_, _) => "server_error",
        }
    }
}

//! The JSON-RPC error object, and the codes that the protocol gives a meaning.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::Json;
use crate::types::object::object_only;

/// The `error` of an error response: data about the other side, or about to be
/// sent to it.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[error("{message} ({code})")]
pub struct ErrorObject {
    /// What kind of error, by number.
    pub code: i64,
    /// What happened, for a person.
    pub message: String,
    /// Anything more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

object_only!(ErrorObject);

impl ErrorObject {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        ErrorObject { code, message: message.into(), data: None }
    }

    /// The same error with data.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// -32601, naming the method.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("method not found: {method}"))
    }

    /// -32602.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// -32600.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    /// -32603.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }

    /// Reads an error leniently: what is missing or of a wrong type is left
    /// empty, since the frame has a violation for it already.
    pub fn read(json: Json<'_>) -> Self {
        let message = json.get("message").and_then(Json::as_str).unwrap_or_default();
        ErrorObject {
            code: json.get("code").and_then(Json::as_i64).unwrap_or_default(),
            message: message.into_owned(),
            data: json.get("data").and_then(|data| data.to().ok()),
        }
    }
}

/// Error codes with a meaning in JSON-RPC or in some revision.
pub mod code {
    /// The text was not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The frame was no request, or not at this time.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method is not there.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The params do not fit.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The server failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// No such resource; up to 2025-11-25.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// A URL must be visited first; 2025-11-25 only.
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// HTTP headers and body disagree; since 2026-07-28.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a capability that the client did not declare; since 2026-07-28.
    pub const MISSING_REQUIRED_CLIENT_CAPABILITY: i64 = -32021;
    /// The request's revision is not served; since 2026-07-28.
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
}

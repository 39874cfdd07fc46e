//! The JSON-RPC error object, and the error codes of the protocol.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::Json;
use crate::types::object_only::object_only;

/// The `error` of a received or sent error response.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(remote = "Self")]
#[error("{message} ({code})")]
pub struct ErrorObject {
    /// The error code.
    pub code: i64,
    /// The message for people.
    pub message: String,
    /// Additional data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

object_only!(ErrorObject);

impl ErrorObject {
    /// Creates an error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        ErrorObject { code, message: message.into(), data: None }
    }

    /// Returns the error with data.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// Creates an error with the code -32601 that names the method.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("method not found: {method}"))
    }

    /// Creates an error with the code -32602.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// Creates an error with the code -32600.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    /// Creates an error with the code -32603.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }

    /// Reads an error from JSON. A missing or wrong field becomes empty, because the frame
    /// already has a violation for it.
    pub fn from_json(json: Json<'_>) -> Self {
        let message = json.get("message").and_then(Json::as_str).unwrap_or_default();
        ErrorObject {
            code: json.get("code").and_then(Json::as_i64).unwrap_or_default(),
            message: message.into_owned(),
            data: json.get("data").and_then(|data| data.deserialize().ok()),
        }
    }
}

/// The error codes of JSON-RPC and of the revisions.
pub mod code {
    /// The text was not JSON.
    pub const PARSE_ERROR: i64 = -32700;
    /// The message was not a valid request, or came at the wrong time.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The params are invalid.
    pub const INVALID_PARAMS: i64 = -32602;
    /// The receiver failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// No such resource; up to 2025-11-25.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// The user must visit a URL first; 2025-11-25 only.
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// HTTP headers and body differ; since 2026-07-28.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a capability that the client did not declare; since 2026-07-28.
    pub const MISSING_REQUIRED_CLIENT_CAPABILITY: i64 = -32021;
    /// The server does not support the request's revision; since 2026-07-28.
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
}

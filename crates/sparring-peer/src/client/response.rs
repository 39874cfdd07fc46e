//! The response to a request: a result or an error, with the whole frame.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;
use sparring_wire::json::parse_value;
use sparring_wire::{ErrorObject, Frame, Json};

use super::error::Error;
use crate::link::Envelope;

/// A response as it arrived. The caller judges its contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    method: Cow<'static, str>,
    frame: Frame,
    envelope: Option<Envelope>,
}

impl Response {
    pub(super) fn new(method: Cow<'static, str>, frame: Frame, envelope: Option<Envelope>) -> Self {
        Response { method, frame, envelope }
    }

    /// Returns the method of the request.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns true if the response has a result without `isError`.
    pub fn success(&self) -> bool {
        self.result().is_some() && !self.is_error()
    }

    /// Returns true if the response has a result with `isError`. For a JSON-RPC
    /// error see [`Response::error`].
    pub fn is_error(&self) -> bool {
        self.result().and_then(|result| result.get("isError")).and_then(Json::as_bool) == Some(true)
    }

    /// Returns the text items of the content, joined without a separator.
    pub fn content(&self) -> String {
        let content = self.result().and_then(|result| result.get("content"));
        let items = content.unwrap_or(Json::EMPTY_OBJECT).items();
        let texts =
            items.filter(|item| item.get("type").and_then(Json::as_str).as_deref() == Some("text"));
        texts.filter_map(|item| item.get("text").and_then(Json::as_str)).collect()
    }

    /// Returns the structured content, if there is any.
    pub fn structured(&self) -> Option<Json<'_>> {
        self.result().and_then(|result| result.get("structuredContent"))
    }

    /// Returns the result as the server wrote it, if there is one.
    pub fn result(&self) -> Option<Json<'_>> {
        self.frame.result()
    }

    pub(crate) fn into_frame(self) -> Frame {
        self.frame
    }

    /// Returns the JSON-RPC error, if there is one.
    pub fn error(&self) -> Option<ErrorObject> {
        self.frame.error_object()
    }

    /// Returns the code of the JSON-RPC error.
    pub fn error_code(&self) -> Option<i64> {
        self.error().map(|error| error.code)
    }

    /// Returns the message of the JSON-RPC error.
    pub fn error_message(&self) -> Option<String> {
        self.error().map(|error| error.message)
    }

    /// Returns the whole frame.
    pub fn raw(&self) -> &Frame {
        &self.frame
    }

    /// Returns the HTTP status and headers; none on other links.
    pub fn envelope(&self) -> Option<&Envelope> {
        self.envelope.as_ref()
    }

    /// Returns the result as the server wrote it.
    ///
    /// # Errors
    /// If the response is an error.
    pub fn require_result(&self) -> Result<Json<'_>, Error> {
        let method = || self.method.to_string();
        match (self.result(), self.error()) {
            (Some(result), _) => Ok(result),
            (None, Some(error)) => {
                Err(Error::ErrorResponse { method: method(), error: Box::new(error) })
            }
            (None, None) => {
                Err(Error::InvalidResult { method: method(), reason: "no result".to_owned() })
            }
        }
    }

    /// Returns the result as a JSON tree.
    pub(super) fn to_value(&self) -> Result<Value, Error> {
        parse_value(self.require_result()?.bytes()).map_err(|error| Error::InvalidResult {
            method: self.method.to_string(),
            reason: error.to_string(),
        })
    }

    /// Deserializes the result.
    ///
    /// # Errors
    /// If the response is an error, or the result does not fit the type.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.require_result()?.deserialize().map_err(|error| Error::InvalidResult {
            method: self.method.to_string(),
            reason: error.to_string(),
        })
    }
}

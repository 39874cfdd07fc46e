//! An answer to a request: a result or an error, with everything it said.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;
use sparring_wire::json::tree;
use sparring_wire::{ErrorObject, Frame, Json};

use super::error::Error;
use crate::link::Envelope;

/// An answer as it came. Whether it is a good one is the caller's to say.
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

    /// The method that was answered.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Whether there is a result and the tool did not say that it failed.
    pub fn success(&self) -> bool {
        self.result().is_some() && !self.is_error()
    }

    /// Whether there is a result in which the tool says that it failed. A
    /// JSON-RPC error is something else: see [`Response::error`].
    pub fn is_error(&self) -> bool {
        self.result().and_then(|result| result.get("isError")).and_then(Json::as_bool) == Some(true)
    }

    /// The text items of the content, joined with nothing.
    pub fn content(&self) -> String {
        let content = self.result().and_then(|result| result.get("content"));
        let items = content.unwrap_or(Json::EMPTY_OBJECT).items();
        let texts =
            items.filter(|item| item.get("type").and_then(Json::as_str).as_deref() == Some("text"));
        texts.filter_map(|item| item.get("text").and_then(Json::as_str)).collect()
    }

    /// The structured content, where there is any.
    pub fn structured(&self) -> Option<Json<'_>> {
        self.result().and_then(|result| result.get("structuredContent"))
    }

    /// The result as it was spelled, where there is one.
    pub fn result(&self) -> Option<Json<'_>> {
        self.frame.result()
    }

    pub(crate) fn into_raw(self) -> Frame {
        self.frame
    }

    /// The JSON-RPC error, where there is one.
    pub fn error(&self) -> Option<ErrorObject> {
        self.frame.error_object()
    }

    /// The code of the JSON-RPC error.
    pub fn error_code(&self) -> Option<i64> {
        self.error().map(|error| error.code)
    }

    /// The message of the JSON-RPC error.
    pub fn error_message(&self) -> Option<String> {
        self.error().map(|error| error.message)
    }

    /// The whole frame.
    pub fn raw(&self) -> &Frame {
        &self.frame
    }

    /// The HTTP status and headers that it came with; none on other links.
    pub fn envelope(&self) -> Option<&Envelope> {
        self.envelope.as_ref()
    }

    /// The result as it was spelled, where nothing else will do.
    ///
    /// # Errors
    /// When the answer is an error.
    pub fn good_result(&self) -> Result<Json<'_>, Error> {
        let method = || self.method.to_string();
        match (self.result(), self.error()) {
            (Some(result), _) => Ok(result),
            (None, Some(error)) => Err(Error::Refused { method: method(), error: Box::new(error) }),
            (None, None) => {
                Err(Error::Unusable { method: method(), reason: "no result".to_owned() })
            }
        }
    }

    /// The result as a tree.
    pub(super) fn to_value(&self) -> Result<Value, Error> {
        tree(self.good_result()?.bytes()).map_err(|error| Error::Unusable {
            method: self.method.to_string(),
            reason: error.to_string(),
        })
    }

    /// The result as a type of the caller's.
    ///
    /// # Errors
    /// When the answer is an error, or the result does not fit the type.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.good_result()?.to().map_err(|error| Error::Unusable {
            method: self.method.to_string(),
            reason: error.to_string(),
        })
    }
}

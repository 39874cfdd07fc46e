//! Owned text that is known to be one JSON value, and the shared entry points to
//! `serde_json`.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::scanner::{MAX_DEPTH, SyntaxError, scan_single_value, write_string};
use super::view::Json;
use crate::types::{Completion, Implementation, ServerCapabilities};

/// One JSON value as text: validated once, never reformatted.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Cow<'static, str>);

/// The text was not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not JSON: {0}")]
pub struct InvalidJson(SyntaxError);

impl RawJson {
    /// Checks that a text is one JSON value, and keeps it as written.
    ///
    /// # Errors
    /// Fails if the text is not JSON; the error has the position.
    pub fn parse(text: &str) -> Result<Self, InvalidJson> {
        let range = scan_single_value(text.as_bytes(), MAX_DEPTH).map_err(InvalidJson)?;
        Ok(RawJson(text[range].to_owned().into()))
    }

    /// Serializes a value.
    ///
    /// # Errors
    /// Fails if the value cannot be written as JSON, such as a map whose keys are not
    /// strings.
    pub fn from_serialize(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        Ok(RawJson(serde_json::to_string(value)?.into()))
    }

    /// Wraps text that was built from valid JSON.
    pub(crate) fn trusted(text: Vec<u8>) -> Self {
        let text = String::from_utf8(text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        RawJson(text.into())
    }

    /// Returns a JSON string.
    pub fn string(text: &str) -> Self {
        let mut out = Vec::with_capacity(text.len() + 2);
        write_string(text, &mut out);
        RawJson::trusted(out)
    }

    /// Returns the empty object.
    pub fn empty_object() -> Self {
        RawJson("{}".into())
    }

    /// Returns a view of the value.
    pub fn view(&self) -> Json<'_> {
        Json::trusted(self.0.as_bytes())
    }

    /// Returns the text as written.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for RawJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&Value> for RawJson {
    fn from(value: &Value) -> Self {
        // Gives the same text as `Display`, faster. Writing a value cannot fail.
        RawJson(serde_json::to_string(value).unwrap_or_else(|_| value.to_string()).into())
    }
}

impl From<Value> for RawJson {
    fn from(value: Value) -> Self {
        RawJson::from(&value)
    }
}

/// Copies the text of a view, with invalid UTF-8 replaced.
impl From<Json<'_>> for RawJson {
    fn from(json: Json<'_>) -> Self {
        RawJson(json.text().into_owned().into())
    }
}

impl Serialize for RawJson {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &serde_json::value::RawValue =
            serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for RawJson {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
        Ok(RawJson(raw.get().to_owned().into()))
    }
}

// The functions of `serde_json` are generic, so that every crate that calls them compiles
// its own copy. All crates call these instead.

/// Parses JSON into a tree.
///
/// # Errors
/// Fails if the text is not JSON; the error has the position.
pub fn parse_value(json: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(json)
}

/// Parses the name and version of a peer; returns `None` if they are invalid.
pub fn parse_implementation(json: Json<'_>) -> Option<Implementation> {
    json.deserialize().ok()
}

/// Parses the capabilities of a server; returns `None` if they are invalid.
pub fn parse_capabilities(json: Json<'_>) -> Option<ServerCapabilities> {
    json.deserialize().ok()
}

/// Parses the completions of an argument; returns `None` if they are invalid.
pub fn parse_completion(json: Json<'_>) -> Option<Completion> {
    json.deserialize().ok()
}

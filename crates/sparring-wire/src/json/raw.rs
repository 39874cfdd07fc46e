//! Owned text that is known to be one JSON value, kept in its own spelling.

use std::borrow::Cow;

use serde::Serialize;

use super::scan::{DEEPEST, Fault, one_value, write_string};
use super::view::Json;

/// One JSON value as text: checked once, never re-spelled.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Cow<'static, str>);

/// The text was not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not JSON: {0}")]
pub struct InvalidJson(Fault);

impl RawJson {
    /// Checks that a text is one JSON value and keeps it as spelled.
    ///
    /// # Errors
    /// When it is not JSON; the error says where.
    pub fn parse(text: &str) -> Result<Self, InvalidJson> {
        let range = one_value(text.as_bytes(), DEEPEST).map_err(InvalidJson)?;
        Ok(RawJson(text[range].to_owned().into()))
    }

    /// Spells out a value of the caller's.
    ///
    /// # Errors
    /// When the type cannot be written as JSON, as a map with keys that are no
    /// strings.
    pub fn of(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        Ok(RawJson(serde_json::to_string(value)?.into()))
    }

    /// Keeps text that was put together from JSON.
    pub(crate) fn trusted(text: Vec<u8>) -> Self {
        let text = String::from_utf8(text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        RawJson(text.into())
    }

    /// A string.
    pub fn string(text: &str) -> Self {
        let mut out = Vec::with_capacity(text.len() + 2);
        write_string(text, &mut out);
        RawJson::trusted(out)
    }

    /// The empty object.
    pub fn empty_object() -> Self {
        RawJson("{}".into())
    }

    /// A view to look into.
    pub fn view(&self) -> Json<'_> {
        Json::trusted(self.0.as_bytes())
    }

    /// The text as it was spelled.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for RawJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&serde_json::Value> for RawJson {
    fn from(value: &serde_json::Value) -> Self {
        // The same text as its `Display`, in one piece; a value can always be written.
        RawJson(serde_json::to_string(value).unwrap_or_else(|_| value.to_string()).into())
    }
}

impl From<serde_json::Value> for RawJson {
    fn from(value: serde_json::Value) -> Self {
        RawJson::from(&value)
    }
}

/// A view's text taken along; invalid UTF-8 is replaced.
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

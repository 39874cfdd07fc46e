//! One request that came in.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use sparring_wire::{ErrorObject, Frame, Headers, Json, RawJson, Revision};

/// What of a header is shown of a secret.
const HIDDEN: &str = "(hidden)";

/// Headers whose values are secrets.
const SECRETS: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "mcp-session-id"];

/// A request that a mock served, and its answer. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Received {
    pub(super) at: Timestamp,
    pub(super) frame: Frame,
    pub(super) revision: Revision,
    pub(super) headers: Option<Headers>,
    /// None where the client was asked for input first.
    pub(super) answer: Option<Result<RawJson, ErrorObject>>,
}

impl Received {
    /// The request as it came.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Its method.
    pub fn method(&self) -> &str {
        self.frame.method().unwrap_or_default()
    }

    /// What was asked for: the name of a tool or a prompt, or a URI.
    pub fn name(&self) -> Option<String> {
        let params = self.frame.params()?;
        let name = params.get("name").or_else(|| params.get("uri"))?;
        name.as_str().map(Into::into)
    }

    /// The arguments; an empty map where there are none.
    pub fn arguments(&self) -> Value {
        let arguments = self.frame.params().and_then(|params| params.get("arguments"));
        arguments.and_then(|arguments| arguments.to().ok()).unwrap_or_else(|| json!({}))
    }

    /// The revision in which it was served.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The headers that it came with, over HTTP.
    pub fn headers(&self) -> Option<&Headers> {
        self.headers.as_ref()
    }

    /// The result that it got.
    pub fn result(&self) -> Option<&RawJson> {
        self.answer.as_ref()?.as_ref().ok()
    }

    /// The error that it got.
    pub fn error(&self) -> Option<&ErrorObject> {
        self.answer.as_ref()?.as_ref().err()
    }

    /// All of it as JSON, with secrets hidden.
    pub fn to_json(&self) -> Value {
        let params = self.frame.params().map(|params: Json<'_>| params.to().unwrap_or(Value::Null));
        let mut line = json!({
            "at": self.at.to_string(),
            "method": self.method(),
            "name": self.name(),
            "params": params,
            "revision": self.revision.name(),
        });
        if let Some(headers) = &self.headers {
            line["headers"] = Value::Object(shown(headers));
        }
        match &self.answer {
            Some(Ok(result)) => line["result"] = result.view().to().unwrap_or_default(),
            Some(Err(error)) => line["error"] = json!(error),
            None => line["input_required"] = true.into(),
        }
        line
    }

    pub(super) fn size(&self) -> usize {
        self.frame.bytes().len() + self.result().map_or(0, |result| result.text().len())
    }
}

fn shown(headers: &Headers) -> Map<String, Value> {
    let pairs = headers.iter().map(|(name, value)| {
        let name = name.to_lowercase();
        let value = if SECRETS.contains(&&*name) { HIDDEN } else { value };
        (name, value.into())
    });
    pairs.collect()
}

//! One request that came in.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use serde_json::{Value, json};
use sparring_peer::server::{Answer, Failure};
use sparring_wire::{ErrorObject, Frame, Headers, Json, RawJson, Revision};

/// What of a header is shown of a secret.
const HIDDEN: &str = "(hidden)";

/// Headers whose values are secrets.
const SECRETS: [&str; 4] = ["authorization", "proxy-authorization", "cookie", "mcp-session-id"];

/// A request that a mock was to serve, and its answer. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Received {
    /// How many came before it.
    pub(super) number: u64,
    pub(super) at: Timestamp,
    pub(super) frame: Frame,
    pub(super) revision: Revision,
    pub(super) headers: Option<Headers>,
    /// Nothing until it is answered.
    pub(super) given: Arc<OnceLock<Given>>,
}

/// What a request got.
#[derive(Debug)]
pub(super) enum Given {
    Result(RawJson),
    Error(ErrorObject),
    /// The client was asked for input first.
    InputRequired,
}

impl Given {
    pub(super) fn of(answer: &Answer) -> Self {
        match answer {
            Ok(reply) => Given::Result(reply.json().clone()),
            Err(Failure::Error(error)) => Given::Error(error.clone()),
            Err(Failure::InputRequired(_)) => Given::InputRequired,
        }
    }

    pub(super) fn size(&self) -> usize {
        match self {
            Given::Result(result) => result.text().len(),
            _ => 0,
        }
    }
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
        match self.given.get()? {
            Given::Result(result) => Some(result),
            _ => None,
        }
    }

    /// The error that it got.
    pub fn error(&self) -> Option<&ErrorObject> {
        match self.given.get()? {
            Given::Error(error) => Some(error),
            _ => None,
        }
    }

    /// All of it as one line of JSON, with secrets hidden. Params and result are
    /// spelled as they were, so that nothing is read for it.
    pub fn to_line(&self) -> String {
        let mut line = String::with_capacity(512 + self.size());
        line += "{\"at\":\"";
        line += &self.at.to_string();
        line.push('"');
        member(&mut line, "method", &spelled(self.method()));
        let name = self.name().map_or("null".to_owned(), |name| spelled(&name));
        member(&mut line, "name", &name);
        let params = self.frame.params().map_or("null".into(), Json::text);
        member(&mut line, "params", &params);
        member(&mut line, "revision", &spelled(self.revision.name()));
        if let Some(headers) = &self.headers {
            member(&mut line, "headers", &shown(headers));
        }
        match self.given.get() {
            Some(Given::Result(result)) => member(&mut line, "result", result.text()),
            Some(Given::Error(error)) => {
                let error = serde_json::to_string(error).unwrap_or_default();
                member(&mut line, "error", &error);
            }
            Some(Given::InputRequired) => member(&mut line, "input_required", "true"),
            None => member(&mut line, "unanswered", "true"),
        }
        line.push('}');
        line
    }

    /// The same as a value.
    pub fn to_json(&self) -> Value {
        serde_json::from_str(&self.to_line()).unwrap_or_default()
    }

    pub(super) fn size(&self) -> usize {
        self.frame.bytes().len() + self.given.get().map_or(0, Given::size)
    }
}

/// Adds a member; line breaks between its parts become spaces, and within a
/// text of JSON there are none.
fn member(line: &mut String, name: &str, value: &str) {
    *line += ",\"";
    *line += name;
    *line += "\":";
    match value.contains(['\n', '\r']) {
        true => *line += &value.replace(['\n', '\r'], " "),
        false => *line += value,
    }
}

fn spelled(text: &str) -> String {
    RawJson::string(text).text().to_owned()
}

fn shown(headers: &Headers) -> String {
    let mut object = "{".to_owned();
    for (name, value) in headers.iter() {
        let secret = SECRETS.iter().any(|secret| secret.eq_ignore_ascii_case(name));
        if object.len() > 1 {
            object.push(',');
        }
        object += &spelled(&name.to_lowercase());
        object.push(':');
        object += &spelled(if secret { HIDDEN } else { value });
    }
    object.push('}');
    object
}

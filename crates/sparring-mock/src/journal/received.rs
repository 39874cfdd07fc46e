//! One request that came in.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use serde_json::{Value, json};
use sparring_peer::server::{Answer, Failure};
use sparring_wire::json::tree;
use sparring_wire::{ErrorObject, Frame, Headers, Json, RawJson, Revision};

use super::line::Line;

/// A request that a mock was to serve, and its answer. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Received {
    /// How many came before it.
    pub(super) number: u64,
    pub(super) at: Timestamp,
    pub(super) frame: Frame,
    pub(super) revision: Revision,
    pub(super) transport: &'static str,
    /// A running number tells sessions apart as well as the id of a session
    /// over HTTP does, and whoever reads it cannot use the session.
    pub(super) session: Option<u64>,
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
            Ok(reply) => Given::Result(reply.json().into()),
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
        arguments.and_then(|arguments| tree(arguments.bytes()).ok()).unwrap_or_else(|| json!({}))
    }

    /// The revision in which it was served.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// What it came over: `memory`, `stdio`, `http`, `sse`, `unix` or `pipes`.
    pub fn transport(&self) -> &'static str {
        self.transport
    }

    /// The session that it belongs to: they are counted from 1 on as they begin,
    /// and a connection other than HTTP is one. None where a request stands for
    /// itself, as over HTTP since 2026-07-28.
    pub fn session(&self) -> Option<u64> {
        self.session
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
        let mut line = Line::new(1024 + self.size());
        line.quoted("at", &self.at.to_string());
        line.quoted("method", self.method());
        let params = self.frame.params();
        let name = params.and_then(|params| params.get("name").or_else(|| params.get("uri")));
        match name.and_then(Json::as_str) {
            Some(name) => line.quoted("name", &name),
            None => line.raw("name", "null"),
        }
        line.raw("params", &params.map_or("null".into(), Json::text));
        line.quoted("revision", self.revision.name());
        line.quoted("transport", self.transport);
        if let Some(session) = self.session {
            line.raw("session", &session.to_string());
        }
        if let Some(headers) = &self.headers {
            line.headers("headers", headers);
        }
        match self.given.get() {
            Some(Given::Result(result)) => line.raw("result", result.text()),
            Some(Given::Error(error)) => {
                line.raw("error", &serde_json::to_string(error).unwrap_or_default());
            }
            Some(Given::InputRequired) => line.raw("input_required", "true"),
            None => line.raw("unanswered", "true"),
        }
        line.end()
    }

    /// The same as a value.
    pub fn to_json(&self) -> Value {
        tree(self.to_line().as_bytes()).unwrap_or_default()
    }

    pub(super) fn size(&self) -> usize {
        self.frame.bytes().len() + self.given.get().map_or(0, Given::size)
    }
}

//! All that came of a step.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use sparring_peer::client::Inbox;
use sparring_wire::{Frame, Violation};

use super::{Answer, Came};

/// What came of a step, in the words of the language.
#[derive(Debug)]
pub(crate) struct Heard {
    /// What was asked, where an answer was waited for.
    pub(crate) asked: Option<String>,
    pub(crate) answer: Answer,
    pub(crate) took: Duration,
    pub(crate) violations: Vec<Value>,
    /// Why the result could not be checked against the output schema of its tool.
    pub(crate) unchecked: Option<String>,
    pub(crate) notifications: Vec<Value>,
    pub(crate) requests: Vec<Value>,
    /// All that the server sent.
    pub(crate) frames: Vec<Value>,
    /// The response over HTTP; none where there was none yet.
    pub(crate) response: Option<Response>,
    /// Whether it is talked to over HTTP.
    pub(crate) over_http: bool,
    pub(crate) stderr: String,
    /// What came to stand-ins, by their names.
    pub(crate) journals: HashMap<String, Vec<Came>>,
}

impl Heard {
    /// What came to a stand-in.
    pub(crate) fn came_to(&self, name: &str) -> &[Came] {
        self.journals.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// What stood around an answer over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) status: Value,
    /// By their names in lower case.
    pub(crate) headers: Value,
}

/// A breach of the protocol as a value.
pub(super) fn violation(violation: &Violation) -> Value {
    json!({
        "rule": violation.rule.name(), "path": violation.path,
        "message": violation.message, "section": violation.section,
    })
}

/// A breach of a rule of the suite's own.
pub(super) fn breach(rule: &str, message: &str) -> Value {
    json!({"rule": rule, "path": "$", "message": message, "section": ""})
}

/// What came into an inbox since it had so many.
pub(super) fn since(inbox: &Inbox, before: u64) -> Vec<Value> {
    let new = usize::try_from(inbox.total().saturating_sub(before)).unwrap_or(usize::MAX);
    if new == 0 {
        return Vec::new();
    }
    let all = inbox.all();
    all[all.len().saturating_sub(new)..].iter().map(value).collect()
}

/// Whatever the server sent as a value; what is no JSON is a text.
pub(super) fn raw(frame: &Frame) -> Value {
    serde_json::from_slice(frame.bytes()).unwrap_or_else(|_| Value::from(&*frame.text()))
}

/// A request or a notification as a value.
pub(super) fn value(frame: &Frame) -> Value {
    let params = frame.params().and_then(|params| params.to::<Value>().ok());
    match params {
        Some(params) => json!({"method": frame.method(), "params": params}),
        None => json!({"method": frame.method()}),
    }
}

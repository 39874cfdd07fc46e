//! The result of a step: everything that the runner observed and the judge checks.

mod agent;
mod answer;
mod arguments;
mod transcript;

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::{Frame, Revision, Rule, Violation};

use crate::model::Journal;

pub(crate) use agent::{AgentResult, FileMatches, FoundFile};
pub(crate) use answer::{Answer, ERROR_KINDS, REFUSED};
pub(crate) use arguments::{STEP_KEYS, UnknownArgument};
pub(crate) use transcript::{Exchange, ModelTurn};

/// The result of a step, as the values that matchers check.
#[derive(Debug)]
pub(crate) struct StepResult {
    /// A name for the request, such as `call echo`; `None` if the step waited for no
    /// answer.
    pub(crate) request: Option<String>,
    pub(crate) answer: Answer,
    pub(crate) took: Duration,
    pub(crate) violations: Vec<Value>,
    /// The reason why the result could not be checked against the output schema of its tool.
    pub(crate) unchecked: Option<String>,
    /// The arguments of a call that the input schema of its tool does not have.
    pub(crate) unknown_arguments: Vec<UnknownArgument>,
    /// The answers of the step for which the server did not ask, in words.
    pub(crate) unused_answers: Vec<String>,
    pub(crate) notifications: Vec<Value>,
    pub(crate) requests: Vec<Value>,
    /// The numbers of requests, frames and violations of the server that were too many to keep.
    pub(crate) dropped_requests: usize,
    pub(crate) dropped_frames: usize,
    pub(crate) dropped_violations: usize,
    /// Every frame that the server sent.
    pub(crate) frames: Vec<Value>,
    /// The last HTTP response; `None` if the server sent none yet.
    pub(crate) response: Option<HttpResponse>,
    /// True if the connection uses HTTP.
    pub(crate) over_http: bool,
    pub(crate) stderr: String,
    /// The requests that mocks received, by the kinds of the journals and the names of the mocks.
    pub(crate) journals: HashMap<(Journal, String), Vec<JournalEntry>>,
    /// The exchanges of an agent with the mocks, by time.
    pub(crate) transcript: Vec<Exchange>,
}

impl StepResult {
    /// A result without any observation yet.
    pub(crate) fn new(answer: Answer, took: Duration) -> StepResult {
        StepResult {
            request: None,
            answer,
            took,
            violations: Vec::new(),
            unchecked: None,
            unknown_arguments: Vec::new(),
            unused_answers: Vec::new(),
            notifications: Vec::new(),
            requests: Vec::new(),
            dropped_requests: 0,
            dropped_frames: 0,
            dropped_violations: 0,
            frames: Vec::new(),
            response: None,
            over_http: false,
            stderr: String::new(),
            journals: HashMap::new(),
            transcript: Vec::new(),
        }
    }

    /// The requests that a mock received.
    pub(crate) fn journal(&self, journal: Journal, mock: &str) -> &[JournalEntry] {
        self.journals.get(&(journal, mock.to_owned())).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The status and headers of an HTTP response.
#[derive(Debug, Clone)]
pub(crate) struct HttpResponse {
    pub(crate) status: Value,
    /// The headers by their names in lower case.
    pub(crate) headers: Value,
}

/// One request that a mock received.
#[derive(Debug, Clone)]
pub(crate) struct JournalEntry {
    pub(crate) value: Value,
    /// The same without its secrets, if it has any.
    pub(crate) masked: Option<Value>,
}

/// A protocol violation as a value.
pub(crate) fn violation_value(violation: &Violation) -> Value {
    json!({
        "rule": violation.rule.id(), "level": violation.rule.level().name(),
        "path": violation.path, "message": violation.message, "section": violation.section,
    })
}

/// A violation that the suite found as a value. Its section is the section of the rule, in the
/// revision if that is known.
pub(crate) fn suite_violation(
    rule: Rule,
    path: &str,
    message: &str,
    revision: Option<Revision>,
) -> Value {
    let section = match (revision, rule.entry().section) {
        (Some(revision), section) if !section.is_empty() => format!("{revision}/{section}"),
        (_, section) => section.to_owned(),
    };
    let level = rule.level().name();
    json!({"rule": rule.id(), "level": level, "path": path, "message": message, "section": section})
}

/// A violation value in one line.
pub(crate) fn violation_line(violation: &Value) -> String {
    let text = |key: &str| violation[key].as_str().unwrap_or_default();
    let (rule, path, message) = (text("rule"), text("path"), text("message"));
    let place = if path == "$" { String::new() } else { format!(" at {path}") };
    let section = match text("section") {
        "" => String::new(),
        section => format!(" ({section})"),
    };
    format!("{rule}{place}: {message}{section}")
}

/// The maximum number of different violations that one list has.
const MAX_VIOLATION_LINES: usize = 100;

/// Returns one line for each different violation, with the number of its repetitions.
pub(crate) fn violation_lines<'a>(violations: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let mut positions: HashMap<String, usize> = HashMap::new();
    let mut counted: Vec<(String, usize)> = Vec::new();
    for line in violations.map(violation_line) {
        let at = *positions.entry(line.clone()).or_insert(counted.len());
        match counted.get_mut(at) {
            Some((_, count)) => *count += 1,
            None => counted.push((line, 1)),
        }
    }
    let left_out = counted.split_off(counted.len().min(MAX_VIOLATION_LINES)).len();
    let lines = counted.into_iter().map(|(line, count)| match count {
        1 => line,
        count => format!("{line} ({count} times)"),
    });
    let more = (left_out > 0).then(|| format!("… and {left_out} other violations"));
    lines.chain(more).collect()
}

/// Any frame as a value: its JSON, or its text if it is not JSON.
pub(crate) fn frame_value(frame: &Frame) -> Value {
    serde_json::from_slice(frame.bytes()).unwrap_or_else(|_| Value::from(&*frame.text()))
}

/// A request or a notification as a value with `method` and `params`.
pub(crate) fn message_value(frame: &Frame) -> Value {
    let params = frame.params().and_then(|params| params.deserialize::<Value>().ok());
    match params {
        Some(params) => json!({"method": frame.method(), "params": params}),
        None => json!({"method": frame.method()}),
    }
}

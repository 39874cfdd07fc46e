//! The journal of an LLM endpoint, without API keys. The oldest entries are dropped when it is
//! full.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use serde_json::{Value, json};
use sparring_wire::Rule;
use sparring_wire::json::parse_value;

use super::chat_request::ChatRequest;
use super::model_answer::ModelAnswer;
use super::script::Turn;
use crate::http_mock::HttpRequest;

/// The maximum number of requests that are kept, and the total size of their bodies, as received
/// and as parsed.
const MAX_REQUESTS: usize = 10_000;
const MAX_BYTES: usize = 128 * 1024 * 1024;

/// A request to an LLM endpoint, and the outcome.
#[derive(Debug, Clone)]
pub struct LlmRequest {
    pub(super) at: Timestamp,
    /// The request in the form that all APIs share, if it asks for an answer.
    pub(super) chat: Option<Arc<ChatRequest>>,
    pub(super) http: HttpRequest,
    pub(super) case: Option<String>,
    /// Counted from 1.
    pub(super) turn: Option<usize>,
    pub(super) answer: Option<Arc<LlmAnswer>>,
    pub(super) status: u16,
    pub(super) miss: Option<LlmMismatch>,
}

/// The answer of a turn, before it gets the form of an API.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct LlmAnswer {
    /// The text.
    pub text: Option<String>,
    /// The text of a refusal.
    pub refusal: Option<String>,
    /// The tool calls: the names, and the arguments as text.
    pub calls: Vec<(String, String)>,
    /// The API error: its status and its message.
    pub error: Option<(u16, String)>,
    /// True if the turn makes the answer faulty.
    pub is_faulty: bool,
}

impl LlmAnswer {
    pub(super) fn new(answer: &ModelAnswer, turn: &Turn) -> LlmAnswer {
        let calls = answer.calls.iter().map(|call| (call.tool.clone(), call.arguments.clone()));
        LlmAnswer {
            text: answer.text.clone(),
            refusal: answer.refusal.clone(),
            calls: calls.collect(),
            error: turn.error.as_ref().map(|error| (error.status, error.message.clone())),
            is_faulty: turn.fault.is_some(),
        }
    }

    /// Returns the answer as JSON, without the parts that it does not have.
    fn to_json(&self) -> Value {
        let call = |(tool, arguments): &(String, String)| {
            let with = parse_value(arguments.as_bytes()).unwrap_or_else(|_| (&**arguments).into());
            json!({"tool": tool, "with": with})
        };
        let calls: Vec<Value> = self.calls.iter().map(call).collect();
        let error = self.error.as_ref();
        let parts = [
            ("text", self.text.as_deref().map(Value::from)),
            ("refusal", self.refusal.as_deref().map(Value::from)),
            ("calls", (!calls.is_empty()).then(|| calls.into())),
            ("error", error.map(|(status, message)| json!({"status": status, "message": message}))),
            ("is_faulty", self.is_faulty.then(|| true.into())),
        ];
        let given = parts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(given.collect())
    }
}

/// The reason why no turn answered a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LlmMismatch {
    /// `llm/unexpected-turn` if the script has no such turn or expects something else,
    /// `llm/invalid-request` if the API itself would reject the request.
    pub rule: Rule,
    /// The message.
    pub message: String,
    /// The expected and actual values, if an expectation is not met.
    pub reasons: Vec<String>,
}

impl fmt::Display for LlmMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.reasons.is_empty() {
            f.write_str(":")?;
        }
        self.reasons.iter().try_for_each(|reason| write!(f, "\n  {reason}"))
    }
}

impl LlmRequest {
    /// Returns the HTTP request, without API keys in its headers.
    pub fn http(&self) -> &HttpRequest {
        &self.http
    }

    /// Returns the test case that the user message names.
    pub fn case(&self) -> Option<&str> {
        self.case.as_deref()
    }

    /// Returns the turn that answered it, counted from 1.
    pub fn turn(&self) -> Option<usize> {
        self.turn
    }

    /// Returns the time at which it arrived.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// Returns the answer of its turn, if a turn answered it.
    pub fn answer(&self) -> Option<&LlmAnswer> {
        self.answer.as_deref()
    }

    /// Returns the HTTP status of the answer.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns the reason why no turn answered it.
    pub fn mismatch(&self) -> Option<&LlmMismatch> {
        self.miss.as_ref()
    }

    /// Returns the entry as JSON: the fields of [`HttpRequest::to_json`], those that all APIs
    /// share (`model`, `system`, `user`, `messages`, `tools`, `results`), and `case`, `turn`,
    /// `status`.
    pub fn to_json(&self) -> Value {
        let mut value = self.http.to_json();
        let chat = self.chat.as_ref().map(|chat| chat.to_json());
        if let (Value::Object(value), Some(Value::Object(chat))) = (&mut value, chat) {
            value.extend(chat);
        }
        value["status"] = self.status.into();
        if let Some(case) = &self.case {
            value["case"] = case.clone().into();
        }
        if let Some(turn) = self.turn {
            value["turn"] = turn.into();
        }
        value
    }

    fn size(&self) -> usize {
        self.http.body.len() + self.chat.as_ref().map_or(0, |chat| chat.size())
    }

    /// Returns the entry as one line of JSON, with its time and the request as received.
    pub fn to_line(&self) -> String {
        let mut line = self.http.to_json();
        if let Value::Object(line) = &mut line {
            line.remove("text");
        }
        let miss =
            self.miss.as_ref().map(|it| json!({"rule": it.rule.id(), "message": it.to_string()}));
        let own = json!({
            "at": self.at.to_string(), "case": self.case, "turn": self.turn,
            "status": self.status, "answer": self.answer().map(LlmAnswer::to_json), "miss": miss,
        });
        if let (Value::Object(line), Value::Object(own)) = (&mut line, own) {
            line.extend(own.into_iter().filter(|(_, value)| !value.is_null()));
        }
        line.to_string()
    }
}

/// Called for every recorded request.
pub(super) type Observer = Box<dyn Fn(&LlmRequest) + Send + Sync>;

/// The recorded requests.
#[derive(Default)]
pub(super) struct Journal {
    requests: VecDeque<LlmRequest>,
    bytes: usize,
    pub(super) dropped: u64,
    pub(super) observer: OnceLock<Observer>,
}

impl Journal {
    pub(super) fn push(&mut self, request: LlmRequest) {
        if let Some(observer) = self.observer.get() {
            observer(&request);
        }
        self.bytes += request.size();
        self.requests.push_back(request);
        // The latest request is always kept, even if it is too large.
        while self.requests.len() > MAX_REQUESTS
            || self.bytes > MAX_BYTES && self.requests.len() > 1
        {
            let oldest = self.requests.pop_front();
            self.bytes -= oldest.map_or(0, |it| it.size());
            self.dropped += 1;
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &LlmRequest> {
        self.requests.iter()
    }

    /// Returns the number of requests, including dropped ones.
    pub(super) fn total(&self) -> u64 {
        self.dropped + self.requests.len() as u64
    }

    pub(super) fn clear(&mut self) {
        self.requests.clear();
        (self.bytes, self.dropped) = (0, 0);
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("total", &self.total()).finish_non_exhaustive()
    }
}

//! What was asked, kept without keys. The oldest give way.

use std::collections::VecDeque;
use std::fmt;
use std::sync::OnceLock;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Api;
use super::seen::Seen;
use crate::http_mock::HttpRequest;

/// How much is kept: requests, and the bytes of their bodies.
const MOST: usize = 10_000;
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// A request that came to an LLM endpoint, and what it got.
#[derive(Debug, Clone)]
pub struct LlmRequest {
    pub(super) at: Timestamp,
    pub(super) api: Api,
    pub(super) http: HttpRequest,
    pub(super) case: Option<String>,
    /// From 1.
    pub(super) turn: Option<usize>,
    pub(super) status: u16,
    pub(super) miss: Option<LlmMiss>,
}

/// Why a request was not answered by a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LlmMiss {
    /// `llm-turn` where the script has other turns or expects something else,
    /// `llm-request` where the API itself would not take the request.
    pub rule: &'static str,
    /// What it is.
    pub message: String,
    /// What was expected and what was found, where an expectation is not met.
    pub reasons: Vec<String>,
}

impl fmt::Display for LlmMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.reasons.is_empty() {
            f.write_str(":")?;
        }
        self.reasons.iter().try_for_each(|reason| write!(f, "\n  {reason}"))
    }
}

impl LlmRequest {
    /// The request over HTTP; keys in its headers are not kept.
    pub fn http(&self) -> &HttpRequest {
        &self.http
    }

    /// The test case that the user names.
    pub fn case(&self) -> Option<&str> {
        self.case.as_deref()
    }

    /// The turn that it got, from 1.
    pub fn turn(&self) -> Option<usize> {
        self.turn
    }

    /// The HTTP status of the answer.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Why no turn answered it.
    pub fn miss(&self) -> Option<&LlmMiss> {
        self.miss.as_ref()
    }

    /// All of it as a value: that of [`HttpRequest::to_json`], what both APIs
    /// have in common (`model`, `system`, `user`, `messages`, `tools`,
    /// `results`), and `case`, `turn`, `status`.
    pub fn to_json(&self) -> Value {
        let mut value = self.http.to_json();
        let seen = Seen::read(self.api, &value["body"]).ok().map(|seen| seen.to_json());
        if let (Value::Object(value), Some(Value::Object(seen))) = (&mut value, seen) {
            value.extend(seen);
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

    /// The same as a line of a journal: when it came, and the request as it was.
    pub fn to_line(&self) -> String {
        let mut line = self.http.to_json();
        if let Value::Object(line) = &mut line {
            line.remove("text");
        }
        let miss = self.miss.as_ref().map(|it| json!({"rule": it.rule, "message": it.to_string()}));
        let own = json!({
            "at": self.at.to_string(), "case": self.case, "turn": self.turn,
            "status": self.status, "miss": miss,
        });
        if let (Value::Object(line), Value::Object(own)) = (&mut line, own) {
            line.extend(own.into_iter().filter(|(_, value)| !value.is_null()));
        }
        line.to_string()
    }
}

/// Somebody who hears of every request.
pub(super) type Ear = Box<dyn Fn(&LlmRequest) + Send + Sync>;

/// All that came, as far as it is kept.
#[derive(Default)]
pub(super) struct Journal {
    requests: VecDeque<LlmRequest>,
    bytes: usize,
    pub(super) dropped: u64,
    pub(super) ear: OnceLock<Ear>,
}

impl Journal {
    pub(super) fn keep(&mut self, request: LlmRequest) {
        if let Some(ear) = self.ear.get() {
            ear(&request);
        }
        self.bytes += request.http.body.len();
        self.requests.push_back(request);
        // The last one is kept however large it is.
        while self.requests.len() > MOST || self.bytes > MOST_BYTES && self.requests.len() > 1 {
            let oldest = self.requests.pop_front();
            self.bytes -= oldest.map_or(0, |it| it.http.body.len());
            self.dropped += 1;
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &LlmRequest> {
        self.requests.iter()
    }

    /// How many came.
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

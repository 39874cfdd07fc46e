//! A script of an LLM endpoint, ready to be served.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sparring_script::{Matcher, Span, TemplateTree};

use super::Api;
use crate::http_mock::HttpFault;

/// The turns of an LLM endpoint, loaded by [`LlmScript::read`](super::LlmScript::read) from a
/// file or a suite.
pub struct LlmScript {
    pub(crate) api: Api,
    /// The allowed models; empty allows any.
    pub(crate) models: Vec<String>,
    /// The turns of requests that name no case with its own turns.
    pub(crate) turns: Arc<[Turn]>,
    pub(crate) cases: BTreeMap<String, Arc<[Turn]>>,
    /// The values that templates use and that were known when the script was loaded, by path.
    pub(crate) known: HashMap<String, Value>,
}

/// One answer, and its expectations of the request.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Its position in the script.
    pub(crate) span: Span,
    /// The parts of the requests that it answers outside the order, and their matchers. Empty
    /// for a turn in the order.
    pub(crate) when: Vec<(String, Matcher)>,
    /// True if the turn need not be requested.
    pub(crate) optional: bool,
    /// The part of the request, and its matcher.
    pub(crate) expect: Vec<(String, Matcher)>,
    pub(crate) text: Option<TemplateTree>,
    pub(crate) refusal: Option<TemplateTree>,
    pub(crate) calls: Vec<Call>,
    pub(crate) stop: Option<String>,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
    pub(crate) delay: Duration,
    pub(crate) pace: Duration,
    pub(crate) error: Option<ApiError>,
    pub(crate) fault: Option<Fault>,
    pub(crate) content_type: Option<String>,
    pub(crate) repeat: Repeat,
}

/// A tool call of the model.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) tool: ToolName,
    pub(crate) with: Arguments,
    pub(crate) id: Option<TemplateTree>,
    pub(crate) undeclared: bool,
}

/// The tool of a call.
#[derive(Debug)]
pub(crate) enum ToolName {
    Name(TemplateTree),
    /// Matches exactly one of the declared tools.
    Matcher(Matcher),
}

/// The arguments of a call.
#[derive(Debug)]
pub(crate) enum Arguments {
    Value(TemplateTree),
    /// A text that replaces the arguments.
    Text(TemplateTree),
}

/// An error of the API.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    pub(crate) status: u16,
    pub(crate) kind: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
}

/// A scripted fault of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// A fault of the connection.
    Connection(HttpFault),
    /// Sends only the first half.
    Truncate,
    /// Sends this text instead, or in the middle of a stream.
    Garbage(String),
}

/// The number of times that a turn is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    Times(u64),
    Always,
}

impl Default for Repeat {
    fn default() -> Self {
        Repeat::Times(1)
    }
}

impl Turn {
    /// Returns true if the turn has an answer, besides errors and faults.
    pub(crate) fn has_answer(&self) -> bool {
        self.text.is_some() || self.refusal.is_some() || !self.calls.is_empty()
    }
}

impl Repeat {
    /// Returns true if a turn that was taken this often can be taken again.
    pub(crate) fn allows(self, taken: u64) -> bool {
        match self {
            Repeat::Times(times) => taken < times,
            Repeat::Always => true,
        }
    }

    /// Returns true if a turn that was taken this often was taken often enough.
    pub(crate) fn is_complete(self, taken: u64) -> bool {
        match self {
            Repeat::Times(times) => taken >= times,
            Repeat::Always => taken > 0,
        }
    }
}

impl LlmScript {
    /// Returns the turns of a case: its own, or else those for all.
    pub(crate) fn turns_of(&self, case: &str) -> &[Turn] {
        self.cases.get(case).unwrap_or(&self.turns)
    }

    /// Summarizes the script: `openai, 2 turns, 1 case`.
    pub fn summary(&self) -> String {
        let count_of = |count: usize, what: &str| {
            format!("{count} {what}{}", if count == 1 { "" } else { "s" })
        };
        let (turns, cases) =
            (count_of(self.turns.len(), "turn"), count_of(self.cases.len(), "case"));
        let api = if self.api == Api::Any { "all APIs" } else { self.api.name() };
        format!("{api}, {turns}, {cases}")
    }
}

/// Shows the summary, since values may be secret.
impl fmt::Debug for LlmScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LlmScript").field(&self.summary()).finish()
    }
}

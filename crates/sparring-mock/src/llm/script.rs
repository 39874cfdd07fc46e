//! What an endpoint is told, ready to be served.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sparring_script::{Matcher, Tree};

use super::Api;
use crate::http_mock::HttpFault;

/// What an LLM endpoint answers, turn by turn. Made by
/// [`LlmScript::read`](super::LlmScript::read) out of what a file or a suite
/// says.
pub struct LlmScript {
    pub(crate) api: Api,
    /// What is asked for where anything else is refused.
    pub(crate) models: Vec<String>,
    /// The turns of whoever has none of their own.
    pub(crate) turns: Arc<[Turn]>,
    pub(crate) cases: BTreeMap<String, Arc<[Turn]>>,
    /// What templates ask for that is known before anything is asked, by the
    /// path that they ask for it by.
    pub(crate) known: HashMap<String, Value>,
}

/// One answer, and what is expected of who gets it.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Each with what it looks at.
    pub(crate) expect: Vec<(String, Matcher)>,
    pub(crate) text: Option<Tree>,
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

/// A tool that the model calls.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) tool: Tree,
    pub(crate) with: Arguments,
    pub(crate) id: Option<Tree>,
    pub(crate) undeclared: bool,
}

/// The arguments of a call.
#[derive(Debug)]
pub(crate) enum Arguments {
    Value(Tree),
    /// A text that stands for them as it is.
    Text(Tree),
}

/// An error as the API has it.
#[derive(Debug, Clone)]
pub(crate) struct ApiError {
    pub(crate) status: u16,
    pub(crate) kind: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
}

/// What goes wrong with an answer.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// With the connection.
    Connection(HttpFault),
    /// It ends after its first half.
    Truncate,
    /// This comes instead, or in the middle of a stream.
    Garbage(String),
}

/// How often a turn is taken.
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

impl LlmScript {
    /// What there is, in a line: `openai, 2 turns, 1 case`.
    pub fn summary(&self) -> String {
        let some = |count: usize, what: &str| {
            format!("{count} {what}{}", if count == 1 { "" } else { "s" })
        };
        let (turns, cases) = (some(self.turns.len(), "turn"), some(self.cases.len(), "case"));
        format!("{}, {turns}, {cases}", self.api.name())
    }
}

/// Says what there is; there may be secrets in it.
impl fmt::Debug for LlmScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LlmScript").field(&self.summary()).finish()
    }
}

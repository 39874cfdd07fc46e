//! Asks a person for permission to call a tool.

use std::fmt;
use std::io;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use sparring_wire::RawJson;

use super::rules::Rule;

/// A call that a person must decide about.
#[derive(Clone)]
pub struct Question {
    /// The server's name in its configuration file.
    pub server: String,
    /// The tool's name at the server.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: RawJson,
    /// The rule that requires the question; `None` if no rule matches.
    pub rule: Option<Arc<Rule>>,
}

/// A person's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Allows this call only.
    Once,
    /// Allows this tool from now on, in later runs too.
    Always,
    /// Denies this tool for the rest of this run.
    Never,
}

/// Asks a person. It gets one question at a time and is dropped at the
/// deadline.
///
/// Every function from a question to a future implements it.
pub trait Asker: Send + Sync {
    /// Asks. With `None` or an error the call is not made, and the next call is
    /// asked for again. The error is reported.
    fn ask(&self, question: Question) -> BoxFuture<'_, io::Result<Option<Answer>>>;
}

impl Answer {
    /// The stable name of the answer.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Once => "once",
            Answer::Always => "always",
            Answer::Never => "never",
        }
    }
}

/// Omits the arguments, which may be secrets.
impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("server", &self.server)
            .field("tool", &self.tool)
            .field("rule", &self.rule)
            .finish_non_exhaustive()
    }
}

impl<F, A> Asker for F
where
    F: Fn(Question) -> A + Send + Sync,
    A: Future<Output = io::Result<Option<Answer>>> + Send + 'static,
{
    fn ask(&self, question: Question) -> BoxFuture<'_, io::Result<Option<Answer>>> {
        Box::pin(self(question))
    }
}

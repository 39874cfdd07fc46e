//! Who is asked whether a tool may be called, and what they can say.

use std::fmt;
use std::io;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use sparring_wire::RawJson;

use super::rules::Rule;

/// What there is to decide.
#[derive(Clone)]
pub struct Question {
    /// The server, as it is called in its file.
    pub server: String,
    /// The tool, as its server calls it.
    pub tool: String,
    /// What it is to be called with.
    pub arguments: RawJson,
    /// The rule that wants somebody to be asked; none where no rule fits.
    pub rule: Option<Arc<Rule>>,
}

/// What somebody says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// This call, and no other.
    Once,
    /// This tool from now on, in other runs too.
    Always,
    /// Not this tool, for as long as this run lasts.
    Never,
}

/// Somebody who can be asked. One question comes at a time; it is dropped when
/// its time is over.
///
/// Every function from a question to a future is one.
pub trait Asker: Send + Sync {
    /// Asks. `None` is no answer: this call is not made, and the next one is
    /// asked for again. So it is after an error, which is told.
    fn ask(&self, question: Question) -> BoxFuture<'_, io::Result<Option<Answer>>>;
}

impl Answer {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Answer::Once => "once",
            Answer::Always => "always",
            Answer::Never => "never",
        }
    }
}

/// Arguments can be secrets, and are left out.
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

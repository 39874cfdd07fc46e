//! What happens while an agent runs, for whoever wants to know.

use std::sync::Arc;
use std::time::Duration;

use super::said::Called;
use crate::artifacts::Artifact;

/// Something that happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// The model is asked.
    Turn {
        /// Which turn it is, from 1.
        turn: u32,
        /// How many tools it is told of.
        tools: usize,
    },
    /// The endpoint is asked again for the same turn.
    Retry {
        /// What it answered.
        status: u16,
        /// After so long.
        after: Duration,
    },
    /// The model says more; together these are the text of the turn. Only where
    /// it comes in a stream.
    Delta(String),
    /// What the model said in a turn.
    Text(String),
    /// The model calls a tool.
    Call(Arc<Called>),
    /// Whether that is done.
    Permission(Permission),
    /// A piece of a result, and what became of it.
    Artifact {
        /// The call.
        call: Arc<Called>,
        /// The piece.
        artifact: Artifact,
    },
    /// What the model gets for a call.
    Result {
        /// The call.
        call: Arc<Called>,
        /// The text.
        text: String,
        /// Whether that is a failure.
        is_error: bool,
    },
}

/// What was decided about a call.
#[derive(Debug, Clone)]
pub struct Permission {
    /// The call.
    pub call: Arc<Called>,
    /// The server, as it is called in its file, where there is such a tool.
    pub server: Option<Arc<str>>,
    /// Why it is not made; nothing where it is.
    pub refused: Option<String>,
}

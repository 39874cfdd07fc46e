//! Events of an agent.

use std::sync::Arc;
use std::time::Duration;

use super::model_turn::ToolCall;
use crate::artifacts::Artifact;

/// An event of an agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// The model is asked.
    Turn {
        /// The number of the turn, from 1.
        turn: u32,
        /// The number of tools that the model gets.
        tools: usize,
    },
    /// The request of a turn is retried.
    Retry {
        /// The HTTP status of the endpoint's response.
        status: u16,
        /// The delay before the retry.
        after: Duration,
    },
    /// More text of a streamed turn.
    Delta(String),
    /// The whole text of a turn.
    Text(String),
    /// The model calls a tool.
    Call(Arc<ToolCall>),
    /// The permission check of a call.
    Permission(Permission),
    /// An artifact of a call's result.
    Artifact {
        /// The call.
        call: Arc<ToolCall>,
        /// The artifact.
        artifact: Artifact,
    },
    /// The result that the model gets for a call.
    Result {
        /// The call.
        call: Arc<ToolCall>,
        /// The text.
        text: String,
        /// True if the call failed.
        is_error: bool,
    },
}

/// The outcome of a permission check.
#[derive(Debug, Clone)]
pub struct Permission {
    /// The call.
    pub call: Arc<ToolCall>,
    /// The server's name in its configuration file, if the tool exists.
    pub server: Option<Arc<str>>,
    /// Why the call is refused; `None` if it is permitted.
    pub refused: Option<String>,
}

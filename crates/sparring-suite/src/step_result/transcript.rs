//! The transcript of an agent: its exchanges with the model and the MCP servers.

use crate::event::TranscriptEntry;

/// One exchange of an agent with a mock.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    /// The exchange in words, for reports.
    pub(crate) entry: TranscriptEntry,
    /// The parts of a request for an answer of the model.
    pub(crate) model: Option<ModelTurn>,
}

/// A request for an answer of the model.
#[derive(Debug, Clone)]
pub(crate) struct ModelTurn {
    /// The turn, from 1; `None` if no turn fits.
    pub(crate) turn: Option<usize>,
    /// The results of tool calls that the agent reports, in words.
    pub(crate) results: Option<String>,
    /// The names of the tools that the answer calls.
    pub(crate) calls: Vec<String>,
    /// The reason why no turn answers the request.
    pub(crate) misfit: Option<String>,
}

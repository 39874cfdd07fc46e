//! The result of a step that ran an agent.

use serde_json::Value;
use sparring_transport::JobEnd;

/// The exit status, the output and the files of an agent.
#[derive(Debug)]
pub(crate) struct AgentResult {
    pub(crate) ended: JobEnd,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The files that match each file expectation, in the order of the expectations.
    pub(crate) files: Vec<FileMatches>,
}

impl AgentResult {
    /// The exit status, or the name of the signal that ended the agent.
    pub(crate) fn exit(&self) -> Value {
        let JobEnd { status, signal, .. } = &self.ended;
        status.map(Value::from).or(signal.as_deref().map(Value::from)).unwrap_or_default()
    }
}

/// The files of a test's folder that match one expectation.
#[derive(Debug, Default)]
pub(crate) struct FileMatches {
    pub(crate) found: Vec<FoundFile>,
    /// Files that do not match.
    pub(crate) others: Vec<String>,
    /// The reason why the folder could not be searched completely.
    pub(crate) error: Option<String>,
}

/// One matching file.
#[derive(Debug)]
pub(crate) struct FoundFile {
    pub(crate) path: String,
    pub(crate) size: u64,
    /// The contents in each form that the expectation asks for, or the error of reading
    /// them.
    pub(crate) contents: Vec<Result<Value, String>>,
}

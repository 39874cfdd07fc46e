//! An instruction as tools return it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::knowledge::Instruction;
use crate::phrase::truncate;

/// Maximum bytes of an instruction's text in a result; the resource has the full text.
pub(super) const MAX_CONTENT_BYTES: usize = 16 * 1024;

/// The description of an instruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct InstructionSummary {
    /// Its path in the folder, without `.md`.
    pub(super) id: String,
    /// The resource with the full text.
    pub(super) uri: String,
    /// The title.
    pub(super) title: String,
    /// The topic.
    pub(super) topic: String,
    /// The category.
    pub(super) category: String,
    /// Words that find the instruction.
    pub(super) tags: Vec<String>,
}

impl InstructionSummary {
    pub(super) fn new(instruction: &Instruction) -> InstructionSummary {
        let Instruction { id, uri, title, topic, category, tags, .. } = instruction.clone();
        InstructionSummary { id, uri, title, topic, category, tags }
    }

    /// The first lines of its text form.
    pub(super) fn heading(&self) -> String {
        format!("## {}\n\n{} · topic {} · {}\n", self.title, self.category, self.topic, self.uri)
    }
}

/// The text of an instruction, truncated to [`MAX_CONTENT_BYTES`].
pub(super) fn content(instruction: &Instruction) -> String {
    let body = &instruction.body;
    let truncated = truncate(body, MAX_CONTENT_BYTES);
    match body.len() - truncated.len() {
        0 => truncated.to_owned(),
        left => format!("{truncated}\n\n[{left} more bytes are in {}]", instruction.uri),
    }
}

/// Rounds a score for display.
pub(super) fn rounded(score: f64) -> f64 {
    (score * 1_000.0).round() / 1_000.0
}

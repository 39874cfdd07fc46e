//! An instruction as tools give it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::knowledge::Instruction;
use crate::phrase::beginning;

/// How many bytes of an instruction's text a tool gives; all of it is in the
/// resource.
pub(super) const LONGEST: usize = 16 * 1024;

/// What an instruction is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct About {
    /// Its path in the folder, without `.md`.
    pub(super) id: String,
    /// The resource that has all of it.
    pub(super) uri: String,
    /// What it is called.
    pub(super) title: String,
    /// What it is about.
    pub(super) topic: String,
    /// What kind of instruction it is.
    pub(super) category: String,
    /// Words to find it by.
    pub(super) tags: Vec<String>,
}

impl About {
    pub(super) fn of(instruction: &Instruction) -> About {
        let Instruction { id, uri, title, topic, category, tags, .. } = instruction.clone();
        About { id, uri, title, topic, category, tags }
    }

    /// Its first lines in a text.
    pub(super) fn heading(&self) -> String {
        format!("## {}\n\n{} · topic {} · {}\n", self.title, self.category, self.topic, self.uri)
    }
}

/// The text of an instruction, cut where it is long.
pub(super) fn content(instruction: &Instruction) -> String {
    let body = &instruction.body;
    let shown = beginning(body, LONGEST);
    match body.len() - shown.len() {
        0 => shown.to_owned(),
        left => format!("{shown}\n\n[{left} more bytes are in {}]", instruction.uri),
    }
}

/// A score as it is shown.
pub(super) fn rounded(score: f64) -> f64 {
    (score * 1_000.0).round() / 1_000.0
}

//! What routing is, whichever engine does it: a message comes in, and the
//! instructions that fit come out, each with what speaks for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::knowledge::Instruction;
use crate::phrase::{stands_in, words};

/// What is routed.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What somebody says.
    pub message: String,
    /// What else is known of the conversation.
    pub context: serde_json::Map<String, Value>,
}

/// An instruction that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Routed {
    /// Which of the library's.
    pub number: usize,
    /// What speaks for it; never nothing.
    pub reasons: Vec<Reason>,
}

impl Routed {
    /// How well it fits: what all reasons count together.
    pub fn score(&self) -> f64 {
        self.reasons.iter().map(|reason| reason.score).sum()
    }
}

/// Something that speaks for an instruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// What it is that fits.
    pub kind: Kind,
    /// What of the message, or of the instruction, it is.
    pub matched: String,
    /// How much it counts.
    pub score: f64,
}

/// What it is that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The message has one of the instruction's commands.
    Command,
    /// The message has one of the instruction's phrases.
    Phrase,
    /// The message has one of the instruction's tags.
    Tag,
    /// The message has the instruction's topic.
    Topic,
    /// The message has words of the instruction's text.
    Text,
    /// The context of the conversation fits.
    Context,
    /// An instruction that fits names this one as related.
    Related,
}

/// What a command counts.
pub const COMMAND: f64 = 20.0;

/// What a phrase counts, and each of its words more.
pub const PHRASE: (f64, f64) = (8.0, 1.0);

/// What the topic counts.
pub const TOPIC: f64 = 4.0;

/// What a tag counts.
pub const TAG: f64 = 2.0;

/// What of an instruction's own words the message has: its commands, its phrases,
/// its topic and its tags.
pub fn triggered(instruction: &Instruction, message: &[String]) -> Vec<Reason> {
    let fits = |text: &str| {
        let phrase = words(text);
        stands_in(&phrase, message).then_some(phrase.len())
    };
    let flat = |kind, score| {
        move |text: &String| fits(text).map(|_| Reason { kind, matched: text.clone(), score })
    };
    let phrase = |text: &String| {
        let score = PHRASE.0 + PHRASE.1 * f64::from(u32::try_from(fits(text)?).unwrap_or(u32::MAX));
        Some(Reason { kind: Kind::Phrase, matched: text.clone(), score })
    };
    let triggers = &instruction.triggers;
    let mut reasons = Vec::new();
    reasons.extend(triggers.commands.iter().filter_map(flat(Kind::Command, COMMAND)));
    reasons.extend(triggers.phrases.iter().filter_map(phrase));
    reasons.extend([&instruction.topic].into_iter().filter_map(flat(Kind::Topic, TOPIC)));
    reasons.extend(instruction.tags.iter().filter_map(flat(Kind::Tag, TAG)));
    reasons
}

/// Puts the best first; of two that fit equally well the one with the higher
/// priority, and then the one whose id comes first.
pub fn rank(routed: &mut [Routed], instructions: &[Instruction]) {
    let priority = |routed: &Routed| instructions[routed.number].priority;
    routed.sort_by(|one, other| {
        (other.score().total_cmp(&one.score()))
            .then(priority(other).cmp(&priority(one)))
            .then(one.number.cmp(&other.number))
    });
}

//! The types and the scores that all routing engines share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::knowledge::Instruction;
use crate::phrase::{occurs_in, words};

/// A message to route.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The user's message.
    pub message: String,
    /// More about the conversation.
    pub context: serde_json::Map<String, Value>,
}

/// An instruction that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Routed {
    /// The index of the instruction in the library.
    pub number: usize,
    /// The reasons for the instruction; never empty.
    pub reasons: Vec<Reason>,
}

impl Routed {
    /// The sum of the scores of all reasons.
    pub fn score(&self) -> f64 {
        self.reasons.iter().map(|reason| reason.score).sum()
    }
}

/// A reason for an instruction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// The kind of the reason.
    pub kind: Kind,
    /// The matching part of the message or of the instruction.
    pub matched: String,
    /// The score of the reason.
    pub score: f64,
}

/// The kind of the reason.
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

/// The score of a command.
pub const COMMAND_SCORE: f64 = 20.0;

/// The score of a phrase, and the additional score of each of its words.
pub const PHRASE_SCORES: (f64, f64) = (8.0, 1.0);

/// The score of the topic.
pub const TOPIC_SCORE: f64 = 4.0;

/// The score of a tag.
pub const TAG_SCORE: f64 = 2.0;

/// The instruction's commands, phrases, topic and tags that occur in the message, as reasons.
pub fn triggered(instruction: &Instruction, message: &[String]) -> Vec<Reason> {
    let fits = |text: &str| {
        let phrase = words(text);
        occurs_in(&phrase, message).then_some(phrase.len())
    };
    let flat = |kind, score| {
        move |text: &String| fits(text).map(|_| Reason { kind, matched: text.clone(), score })
    };
    let phrase = |text: &String| {
        let score = PHRASE_SCORES.0
            + PHRASE_SCORES.1 * f64::from(u32::try_from(fits(text)?).unwrap_or(u32::MAX));
        Some(Reason { kind: Kind::Phrase, matched: text.clone(), score })
    };
    let triggers = &instruction.triggers;
    let mut reasons = Vec::new();
    reasons.extend(triggers.commands.iter().filter_map(flat(Kind::Command, COMMAND_SCORE)));
    reasons.extend(triggers.phrases.iter().filter_map(phrase));
    reasons.extend([&instruction.topic].into_iter().filter_map(flat(Kind::Topic, TOPIC_SCORE)));
    reasons.extend(instruction.tags.iter().filter_map(flat(Kind::Tag, TAG_SCORE)));
    reasons
}

/// Sorts by score, best first, then by priority, then by id.
pub fn rank(routed: &mut [Routed], instructions: &[Instruction]) {
    let priority = |routed: &Routed| instructions[routed.number].priority;
    routed.sort_by(|one, other| {
        (other.score().total_cmp(&one.score()))
            .then(priority(other).cmp(&priority(one)))
            .then(one.number.cmp(&other.number))
    });
}

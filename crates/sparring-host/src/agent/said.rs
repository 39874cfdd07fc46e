//! What a model said in a turn, as both APIs have it in common.

use serde_json::Value;

/// What a model said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) calls: Vec<Called>,
    pub(super) stop: Stop,
}

/// A tool that a model calls.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Called {
    /// What the result is known by.
    pub id: String,
    /// The tool, by its name in the registry if there is one of that name.
    pub tool: String,
    /// What it is called with: the text of an object, if the model is right.
    pub arguments: String,
}

/// What came of a call, for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// Why a model says no more.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Stop {
    /// It has said all, or waits for results.
    #[default]
    Done,
    /// It had no room for more.
    Cut,
    /// It does not want to answer, in these words if it has any.
    Refused(String),
    /// It wants to go on in another turn.
    Paused,
}

/// Puts together what comes piece by piece.
pub(super) trait Listening: Default + Send {
    /// Takes an event, and gives the text that it adds.
    fn take(&mut self, event: &Value) -> Result<String, String>;

    /// Whether it has all.
    fn is_whole(&self) -> bool;

    /// What was said.
    fn said(self) -> Said;
}

impl Called {
    /// What it is called with, as a value; an empty text is no arguments.
    pub(super) fn value(&self) -> Result<Value, String> {
        if self.arguments.trim().is_empty() {
            return Ok(Value::Object(serde_json::Map::new()));
        }
        match serde_json::from_str(&self.arguments) {
            Ok(value @ Value::Object(_)) => Ok(value),
            Ok(_) => Err("the arguments are not a JSON object".to_owned()),
            Err(error) => Err(format!("the arguments are not JSON: {error}")),
        }
    }
}

/// A text in a value; empty where there is none.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

//! A turn of a model, in a form that both APIs share.

use serde_json::Value;

/// A turn of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ModelTurn {
    pub(super) text: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) stop: StopReason,
}

/// A tool call of a model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolCall {
    /// The id that the result refers to.
    pub id: String,
    /// The tool's registered name.
    pub tool: String,
    /// The arguments: the text of a JSON object, unless the model made a
    /// mistake.
    pub arguments: String,
}

/// The result of a call, for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolResult {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) is_error: bool,
}

/// Why a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum StopReason {
    /// The turn is complete, or waits for results.
    #[default]
    Finished,
    /// The turn was truncated.
    Truncated,
    /// The model refused to answer, with its explanation if it gave one.
    Refused(String),
    /// The model wants to continue in another turn.
    Paused,
}

impl ToolCall {
    /// The arguments as a value; an empty text stands for no arguments.
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

/// The text of a value; empty if it is not a string.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

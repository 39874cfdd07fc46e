//! Prompts, their messages, and the completion of arguments.

use serde::{Deserialize, Serialize};

use super::object::object_only;
use super::{Content, Rest};

/// A prompt as a server lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    /// The name it is got by.
    pub name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
    /// Title, icons and whatever else stood there.
    #[serde(flatten)]
    pub rest: Rest,
}

impl Prompt {
    /// A prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Prompt { name: name.into(), description: None, arguments: Vec::new(), rest: Rest::new() }
    }
}

/// One argument of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromptArgument {
    /// Its name.
    pub name: String,
    /// Whether it must be given.
    #[serde(default)]
    pub required: bool,
    /// Description and whatever else stood there.
    #[serde(flatten)]
    pub rest: Rest,
}

/// What getting a prompt gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GetPromptResult {
    /// The messages, in order.
    pub messages: Vec<PromptMessage>,
    /// Description, `_meta` and whatever else stood there.
    #[serde(flatten)]
    pub rest: Rest,
}

impl GetPromptResult {
    /// A result of these messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        GetPromptResult { messages, rest: Rest::new() }
    }
}

/// What completing an argument gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct Completion {
    /// The values, the best first.
    pub values: Vec<String>,
    /// How many there are, these included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether there are more than these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct PromptMessage {
    /// `user` or `assistant`.
    pub role: String,
    /// What it says.
    pub content: Content,
}

object_only!(Completion, PromptMessage);

impl PromptMessage {
    /// A message of the user's.
    pub fn user(content: impl Into<Content>) -> Self {
        PromptMessage { role: "user".to_owned(), content: content.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_message_does_not_know_is_not_looked_at() {
        let text = r#"{"role":"user","x":1e999,"content":{"type":"text","text":"a"},"y":"\ud800"}"#;
        let message: PromptMessage = serde_json::from_str(text).unwrap();
        assert_eq!(message.role, "user");
    }
}

//! Prompts, their messages, and the completion of arguments.

use serde::{Deserialize, Serialize};

use super::object_only::object_only;
use super::{Content, Rest};

/// A prompt in the result of `prompts/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    /// The name.
    pub name: String,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
    /// Title, icons and all other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

impl Prompt {
    /// Creates a prompt without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Prompt { name: name.into(), description: None, arguments: Vec::new(), rest: Rest::new() }
    }
}

/// One argument of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromptArgument {
    /// The name.
    pub name: String,
    /// True if the argument is required.
    #[serde(default)]
    pub required: bool,
    /// Description and all other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The result of `prompts/get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GetPromptResult {
    /// The messages, in order.
    pub messages: Vec<PromptMessage>,
    /// Description, `_meta` and all other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

impl GetPromptResult {
    /// Creates a result with these messages.
    pub fn new(messages: Vec<PromptMessage>) -> Self {
        GetPromptResult { messages, rest: Rest::new() }
    }
}

/// The completions in the result of `completion/complete`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase")]
pub struct Completion {
    /// The values, best first.
    pub values: Vec<String>,
    /// The total number of values, these included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// True if there are more values than these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct PromptMessage {
    /// `user` or `assistant`.
    pub role: String,
    /// The content.
    pub content: Content,
}

object_only!(Completion, PromptMessage);

impl PromptMessage {
    /// Creates a message with the role `user`.
    pub fn user(content: impl Into<Content>) -> Self {
        PromptMessage { role: "user".to_owned(), content: content.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_of_a_message_are_not_parsed() {
        let text = r#"{"role":"user","x":1e999,"content":{"type":"text","text":"a"},"y":"\ud800"}"#;
        let message: PromptMessage = serde_json::from_str(text).unwrap();
        assert_eq!(message.role, "user");
    }
}

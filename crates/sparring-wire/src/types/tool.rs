//! Tools and the results of tool calls.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Content, Rest};

/// A tool in the result of `tools/list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// The name.
    pub name: String,
    /// The description for a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input_schema: Value,
    /// The JSON Schema of its structured content; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Title, annotations, icons and all other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

impl Tool {
    /// Creates a tool that accepts any object.
    pub fn new(name: impl Into<String>) -> Self {
        Tool {
            name: name.into(),
            description: None,
            input_schema: json!({"type": "object"}),
            output_schema: None,
            rest: Rest::new(),
        }
    }

    /// Returns the tool with a description.
    #[must_use]
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Returns the tool with a schema for its arguments.
    #[must_use]
    pub fn taking(mut self, input_schema: Value) -> Self {
        self.input_schema = input_schema;
        self
    }
}

/// The result of `tools/call`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallToolResult {
    /// The content blocks.
    #[serde(default)]
    pub content: Vec<Content>,
    /// The structured content; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// True if the tool failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// `_meta` and all other fields.
    #[serde(flatten)]
    pub rest: Rest,
}

impl CallToolResult {
    /// Creates a result with one text block.
    pub fn text(text: impl Into<String>) -> Self {
        CallToolResult { content: vec![Content::text(text)], ..Self::default() }
    }

    /// Creates a result with `isError` and one text block.
    pub fn failure(text: impl Into<String>) -> Self {
        CallToolResult { is_error: true, ..Self::text(text) }
    }
}

//! Declares tools in the formats of model APIs.
//!
//! A model calls a tool by its registered name, which the registry resolves.

mod schema;

use serde_json::{Value, json};

use crate::registry::RegisteredTool;
use crate::text::truncate;

/// The maximum number of characters of a description in OpenAI's API.
const MAX_OPENAI_DESCRIPTION_CHARS: usize = 1_024;

/// Declares tools for OpenAI's chat completions.
pub fn openai_tools(tools: &[RegisteredTool]) -> Vec<Value> {
    let each = tools.iter().map(|tool| {
        let description = tool.tool.description.as_deref().unwrap_or_default();
        let function = json!({
            "name": &*tool.name,
            "description": truncate(description, MAX_OPENAI_DESCRIPTION_CHARS),
            "parameters": schema::normalize(&tool.tool.input_schema),
        });
        json!({"type": "function", "function": function})
    });
    each.collect()
}

/// Declares tools for Anthropic's messages. Descriptions have only the
/// registry's limit.
pub fn anthropic_tools(tools: &[RegisteredTool]) -> Vec<Value> {
    let each = tools.iter().map(|tool| {
        json!({
            "name": &*tool.name,
            "description": tool.tool.description.as_deref().unwrap_or_default(),
            "input_schema": schema::normalize(&tool.tool.input_schema),
        })
    });
    each.collect()
}

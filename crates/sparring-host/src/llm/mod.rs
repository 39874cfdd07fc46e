//! Tools as the APIs of models want them declared.
//!
//! A model calls them by the names that they have here, which the registry
//! finds again.

mod schema;

use serde_json::{Value, json};

use crate::registry::Registered;
use crate::text::cut;

/// The most characters of a description that OpenAI's API takes.
const OPENAI_DESCRIPTION: usize = 1_024;

/// As OpenAI's chat completions take them.
pub fn openai(tools: &[Registered]) -> Vec<Value> {
    let each = tools.iter().map(|tool| {
        let description = tool.tool.description.as_deref().unwrap_or_default();
        let function = json!({
            "name": &*tool.name,
            "description": cut(description, OPENAI_DESCRIPTION),
            "parameters": schema::of(&tool.tool.input_schema),
        });
        json!({"type": "function", "function": function})
    });
    each.collect()
}

/// As Anthropic's messages take them. For descriptions there is no bound but
/// the registry's.
pub fn anthropic(tools: &[Registered]) -> Vec<Value> {
    let each = tools.iter().map(|tool| {
        json!({
            "name": &*tool.name,
            "description": tool.tool.description.as_deref().unwrap_or_default(),
            "input_schema": schema::of(&tool.tool.input_schema),
        })
    });
    each.collect()
}

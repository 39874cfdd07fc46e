//! Estimates the tokens of definitions: what a model reads of a tool before it calls it.
//!
//! The tokenizer is `o200k_base` of OpenAI. Other models count differently, but the order of
//! the tools is the same.

use serde_json::{Map, Value};

use crate::facts::Facts;
use crate::outcomes::beginning;

/// The name of the tokenizer.
pub const TOKENIZER: &str = "o200k_base";

/// The bytes of a definition that are counted exactly. The rest is estimated.
const MAX_COUNTED_BYTES: usize = 1024 * 1024;

/// The members of a definition that hosts give to models.
const SHOWN: [&str; 3] = ["name", "description", "inputSchema"];

/// A tool with the estimated tokens of its definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolTokens {
    /// The name of the tool.
    pub tool: String,
    /// The number of tokens.
    pub tokens: usize,
}

impl Facts {
    /// Returns the tools with the estimated tokens of their definitions, largest first.
    pub fn tool_tokens(&self) -> Vec<ToolTokens> {
        let count = |tool: &Value| ToolTokens {
            tool: tool["name"].as_str().unwrap_or_default().to_owned(),
            tokens: definition_tokens(tool),
        };
        let mut all: Vec<ToolTokens> = self.tools.iter().map(count).collect();
        all.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.tool.cmp(&b.tool)));
        all
    }
}

/// Estimates the tokens of a tool's definition.
pub(crate) fn definition_tokens(tool: &Value) -> usize {
    let members = SHOWN.iter().filter_map(|name| Some((*name, tool.get(name)?)));
    let shown: Map<String, Value> =
        members.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    count_tokens(&Value::Object(shown).to_string())
}

/// Counts the tokens of a text.
fn count_tokens(text: &str) -> usize {
    let counted = beginning(text, MAX_COUNTED_BYTES);
    let tokens = match tiktoken::get_encoding(TOKENIZER) {
        Some(encoding) => encoding.count(counted),
        // Four bytes are about one token.
        None => counted.len() / 4,
    };
    tokens + (text.len() - counted.len()) / 4
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_largest_definition_is_first() {
        let tool =
            |name: &str, description: &str| json!({"name": name, "description": description});
        let tools = vec![tool("a", "Adds."), tool("b", "Adds two numbers, and returns the sum.")];
        let all = Facts { tools, ..Facts::default() }.tool_tokens();
        assert_eq!(all.iter().map(|it| it.tool.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        assert!(all[1].tokens > 5 && all[0].tokens < 40, "{all:?}");
    }
}

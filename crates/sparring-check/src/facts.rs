//! What the server says about itself in one revision: capabilities and lists.

use serde_json::Value;
use sparring_peer::client::{Error, ListKind};
use sparring_wire::json::parse_value;
use sparring_wire::types::{Implementation, ServerCapabilities};

use crate::connection::Connection;

/// The tokenizer that estimates the size of definitions.
pub const TOKENIZER: &str = "o200k_base";

/// The bytes of a definition that are counted exactly. The rest is estimated.
const MAX_COUNTED_BYTES: usize = 1024 * 1024;

/// The facts about a server in one revision.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The name and version of the server.
    pub server_info: Option<Implementation>,
    /// The capabilities that the server declares.
    pub capabilities: ServerCapabilities,
    /// The instructions of the server.
    pub instructions: Option<String>,
    /// The tools, as the server wrote them.
    pub tools: Vec<Value>,
    /// The resources, as the server wrote them.
    pub resources: Vec<Value>,
    /// The templates of resources, as the server wrote them.
    pub templates: Vec<Value>,
    /// The prompts, as the server wrote them.
    pub prompts: Vec<Value>,
}

impl Facts {
    /// Asks the server for everything that its capabilities allow.
    pub(crate) async fn gather(connection: &Connection) -> Facts {
        let client = connection.client();
        let session = client.session();
        let mut facts = Facts {
            server_info: session.and_then(|it| it.server_info.clone()),
            capabilities: connection.capabilities(),
            instructions: session.and_then(|it| it.instructions.clone()),
            ..Facts::default()
        };
        let client = client.with_timeout(connection.request_timeout());
        for kind in
            [ListKind::Tools, ListKind::Resources, ListKind::ResourceTemplates, ListKind::Prompts]
        {
            if !facts.declares(kind.capability()) {
                continue;
            }
            // A list that fails breaks a rule of its own; the probe of lists finds it.
            let items: Result<_, Error> = client.list(kind).await;
            let items = items.unwrap_or_default();
            let items = items.iter().filter_map(|item| parse_value(item.text().as_bytes()).ok());
            let items: Vec<Value> = items.collect();
            match kind {
                ListKind::Tools => facts.tools = items,
                ListKind::Resources => facts.resources = items,
                ListKind::ResourceTemplates => facts.templates = items,
                ListKind::Prompts => facts.prompts = items,
            }
        }
        facts
    }

    /// Returns true if the server declares this capability.
    pub fn declares(&self, capability: &str) -> bool {
        self.capability(capability).is_some()
    }

    /// Returns the value of a capability that the server declares.
    pub fn capability(&self, name: &str) -> Option<Value> {
        let all = serde_json::to_value(&self.capabilities).ok()?;
        all.get(name).filter(|value| !value.is_null()).cloned()
    }

    /// Returns true if a member of a capability, such as `listChanged`, is true.
    pub fn declares_member(&self, capability: &str, member: &str) -> bool {
        self.capability(capability).is_some_and(|value| value[member] == Value::Bool(true))
    }

    /// Returns the tool with this name.
    pub fn tool(&self, name: &str) -> Option<&Value> {
        self.tools.iter().find(|tool| tool["name"] == name)
    }

    /// Returns an estimate of the tokens that the definition of each tool takes in the context
    /// of a model: its name, its description and its input schema, as compact JSON. The largest
    /// definition is first.
    pub fn definition_tokens(&self) -> Vec<(String, usize)> {
        let count = |tool: &Value| {
            let seen = ["name", "description", "inputSchema"];
            let seen =
                seen.iter().filter_map(|key| Some(((*key).to_owned(), tool.get(key)?.clone())));
            count_tokens(&Value::Object(seen.collect()).to_string())
        };
        let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
        let mut all: Vec<_> = self.tools.iter().map(|tool| (name(tool), count(tool))).collect();
        all.sort_by(|(a, tokens_a), (b, tokens_b)| tokens_b.cmp(tokens_a).then(a.cmp(b)));
        all
    }
}

fn count_tokens(text: &str) -> usize {
    let end = (0..=MAX_COUNTED_BYTES.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let counted = &text[..end.unwrap_or_default()];
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
    fn counts_the_tokens_of_each_definition_with_the_largest_first() {
        let tools = vec![
            json!({"name": "a", "inputSchema": {"type": "object"}}),
            json!({"name": "b", "description": "word ".repeat(100), "inputSchema": {}}),
        ];
        let facts = Facts { tools, ..Facts::default() };
        let tokens = facts.definition_tokens();
        assert_eq!(tokens[0].0, "b");
        assert!((100..130).contains(&tokens[0].1), "{tokens:?}");
        assert!((8..20).contains(&tokens[1].1), "{tokens:?}");
    }
}

//! What the server says about itself in one revision: capabilities and lists.

use serde_json::Value;
use sparring_peer::client::{Error, ListKind};
use sparring_wire::json::parse_value;
use sparring_wire::types::{Implementation, ServerCapabilities};

use crate::connection::Connection;

/// The size of one list, in bytes. Later items are left out.
const MAX_LIST_BYTES: usize = 16 * 1024 * 1024;

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
            let items = parsed(items.iter().map(|item| item.text()));
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
}

/// Parses the items of a list, up to a limit.
pub(crate) fn parsed<'a>(items: impl Iterator<Item = &'a str>) -> Vec<Value> {
    let mut bytes = 0;
    let items = items.take_while(|item| {
        bytes += item.len();
        bytes <= MAX_LIST_BYTES
    });
    items.filter_map(|item| parse_value(item.as_bytes()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_a_limited_size() {
        let item = format!("\"{}\"", "x".repeat(1024 * 1024));
        assert_eq!(parsed(std::iter::repeat_n(&*item, 100)).len(), 15);
    }
}

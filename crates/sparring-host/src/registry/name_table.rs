//! Maps registered names to tools.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::{Map, Value};
use sparring_wire::types::Tool;

use crate::names::{NameLimit, assign_names};

/// A tool with its registered name. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct RegisteredTool {
    /// The registered name.
    pub name: Arc<str>,
    /// The server's name in its configuration file.
    pub server: Arc<str>,
    /// The tool as its server lists it, with truncated texts.
    pub tool: Arc<Tool>,
}

/// All tools by their registered names.
#[derive(Debug)]
pub(super) struct NameTable {
    tools: Vec<RegisteredTool>,
    by_name: HashMap<Arc<str>, usize, foldhash::fast::RandomState>,
}

impl RegisteredTool {
    /// The server's hints about the tool's behaviour, such as `readOnlyHint`.
    /// They are not verified.
    pub fn annotations(&self) -> Option<&Map<String, Value>> {
        self.tool.rest.get("annotations")?.as_object()
    }
}

impl NameTable {
    pub(super) fn new(limit: NameLimit, servers: &BTreeMap<Arc<str>, Vec<Arc<Tool>>>) -> NameTable {
        let each = || {
            let with_server = |(server, tools)| std::iter::repeat(server).zip::<&Vec<_>>(tools);
            servers.iter().flat_map(with_server)
        };
        let pairs: Vec<(&str, &str)> =
            each().map(|(server, tool)| (&**server, tool.name.as_str())).collect();
        let names = assign_names(limit, &pairs);
        let tools: Vec<_> = each()
            .zip(names)
            .map(|((server, tool), name)| RegisteredTool {
                name: name.into(),
                server: Arc::clone(server),
                tool: Arc::clone(tool),
            })
            .collect();
        let named = tools.iter().enumerate().map(|(index, tool)| (Arc::clone(&tool.name), index));
        let by_name = named.collect();
        NameTable { tools, by_name }
    }

    pub(super) fn all(&self) -> &[RegisteredTool] {
        &self.tools
    }

    pub(super) fn get(&self, name: &str) -> Option<&RegisteredTool> {
        self.by_name.get(name).map(|index| &self.tools[*index])
    }
}

//! Which name is whose.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::{Map, Value};
use sparring_wire::types::Tool;

use crate::names::{Limit, assign};

/// A tool, and what it is called here. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct Registered {
    /// Its name here.
    pub name: Arc<str>,
    /// Its server, as it is called in its file.
    pub server: Arc<str>,
    /// The tool, as its server lists it; texts that are too long are cut.
    pub tool: Arc<Tool>,
}

/// All tools by their names.
#[derive(Debug)]
pub(super) struct Table {
    tools: Vec<Registered>,
    by_name: HashMap<Arc<str>, usize, foldhash::fast::RandomState>,
}

impl Registered {
    /// What the server says of how the tool behaves: `readOnlyHint` and others.
    /// Nobody has to believe it.
    pub fn annotations(&self) -> Option<&Map<String, Value>> {
        self.tool.rest.get("annotations")?.as_object()
    }
}

impl Table {
    pub(super) fn new(limit: Limit, servers: &BTreeMap<Arc<str>, Vec<Arc<Tool>>>) -> Table {
        let each = || {
            let of_one = |(server, tools)| std::iter::repeat(server).zip::<&Vec<_>>(tools);
            servers.iter().flat_map(of_one)
        };
        let pairs: Vec<(&str, &str)> =
            each().map(|(server, tool)| (&**server, tool.name.as_str())).collect();
        let names = assign(limit, &pairs);
        let tools: Vec<_> = each()
            .zip(names)
            .map(|((server, tool), name)| Registered {
                name: name.into(),
                server: Arc::clone(server),
                tool: Arc::clone(tool),
            })
            .collect();
        let named = tools.iter().enumerate().map(|(index, tool)| (Arc::clone(&tool.name), index));
        let by_name = named.collect();
        Table { tools, by_name }
    }

    pub(super) fn all(&self) -> &[Registered] {
        &self.tools
    }

    pub(super) fn get(&self, name: &str) -> Option<&Registered> {
        self.by_name.get(name).map(|index| &self.tools[*index])
    }
}

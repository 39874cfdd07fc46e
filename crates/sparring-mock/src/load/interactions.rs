//! The tool `get_data` and its queues.

use std::sync::{Arc, Mutex};

use serde_json::json;
use sparring_script::Node;

use super::Loader;
use crate::interactions::{ARGUMENT, Interactions, TOOL, wire};
use crate::model::{Body, Entry, Reply, Tool};

impl Loader<'_> {
    /// What the script has for cases that bring nothing along.
    pub(super) fn interactions(&mut self, script: &Node) -> Interactions {
        let own = script.get("mcp_interactions").map(Node::items).unwrap_or_default();
        let own = (!own.is_empty()).then(|| own.iter().map(|it| wire(it.to_json())).collect());
        Interactions::new(own)
    }

    /// The tool that gives them.
    pub(super) fn interaction_tool(&mut self, script: &Node) -> Tool {
        if self.tools.iter().any(|name| name == TOOL) {
            let span = script.get("mcp_interactions").map_or(script.span, |node| node.span);
            self.problems.add(span, format!("with interactions there is a tool `{TOOL}` already"));
        }
        let schema = json!({
            "type": "object",
            "properties": {ARGUMENT: {
                "type": "string",
                "description": "What to do, with the directives [test_case_id=…] and \
                                [mcp_responses_json=BASE64].",
            }},
            "required": [ARGUMENT],
        });
        let listed = json!({
            "name": TOOL,
            "description": "Gives the next response of a test case.",
            "inputSchema": schema,
        });
        Tool {
            came_later: false,
            entry: Entry {
                id: TOOL.to_owned(),
                listed,
                hidden: false.into(),
                hidden_at_first: false,
                queued: Mutex::default(),
                required: Vec::new(),
                replies: vec![Arc::new(Reply::of(Body::Interaction))],
                cache: None,
                calls: 0.into(),
            },
            input: sparring_script::Schema::new(&schema).ok(),
            mirrored: None,
        }
    }
}

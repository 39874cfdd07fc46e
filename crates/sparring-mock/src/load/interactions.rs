//! Loads the tool `get_data` and its responses.

use std::sync::{Arc, Mutex};

use serde_json::json;
use sparring_script::Node;

use super::Loader;
use crate::interactions::{ARGUMENT_NAME, Interactions, TOOL_NAME, to_wire_response};
use crate::model::{Body, Entry, Reply, Tool};

impl Loader<'_> {
    /// Loads the responses for cases that contain none.
    pub(super) fn load_interactions(&mut self, script: &Node) -> Interactions {
        let responses = script.get("mcp_interactions").map(Node::items).unwrap_or_default();
        let responses = (!responses.is_empty())
            .then(|| responses.iter().map(|it| to_wire_response(it.to_json())).collect());
        Interactions::new(responses)
    }

    /// Creates the tool that gives the responses.
    pub(super) fn interaction_tool(&mut self, script: &Node) -> Tool {
        if self.tools.iter().any(|name| name == TOOL_NAME) {
            let span = script.get("mcp_interactions").map_or(script.span, |node| node.span);
            self.problems
                .add(span, format!("the tool `{TOOL_NAME}` already exists: interactions add it"));
        }
        let schema = json!({
            "type": "object",
            "properties": {ARGUMENT_NAME: {
                "type": "string",
                "description": "The task, with the directives [test_case_id=…] and \
                                [mcp_responses_json=BASE64].",
            }},
            "required": [ARGUMENT_NAME],
        });
        let definition = json!({
            "name": TOOL_NAME,
            "description": "Returns the next response of a test case.",
            "inputSchema": schema,
        });
        Tool {
            registered_at_runtime: false,
            reserved: None,
            entry: Entry {
                id: TOOL_NAME.to_owned(),
                definition,
                hidden: false.into(),
                initially_hidden: false,
                queued: Mutex::default(),
                required: Vec::new(),
                replies: vec![Arc::new(Reply::from_body(Body::Interaction))],
                cache: None,
                calls: 0.into(),
            },
            input: sparring_script::Schema::new(&schema).ok(),
            mirrored_input: None,
        }
    }
}

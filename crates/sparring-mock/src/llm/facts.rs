//! What the templates of a turn can ask for.

use std::collections::HashMap;

use serde_json::{Value, json};
use sparring_script::{Path, Scope, Undefined};

/// The names of what templates can ask of a request; what else they ask for is
/// known before.
pub const OWN_ROOTS: [&str; 4] = ["last", "request", "case", "turn"];

/// One request, as the templates of its turn see it.
pub(super) struct Facts<'a> {
    /// The request in the words of both APIs.
    pub(super) request: &'a Value,
    pub(super) case: Option<&'a str>,
    /// From 1.
    pub(super) turn: usize,
    pub(super) known: &'a HashMap<String, Value>,
}

impl Facts<'_> {
    /// What was said and what came of the tools, last.
    fn last(&self) -> Value {
        let mut last = json!({"text": self.request["user"]});
        let results = self.request["results"].as_array();
        if let Some(result) = results.and_then(|all| all.last()) {
            last["tool_result"] = result["text"].clone();
        }
        last
    }
}

impl Scope for Facts<'_> {
    fn get(&self, path: &Path) -> Result<Value, Undefined> {
        let alone = |value: Value| match path.segments.len() {
            1 => Ok(value),
            _ => Err(path.lost(1, &value)),
        };
        match path.root() {
            "last" => path.find(&self.last(), 1).cloned(),
            "request" => path.find(self.request, 1).cloned(),
            "case" => alone(self.case.unwrap_or_default().into()),
            "turn" => alone(self.turn.into()),
            _ => {
                let known = self.known.get(&path.to_string()).cloned();
                known.ok_or_else(|| path.lost(0, &json!({})))
            }
        }
    }
}

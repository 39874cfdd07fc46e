//! The values that templates of a turn can use.

use std::collections::HashMap;

use serde_json::{Value, json};
use sparring_script::{Path, Scope, UndefinedPath};

/// The roots of paths that depend on the request; all others are known when the script is
/// loaded.
pub const TURN_ROOTS: [&str; 4] = ["last", "request", "case", "turn"];

/// The template scope of one request.
pub(super) struct TurnScope<'a> {
    /// The request in the form that both APIs share.
    pub(super) request: &'a Value,
    pub(super) case: Option<&'a str>,
    /// Counted from 1.
    pub(super) turn: usize,
    pub(super) known: &'a HashMap<String, Value>,
}

impl TurnScope<'_> {
    /// Returns the last user text and the last tool result.
    fn last(&self) -> Value {
        let mut last = json!({"text": self.request["user"]});
        let results = self.request["results"].as_array();
        if let Some(result) = results.and_then(|all| all.last()) {
            last["tool_result"] = result["text"].clone();
        }
        last
    }
}

impl Scope for TurnScope<'_> {
    fn get(&self, path: &Path) -> Result<Value, UndefinedPath> {
        let scalar = |value: Value| match path.segments.len() {
            1 => Ok(value),
            _ => Err(path.undefined_at(1, &value)),
        };
        match path.root() {
            "last" => path.find(&self.last(), 1).cloned(),
            "request" => path.find(self.request, 1).cloned(),
            "case" => scalar(self.case.unwrap_or_default().into()),
            "turn" => scalar(self.turn.into()),
            _ => {
                let known = self.known.get(&path.to_string()).cloned();
                known.ok_or_else(|| path.undefined_at(0, &json!({})))
            }
        }
    }
}

//! Checks the results of tools against the output schemas that the server has listed, as a
//! suite does (2025-06-18 and later, server/tools#output-schema).
//!
//! It knows the tools that the test has listed, and sends no request of its own.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use sparring_script::Schema;
use sparring_script::schema::Verdict;
use sparring_wire::json::parse_value;
use sparring_wire::{Json, Revision, Rule, Violation};

/// The maximum number of mismatches of one result that are reported.
const MAX_MISMATCHES: usize = 3;

/// The output schemas of the tools that the server has listed.
#[derive(Default)]
pub(crate) struct OutputSchemas {
    schemas: Mutex<HashMap<String, Value>>,
    /// True if the test opted out.
    is_off: bool,
}

impl OutputSchemas {
    pub(crate) fn new(is_off: bool) -> Self {
        OutputSchemas { is_off, ..OutputSchemas::default() }
    }

    /// Remembers the output schema of a listed tool.
    pub(crate) fn learn(&self, tool: &str, schema: Option<Value>) {
        let mut schemas = self.schemas();
        match schema.filter(|_| !self.is_off) {
            Some(schema) => drop(schemas.insert(tool.to_owned(), schema)),
            None => drop(schemas.remove(tool)),
        }
    }

    /// Remembers the output schemas in the result of `tools/list`.
    pub(crate) fn learn_result(&self, result: Json<'_>) {
        for tool in result.get("tools").unwrap_or(Json::EMPTY_OBJECT).items() {
            if let Some(name) = tool.get("name").and_then(Json::as_str) {
                let schema = tool.get("outputSchema").and_then(|it| parse_value(it.bytes()).ok());
                self.learn(&name, schema);
            }
        }
    }

    /// Checks the result of a tool; returns its violations.
    pub(crate) fn check(&self, revision: Revision, tool: &str, result: Json<'_>) -> Vec<Violation> {
        let Some(schema) = self.schemas().get(tool).cloned() else { return Vec::new() };
        let violation = |pointer: &str, message: String| {
            let path = format!("$.result.structuredContent{}", pointer.replace('/', "."));
            let rule = Rule::OutputSchema;
            let section = format!("{revision}/{}", rule.entry().section);
            Violation::new(rule, path, message, section)
        };
        let Some(value) = result.get("structuredContent") else {
            let missing = "the result has no structured content, which the output schema describes";
            return vec![violation("", missing.to_owned())];
        };
        let schema = match Schema::new(&schema) {
            Ok(schema) => schema,
            Err(error) if error.too_complex => return Vec::new(),
            Err(error) => {
                return vec![violation("", format!("the output schema cannot be used: {error}"))];
            }
        };
        let value = parse_value(value.bytes()).unwrap_or_default();
        match schema.check(&value, MAX_MISMATCHES) {
            Verdict::Invalid(found) => {
                found.into_iter().map(|it| violation(&it.pointer, it.message)).collect()
            }
            Verdict::Valid | Verdict::Undecided(_) => Vec::new(),
        }
    }

    fn schemas(&self) -> MutexGuard<'_, HashMap<String, Value>> {
        self.schemas.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

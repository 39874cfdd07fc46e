//! Decides which tools may be called, and with which arguments.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sparring_script::Schema;
use sparring_script::sample::{Samples, samples};

use crate::context::Context;
use crate::facts::Facts;
use crate::options::CallPolicy;
use crate::rule_names::matches_pattern;

/// The largest number of arguments that are tried for one tool.
const MAX_ARGUMENTS: usize = 8;

/// The arguments that a tool should accept, best first; never empty.
pub(crate) struct GoodArguments {
    pub(crate) values: Vec<Value>,
    /// The reason if none of the generated values conforms to the input schema.
    pub(crate) mismatch: Option<String>,
}

/// Returns the reason why a tool must not be called, or `None` if it may be called.
pub(crate) fn reason_against_call(context: &Context, tool: &Value) -> Option<String> {
    let name = tool["name"].as_str().unwrap_or_default();
    let only_reads = is_read_only(tool) || context.read_only_tools().contains(name);
    let reason = match &context.options.calls {
        CallPolicy::All => return None,
        CallPolicy::Nothing => "no tool may be called",
        CallPolicy::ReadOnly | CallPolicy::Matching(_) if only_reads => return None,
        CallPolicy::Matching(patterns) if patterns.iter().any(|it| matches_pattern(it, name)) => {
            return None;
        }
        CallPolicy::ReadOnly | CallPolicy::Matching(_) => {
            "its annotations do not say that it only reads"
        }
    };
    Some(reason.to_owned())
}

/// Returns arguments for a tool: those of the options, then the examples of its input
/// schema, then generated ones.
pub(crate) fn good_arguments(context: &Context, tool: &Value) -> GoodArguments {
    let name = tool["name"].as_str().unwrap_or_default();
    let schema = &tool["inputSchema"];
    let given = context.options.arguments.get(name).cloned().unwrap_or_default();
    let suggested = context.options.suggested_arguments.get(name).cloned().unwrap_or_default();
    let suggested = suggested.into_iter().filter(|arguments| conforms(schema, arguments));
    let examples = schema["examples"].as_array().cloned().unwrap_or_default();
    let only_reads = is_read_only(tool) || context.read_only_tools().contains(name);
    let generated = match schema.is_object() {
        true => samples(schema, only_reads),
        false => Samples { values: vec![json!({})], mismatch: None },
    };
    let mut values: Vec<Value> = Vec::new();
    for value in given.into_iter().chain(suggested).chain(examples).chain(generated.values) {
        if value.is_object() && !values.contains(&value) {
            values.push(value);
        }
    }
    if values.is_empty() {
        values.push(json!({}));
    }
    values.truncate(MAX_ARGUMENTS);
    GoodArguments { values, mismatch: generated.mismatch }
}

/// Returns true if a value conforms to a schema.
fn conforms(schema: &Value, value: &Value) -> bool {
    Schema::new(schema).is_ok_and(|schema| schema.check(value, 1).is_valid())
}

/// Returns the names of the tools whose annotations say that they only read.
pub(crate) fn read_only_tools(facts: &Facts) -> BTreeSet<String> {
    let tools = facts.tools.iter().filter(|tool| is_read_only(tool));
    tools.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

fn is_read_only(tool: &Value) -> bool {
    tool["annotations"]["readOnlyHint"] == Value::Bool(true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::conforms;

    #[test]
    fn only_arguments_that_conform_are_used() {
        let schema = json!({"type": "object", "required": ["city"]});
        assert!(conforms(&schema, &json!({"city": "Oslo"})));
        assert!(!conforms(&schema, &json!({})));
        assert!(!conforms(&json!({"type": 7}), &json!({})));
    }
}

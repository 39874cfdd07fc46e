//! Missing descriptions of tools, parameters, prompts, arguments and resources.

use serde_json::Value;
use sparring_wire::Rule;

use super::references::resolve;
use crate::probes::definition_findings::{DefinitionFindings, name_of, shown};

/// The depth to which the parts of a parameter are searched for its description.
const MAX_DEPTH: usize = 4;

/// The number of parts that are searched for it.
const MAX_STEPS: usize = 1_000;

/// Checks the descriptions of tools and of their parameters.
pub(super) fn check_tools(tools: &[Value], findings: &mut DefinitionFindings) {
    for tool in tools {
        let name = shown(name_of(tool));
        if !is_described(tool) {
            let message = missing(&format!("the tool {name:?}"), tool);
            findings.add(Rule::MissingToolDescription, name, message);
        }
        let schema = &tool["inputSchema"];
        for (parameter, definition) in schema["properties"].as_object().into_iter().flatten() {
            if !parameter_is_described(schema, definition, 0, &mut { MAX_STEPS }) {
                let parameter = shown(parameter);
                let subject = format!("the parameter {parameter:?} of the tool {name:?}");
                let message = missing(&subject, definition);
                findings.add(Rule::MissingParameterDescription, name, message);
            }
        }
    }
}

/// Checks the descriptions of prompts and of their arguments.
pub(super) fn check_prompts(prompts: &[Value], findings: &mut DefinitionFindings) {
    for prompt in prompts {
        let name = shown(name_of(prompt));
        if !is_described(prompt) {
            let message = missing(&format!("the prompt {name:?}"), prompt);
            findings.add(Rule::MissingPromptDescription, name, message);
        }
        for argument in prompt["arguments"].as_array().into_iter().flatten() {
            if !is_described(argument) {
                let argument_name = shown(name_of(argument));
                let subject = format!("the argument {argument_name:?} of the prompt {name:?}");
                let message = missing(&subject, argument);
                findings.add(Rule::MissingArgumentDescription, name, message);
            }
        }
    }
}

/// Checks the descriptions of resources or templates. A list of files has none, so a missing
/// one counts only if most items have one.
pub(super) fn check_resources(items: &[Value], key: &str, findings: &mut DefinitionFindings) {
    let described = items.iter().filter(|item| is_described(item)).count();
    let most_are_described = described * 2 > items.len();
    for item in items.iter().filter(|item| !is_described(item)) {
        if most_are_described || item["description"].is_string() {
            let uri = shown(item[key].as_str().unwrap_or_default());
            let message = missing(&format!("the resource {uri:?}"), item);
            findings.add(Rule::MissingResourceDescription, uri, message);
        }
    }
}

fn missing(subject: &str, definition: &Value) -> String {
    let found = match definition["description"].is_string() {
        true => "has an empty description",
        false => "has no description",
    };
    format!("expected a description; {subject} {found}")
}

fn is_described(definition: &Value) -> bool {
    definition["description"].as_str().is_some_and(|text| !text.trim().is_empty())
}

/// Returns true if a parameter has a description, or one of the schemas that it consists of, or if
/// that takes too many steps to find out.
fn parameter_is_described(root: &Value, schema: &Value, depth: usize, steps: &mut usize) -> bool {
    *steps = steps.saturating_sub(1);
    if *steps == 0 || is_described(schema) {
        return true;
    }
    if depth >= MAX_DEPTH {
        return false;
    }
    let next = |it: &Value| parameter_is_described(root, it, depth + 1, steps);
    let parts = ["allOf", "anyOf", "oneOf"];
    let parts = parts.iter().filter_map(|key| schema[*key].as_array()).flatten();
    let target = schema["$ref"].as_str().and_then(|reference| resolve(root, reference));
    let items = schema.get("items").filter(|it| it.is_object());
    parts.chain(target).chain(items).any(next)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_whose_parts_multiply_take_few_steps() {
        let parts = |target: &str| json!({"anyOf": vec![json!({"$ref": target}); 1_000]});
        let schema = json!({"properties": {"a": parts("#/a")},
            "a": parts("#/b"), "b": parts("#/c"), "c": parts("#/d"), "d": {}});
        let mut findings = DefinitionFindings::default();
        check_tools(&[json!({"description": "A.", "inputSchema": schema})], &mut findings);
        assert!(findings.found().is_empty());
    }

    #[test]
    fn finds_missing_descriptions_of_tools_and_parameters() {
        let tools = [json!({
            "name": "a", "description": " ",
            "inputSchema": {
                "properties": {
                    "one": {"type": "string", "description": "One."},
                    "two": {"$ref": "#/$defs/two"},
                    "three": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"description": "Three."}}]},
                    "four": {"type": "string"},
                },
                "$defs": {"two": {"description": "Two."}},
            },
        })];
        let mut findings = DefinitionFindings::default();
        check_tools(&tools, &mut findings);
        let expected = [
            "expected a description; the tool \"a\" has an empty description",
            "expected a description; the parameter \"four\" of the tool \"a\" has no description",
        ];
        assert_eq!(findings.messages(), expected);
    }

    #[test]
    fn resources_need_descriptions_only_if_most_have_one() {
        let count = |items: &[Value]| {
            let mut findings = DefinitionFindings::default();
            check_resources(items, "uri", &mut findings);
            findings.found().len()
        };
        let (with, without) = (json!({"uri": "a", "description": "A."}), json!({"uri": "b"}));
        assert_eq!(count(&[without.clone(), without.clone()]), 0);
        assert_eq!(count(&[with.clone(), with.clone(), without]), 1);
        assert_eq!(count(&[json!({"uri": "c", "description": ""})]), 1);
    }
}

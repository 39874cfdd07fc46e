//! Errors of malformed tools, with their pointer.

use serde_json::{Value, json};
use sparring_codegen::{ModuleSource, generate_module};

#[track_caller]
fn check(tools: Value, expected: &str) {
    let tools = tools.as_array().expect("a list");
    let source = ModuleSource { server: "s", version: "1", name: None, flags: "", tools };
    assert_eq!(
        generate_module(&source).expect_err("the tools are malformed").to_string(),
        expected
    );
}

#[track_caller]
fn check_input(schema: &Value, expected: &str) {
    check(json!([{"name": "t", "inputSchema": schema}]), expected);
}

#[test]
fn a_tool_must_have_a_unique_name() {
    let good = json!({"type": "object"});
    check(json!([{"inputSchema": good}]), "tool 'tools[0]': /name: the tool has no name");
    let twice = json!({"name": "a", "inputSchema": good});
    check(json!([twice, twice]), "tool 'a': listed twice");
}

#[test]
fn arguments_must_be_an_object() {
    check(json!([{"name": "t"}]), "tool 't': /inputSchema: expected a schema object, found null");
    check_input(&json!(true), "tool 't': /inputSchema: expected a schema object, found a boolean");
    let of_text = json!({"type": "string"});
    check_input(&of_text, "tool 't': /inputSchema/type: the type of arguments must be \"object\"");
}

#[test]
fn a_malformed_schema_is_reported_with_its_pointer() {
    let within = |schema: Value| json!({"type": "object", "properties": {"a/b": schema}});
    for (schema, expected) in [
        (json!({"$ref": "#/$defs/no"}), "/$ref: reference \"#/$defs/no\" does not resolve"),
        (json!({"$ref": 1}), "/$ref: expected a string, found a number"),
        (json!({"type": "any"}), "/type: \"any\" is not a JSON type"),
        (json!({"type": 3}), "/type: 3 is not a JSON type"),
        (json!("x"), ": expected a schema object or a boolean, found a string"),
        (
            json!({"type": "array", "items": {"type": "object", "properties": []}}),
            "/items/properties: expected an object, found a list",
        ),
        (json!({"type": "object", "required": {}}), "/required: expected a list, found an object"),
        (
            json!({"type": "object", "required": [1]}),
            "/required: expected a string, found a number",
        ),
    ] {
        let expected = format!("tool 't': /inputSchema/properties/a~1b{expected}");
        check_input(&within(schema), &expected);
    }
}

#[test]
fn an_error_in_an_output_schema_has_its_pointer() {
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": 1});
    let expected = "tool 't': /outputSchema: expected a schema object or a boolean, found a number";
    check(json!([tool]), expected);
}

//! Tools that no module can be made of are told with their place.

use serde_json::{Value, json};
use sparring_codegen::{Source, module};

#[track_caller]
fn check(tools: Value, expected: &str) {
    let tools = tools.as_array().expect("a list");
    let source = Source { server: "s", version: "1", name: None, flags: "", tools };
    assert_eq!(module(&source).expect_err("it cannot be made").to_string(), expected);
}

#[track_caller]
fn check_input(schema: &Value, expected: &str) {
    check(json!([{"name": "t", "inputSchema": schema}]), expected);
}

#[test]
fn a_tool_must_have_a_name_of_its_own() {
    let good = json!({"type": "object"});
    check(json!([{"inputSchema": good}]), "tool 'tools[0]': /name: it has no name");
    let twice = json!({"name": "a", "inputSchema": good});
    check(json!([twice, twice]), "tool 'a': it is listed twice");
}

#[test]
fn arguments_must_be_an_object() {
    check(json!([{"name": "t"}]), "tool 't': /inputSchema: a schema is an object, not nothing");
    check_input(&json!(true), "tool 't': /inputSchema: a schema is an object, not a boolean");
    let of_text = json!({"type": "string"});
    check_input(&of_text, "tool 't': /inputSchema/type: arguments are an object");
}

#[test]
fn what_is_wrong_in_a_schema_is_told_at_its_place() {
    let within = |schema: Value| json!({"type": "object", "properties": {"a/b": schema}});
    for (schema, expected) in [
        (json!({"$ref": "#/$defs/no"}), "/$ref: there is nothing at \"#/$defs/no\""),
        (json!({"$ref": 1}), "/$ref: a reference is a text, not a number"),
        (json!({"type": "any"}), "/type: there is no type \"any\""),
        (json!({"type": 3}), "/type: there is no type 3"),
        (json!("x"), ": a schema is an object or a boolean, not a text"),
        (
            json!({"type": "array", "items": {"type": "object", "properties": []}}),
            "/items/properties: it is a list, not an object",
        ),
        (json!({"type": "object", "required": {}}), "/required: it is an object, not a list"),
        (json!({"type": "object", "required": [1]}), "/required: a number is no name"),
    ] {
        let expected = format!("tool 't': /inputSchema/properties/a~1b{expected}");
        check_input(&within(schema), &expected);
    }
}

#[test]
fn an_output_schema_is_told_as_such() {
    let tool = json!({"name": "t", "inputSchema": {"type": "object"}, "outputSchema": 1});
    let expected = "tool 't': /outputSchema: a schema is an object or a boolean, not a number";
    check(json!([tool]), expected);
}

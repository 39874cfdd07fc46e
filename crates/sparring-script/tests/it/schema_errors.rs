//! The messages about schemas that cannot be used, with their pointer.

use serde_json::{Value, json};
use sparring_script::Schema;

#[track_caller]
fn check(schema: Value, expected: &str) {
    match Schema::new(&schema) {
        Ok(_) => panic!("{schema} is accepted as a schema"),
        Err(error) => assert_eq!(error.to_string(), expected, "{schema}"),
    }
}

#[test]
fn an_invalid_schema_is_reported_with_its_pointer() {
    check(json!(3), "3 is not of types \"boolean\", \"object\"");
    check(
        json!({"properties": {"a/b": 1}}),
        "at /properties/a~1b: 1 is not of types \"boolean\", \"object\"",
    );
    check(
        json!({"$defs": {"x": {"type": "strin"}}}),
        "at /$defs/x/type: \"strin\" is not a JSON type; known types: array, boolean, integer, \
         null, number, object, string",
    );
    check(json!({"minLength": -1}), "at /minLength: -1 is less than the minimum of 0");
    check(json!({"minimum": "1"}), "at /minimum: \"1\" is not of type \"number\"");
    check(json!({"required": "a"}), "at /required: \"a\" is not of type \"array\"");
    check(json!({"required": ["a", "a"]}), "at /required: [\"a\",\"a\"] has non-unique elements");
    check(json!({"items": [{}]}), "at /items: [{}] is not of types \"boolean\", \"object\"");
    check(
        json!({"$schema": "http://json-schema.org/draft-04/schema#", "not": true}),
        "at /not: true is not of type \"object\"",
    );
    check(
        json!({"$schema": "http://json-schema.org/draft-03/schema#"}),
        "at /$schema: \"http://json-schema.org/draft-03/schema#\" is not a known draft; \
         known drafts: 2020-12, 2019-09, draft 7, draft 6, draft 4",
    );
}

#[test]
fn an_unresolved_reference_is_reported_with_its_pointer() {
    check(
        json!({"items": {"$ref": "#/$defs/nope"}}),
        "at /items/$ref: reference \"#/$defs/nope\" does not resolve",
    );
    check(json!({"$ref": "#nope"}), "at /$ref: reference \"#nope\" does not resolve");
    check(
        json!({"$ref": "#/x/y", "x": {"y": {"type": 1}}}),
        "at /x/y/type: 1 is not of types \"string\", \"array\"",
    );
}

#[test]
fn documents_are_not_fetched() {
    for uri in ["https://example.com/a.json", "file:///etc/passwd", "other.json#/a"] {
        check(
            json!({"properties": {"x": {"$ref": uri}}}),
            &format!(
                "at /properties/x/$ref: reference \"{uri}\" is to another document, which is \
                 not fetched"
            ),
        );
    }
}

#[test]
fn a_malformed_pattern_is_reported_with_its_pointer_and_the_reason() {
    check(
        json!({"properties": {"a": {"pattern": "a("}}}),
        "at /properties/a/pattern: \"a(\" is not a regular expression: opening parenthesis \
         without closing parenthesis, at position 2",
    );
    check(
        json!({"pattern": "[z-a]"}),
        "at /pattern: \"[z-a]\" is not a regular expression: invalid character class range, the \
         start must be <= the end",
    );
    let error = Schema::new(&json!({"patternProperties": {"(": true}})).unwrap_err();
    assert_eq!(error.pointer, "/patternProperties/(");
}

#[test]
fn formats_and_contents_are_annotations_in_every_draft() {
    for draft in [
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-04/schema#",
    ] {
        let schema = Schema::new(&json!({
            "$schema": draft,
            "format": "email",
            "contentEncoding": "base64",
            "contentMediaType": "application/json",
        }));
        assert!(schema.unwrap().check(&json!("%%%"), 1).is_valid(), "{draft}");
    }
}

#[test]
fn long_values_are_truncated_in_the_message() {
    let error = Schema::new(&json!({"type": "x".repeat(100_000)})).unwrap_err();
    assert!(error.to_string().len() < 300, "{error}");
    let error = Schema::new(&json!({"$ref": format!("#/{}", "x".repeat(100_000))})).unwrap_err();
    assert!(error.to_string().len() < 300, "{error}");
}

//! The messages about schemas that cannot be used, with the place in the schema.

use serde_json::{Value, json};
use sparring_script::Schema;

#[track_caller]
fn check(schema: Value, expected: &str) {
    match Schema::new(&schema) {
        Ok(_) => panic!("{schema} is taken for a schema"),
        Err(error) => assert_eq!(error.to_string(), expected, "{schema}"),
    }
}

#[test]
fn a_value_that_is_no_schema_is_reported_with_its_place() {
    check(json!(3), "3 is not of types \"boolean\", \"object\"");
    check(
        json!({"properties": {"a/b": 1}}),
        "at /properties/a~1b: 1 is not of types \"boolean\", \"object\"",
    );
    check(
        json!({"$defs": {"x": {"type": "strin"}}}),
        "at /$defs/x/type: \"strin\" is not a JSON type",
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
         known are 2020-12, 2019-09, draft 7, draft 6 and draft 4",
    );
}

#[test]
fn a_reference_that_leads_nowhere_is_reported_with_its_place() {
    check(
        json!({"items": {"$ref": "#/$defs/nope"}}),
        "at /items/$ref: the reference \"#/$defs/nope\" leads nowhere",
    );
    check(json!({"$ref": "#nope"}), "at /$ref: the reference \"#nope\" leads nowhere");
    check(
        json!({"$ref": "#/x/y", "x": {"y": {"type": 1}}}),
        "at /x/y/type: 1 is not of types \"string\", \"array\"",
    );
}

#[test]
fn nothing_is_fetched() {
    for place in ["https://example.com/a.json", "file:///etc/passwd", "other.json#/a"] {
        check(
            json!({"properties": {"x": {"$ref": place}}}),
            &format!(
                "at /properties/x/$ref: the reference \"{place}\" is to another document, and \
                 nothing is fetched"
            ),
        );
    }
}

#[test]
fn a_bad_pattern_is_reported_with_its_place_and_the_reason() {
    check(
        json!({"properties": {"a": {"pattern": "a("}}}),
        "at /properties/a/pattern: \"a(\" is not a regular expression: Parsing error at position \
         2: Opening parenthesis without closing parenthesis",
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
fn long_values_are_cut_in_the_message() {
    let error = Schema::new(&json!({"type": "x".repeat(100_000)})).unwrap_err();
    assert!(error.to_string().len() < 300, "{error}");
    let error = Schema::new(&json!({"$ref": format!("#/{}", "x".repeat(100_000))})).unwrap_err();
    assert!(error.to_string().len() < 300, "{error}");
}

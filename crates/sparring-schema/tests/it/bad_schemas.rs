//! Schemas that are none, and where.

use serde_json::{Value, json};
use sparring_schema::Schema;

fn check(schema: Value, expected: &str) {
    match Schema::new(&schema) {
        Ok(_) => panic!("{schema} is taken for a schema"),
        Err(error) => assert_eq!(error.to_string(), expected, "{schema}"),
    }
}

#[test]
fn what_is_no_schema_is_told_with_its_place() {
    check(json!(3), "a schema is an object or a boolean, and not 3");
    check(
        json!({"properties": {"a/b": 1}}),
        "at /properties/a~1b: a schema is an object or a boolean, and not 1",
    );
    check(
        json!({"$defs": {"x": {"type": "strin"}}}),
        "at /$defs/x/type: \"strin\" is no type; there are array, boolean, integer, null, number, object, string",
    );
    check(json!({"type": []}), "at /type: a type or a list of types is wanted, and not []");
    check(
        json!({"type": ["null", "null"]}),
        "at /type: each type is wanted once, and not [\"null\",\"null\"]",
    );
    check(
        json!({"minLength": -1}),
        "at /minLength: a whole number that is not negative is wanted, and not -1",
    );
    check(json!({"minimum": "1"}), "at /minimum: a number is wanted, and not \"1\"");
    check(json!({"multipleOf": 0}), "at /multipleOf: a number above 0 is wanted, and not 0");
    check(json!({"required": "a"}), "at /required: a list is wanted, and not \"a\"");
    check(
        json!({"required": ["a", "a"]}),
        "at /required: each name is wanted once, and not [\"a\",\"a\"]",
    );
    check(json!({"enum": 1}), "at /enum: a list is wanted, and not 1");
    check(json!({"anyOf": []}), "at /anyOf: at least one schema is wanted, and not []");
    check(json!({"title": 1}), "at /title: a string is wanted, and not 1");
    check(json!({"uniqueItems": 1}), "at /uniqueItems: a boolean is wanted, and not 1");
    check(
        json!({"items": [{}]}),
        "at /items: since 2020-12 a list of schemas stands in `prefixItems`; one schema is wanted here, and not [{}]",
    );
    check(
        json!({"$schema": "http://json-schema.org/draft-04/schema#", "not": true}),
        "at /not: a schema of draft 4 is an object, and not true",
    );
    check(
        json!({"$schema": "http://json-schema.org/draft-03/schema#"}),
        "at /$schema: \"http://json-schema.org/draft-03/schema#\" is no draft that is known; \
         there are 2020-12, 2019-09, 7, 6 and 4",
    );
}

#[test]
fn references_that_lead_nowhere_are_told() {
    check(
        json!({"items": {"$ref": "#/$defs/nope"}}),
        "at /items/$ref: the reference \"#/$defs/nope\" leads nowhere",
    );
    check(json!({"$ref": "#nope"}), "at /$ref: the reference \"#nope\" leads nowhere");
    check(
        json!({"$ref": "https://example.com/a.json"}),
        "at /$ref: the reference \"https://example.com/a.json\" leads nowhere; nothing is fetched",
    );
    check(
        json!({"$ref": "#/x/y", "x": {"y": {"type": 1}}}),
        "at /x/y/type: a type or a list of types is wanted, and not 1",
    );
    check(
        json!({"$ref": "#/x", "x": 1}),
        "at /$ref: \"#/x\" leads to no schema: at /x: a schema is an object or a boolean, and not 1",
    );
}

#[test]
fn patterns_that_cannot_be_read_are_told() {
    check(
        json!({"properties": {"a": {"pattern": "a++"}}}),
        "at /properties/a/pattern: the pattern \"a++\" cannot be read: there is nothing to repeat before `+`, at character 3",
    );
    let error = Schema::new(&json!({"patternProperties": {"(": true}})).unwrap_err();
    assert!(
        error.to_string().starts_with("at /patternProperties: the pattern \"(\" cannot be read: "),
        "{error}"
    );
}

#[test]
fn the_same_schemas_are_none_to_the_other_validator() {
    for schema in [
        json!({"type": "strin"}),
        json!({"type": []}),
        json!({"minLength": -1}),
        json!({"required": ["a", "a"]}),
        json!({"anyOf": []}),
        json!({"items": [{}]}),
        json!({"title": 1}),
        json!({"$ref": "#/$defs/nope"}),
        json!({"$schema": "https://example.com/nope"}),
    ] {
        assert!(jsonschema::validator_for(&schema).is_err(), "{schema}");
    }
}

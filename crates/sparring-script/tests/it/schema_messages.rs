//! The messages about values that do not conform to a schema.

use serde_json::{Value, json};
use sparring_script::Schema;
use sparring_script::schema::{MismatchKind, PointerSegment, SchemaMismatch, Verdict};

fn mismatches(schema: &Value, value: &Value) -> Vec<SchemaMismatch> {
    match Schema::new(schema).unwrap().check(value, 10) {
        Verdict::Invalid(mismatches) => mismatches,
        other => panic!("{schema} {value}: {other:?}"),
    }
}

/// Checks all mismatches as `POINTER: MESSAGE`.
fn check(schema: Value, value: Value, expected: &[&str]) {
    let found = mismatches(&schema, &value);
    let messages: Vec<String> =
        found.iter().map(|it| format!("{}: {}", it.pointer, it.message)).collect();
    assert_eq!(messages, expected, "{schema} {value}");
}

#[test]
fn a_scalar_is_reported_with_the_expectation_of_the_schema() {
    check(json!({"type": "string"}), json!(1), &[": 1 is not of type \"string\""]);
    check(
        json!({"type": ["object", "null"]}),
        json!([]),
        &[": [] is not of types \"null\", \"object\""],
    );
    check(json!({"enum": [1, "a", null]}), json!(2), &[": 2 is not one of 1, \"a\" or null"]);
    check(
        json!({"enum": [1, 2, 3, 4, 5]}),
        json!(9),
        &[": 9 is not one of 1, 2 or 3 other candidates"],
    );
    check(json!({"const": {"a": 1}}), json!(2), &[": {\"a\":1} was expected"]);
    check(json!({"minimum": 1}), json!(0), &[": 0 is less than the minimum of 1"]);
    check(json!({"multipleOf": 0.01}), json!(0.075), &[": 0.075 is not a multiple of 0.01"]);
    check(json!({"minLength": 2}), json!("😀"), &[": \"😀\" is shorter than 2 characters"]);
    check(json!({"pattern": "^a"}), json!("b"), &[": \"b\" does not match \"^a\""]);
    check(json!(false), json!(1), &[": False schema does not allow 1"]);
    check(
        json!({"not": {"type": "null"}}),
        json!(null),
        &[": {\"type\":\"null\"} is not allowed for null"],
    );
}

#[test]
fn every_mismatch_of_an_object_has_its_pointer_and_kind() {
    let schema = json!({
        "properties": {"a": {"type": "null"}},
        "additionalProperties": false,
        "required": ["b"],
        "propertyNames": {"maxLength": 1},
    });
    check(
        schema.clone(),
        json!({"a": 1, "xy": 2}),
        &[
            "/a: 1 is not of type \"null\"",
            ": Additional properties are not allowed ('xy' was unexpected)",
            ": \"b\" is a required property",
            ": a property name is not allowed: \"xy\" is longer than 1 character",
        ],
    );
    let found = mismatches(&schema, &json!({"x": 1, "y": 1}));
    assert_eq!(found[0].kind, MismatchKind::Unknown(vec!["x".to_owned(), "y".to_owned()]));
    assert_eq!(found[1].kind, MismatchKind::Missing("b".to_owned()));
    assert_eq!(found[1].message_about("it"), found[1].message);
}

#[test]
fn a_mismatch_has_a_pointer_and_its_segments() {
    let schema = json!({"properties": {"a/b": {"items": {"type": "null"}}}});
    let found = mismatches(&schema, &json!({"a/b": [null, 1, 2, 3]}));
    assert_eq!(found.len(), 3);
    assert_eq!(found[0].pointer, "/a~1b/1");
    assert_eq!(
        found[0].segments,
        [PointerSegment::Name("a/b".to_owned()), PointerSegment::Index(1)]
    );
    assert_eq!(found[0].message_about("it"), "it is not of type \"null\"");
    let two = Schema::new(&schema).unwrap().check(&json!({"a/b": [1, 2, 3]}), 2);
    assert!(matches!(two, Verdict::Invalid(found) if found.len() == 2));
}

#[test]
fn alternatives_are_explained_with_the_nearest_first() {
    check(
        json!({"anyOf": [{"type": "string"}, {"properties": {"a": {"type": "null"}}}]}),
        json!({"a": 1}),
        &[": {\"a\":1} is not valid under any of the schemas listed in the 'anyOf' keyword: \
           (1) at /a: 1 is not of type \"null\"; (0) it is not of type \"string\""],
    );
    check(
        json!({"properties": {"x": {"oneOf": [{"type": "string"}, {"minimum": 5}]}}}),
        json!({"x": 1}),
        &["/x: 1 is not valid under any of the schemas listed in the 'oneOf' keyword: \
           (0) it is not of type \"string\"; (1) it is less than the minimum of 5"],
    );
}

#[test]
fn long_values_are_truncated() {
    let long = json!({"a": ["é".repeat(5_000), 1]});
    let found = mismatches(&json!({"type": "null"}), &long);
    assert!(found[0].message.starts_with("{\"a\":[\"éé"), "{}", found[0].message);
    assert!(found[0].message.ends_with("é… is not of type \"null\""), "{}", found[0].message);
    assert!(found[0].message.chars().count() < 200, "{}", found[0].message);
    assert_eq!(found[0].message_about("it"), "it is not of type \"null\"");
    let numbers: Value = (0..10_000).collect();
    assert!(mismatches(&json!({"type": "null"}), &numbers)[0].message.len() < 200);
    let constant = json!({"const": "é".repeat(5_000)});
    assert!(mismatches(&constant, &json!(1))[0].message.len() < 1_300);
    let mut members = serde_json::Map::new();
    members.extend((0..5_000).map(|number| (number.to_string(), json!(1))));
    let closed = json!({"additionalProperties": false});
    assert!(mismatches(&closed, &Value::Object(members))[0].message.len() < 700);
}

//! What is told of values that break a schema.

use serde_json::{Value, json};
use sparring_schema::{Breach, Kind, Schema};

fn breaches(schema: &Value, value: &Value) -> Vec<Breach> {
    Schema::new(schema).unwrap().breaches(value, 10)
}

/// All breaches, as `POINTER: MESSAGE`.
fn check(schema: Value, value: Value, expected: &[&str]) {
    let found = breaches(&schema, &value);
    let told: Vec<String> =
        found.iter().map(|breach| format!("{}: {}", breach.pointer, breach.message)).collect();
    assert_eq!(told, expected, "{schema} {value}");
}

#[test]
fn scalars_are_told_with_what_was_wanted() {
    check(json!({"type": "string"}), json!(1), &[": 1 is not of type \"string\""]);
    check(
        json!({"type": ["object", "null"]}),
        json!([]),
        &[": [] is not of types \"null\", \"object\""],
    );
    check(json!({"enum": [1, "a", null]}), json!(2), &[": 2 is not one of 1, \"a\" or null"]);
    check(json!({"enum": [1]}), json!(2), &[": 2 is not one of 1"]);
    check(json!({"enum": [1, 2, 3, 4, 5]}), json!(9), &[": 9 is not one of 1, 2, 3 or 2 more"]);
    check(json!({"const": {"a": 1}}), json!(2), &[": {\"a\":1} was expected"]);
    check(json!({"minimum": 1}), json!(0), &[": 0 is less than the minimum of 1"]);
    check(json!({"maximum": 1.5}), json!(2), &[": 2 is greater than the maximum of 1.5"]);
    check(
        json!({"exclusiveMinimum": 1}),
        json!(1),
        &[": 1 is less than or equal to the minimum of 1"],
    );
    check(
        json!({"exclusiveMaximum": 1}),
        json!(1.0),
        &[": 1.0 is greater than or equal to the maximum of 1"],
    );
    check(json!({"multipleOf": 0.01}), json!(0.075), &[": 0.075 is not a multiple of 0.01"]);
    check(json!({"minLength": 2}), json!("😀"), &[": \"😀\" is shorter than 2 characters"]);
    check(json!({"maxLength": 1}), json!("ab"), &[": \"ab\" is longer than 1 character"]);
    check(json!({"pattern": "^a"}), json!("b"), &[": \"b\" does not match \"^a\""]);
    check(json!(false), json!(1), &[": False schema does not allow 1"]);
    check(
        json!({"not": {"type": "null"}}),
        json!(null),
        &[": {\"type\":\"null\"} is not allowed for null"],
    );
}

#[test]
fn objects_are_told_by_their_members_in_the_order_of_the_keywords() {
    let schema = json!({
        "properties": {"a": {"type": "null"}},
        "additionalProperties": false,
        "required": ["b", "c"],
        "maxProperties": 1,
        "dependentRequired": {"a": ["d"]},
        "propertyNames": {"maxLength": 1},
    });
    check(
        schema.clone(),
        json!({"a": 1, "xy": 2}),
        &[
            "/a: 1 is not of type \"null\"",
            ": Additional properties are not allowed ('xy' was unexpected)",
            ": \"b\" is a required property",
            ": \"c\" is a required property",
            ": {\"a\":1,\"xy\":2} has more than 1 property",
            ": \"d\" is a required property, since \"a\" is there",
            ": \"xy\" may be no name here: \"xy\" is longer than 1 character",
        ],
    );
    let found = breaches(&schema, &json!({"x": 1, "y": 1}));
    assert_eq!(found[0].kind, Kind::Unknown(vec!["x".to_owned(), "y".to_owned()]));
    assert_eq!(found[1].kind, Kind::Missing("b".to_owned()));
    assert_eq!(found[1].message_about("it"), found[1].message);
    check(
        json!({"properties": {"a": true}, "unevaluatedProperties": false}),
        json!({"a": 1, "b": 1, "c": 1}),
        &[": Unevaluated properties are not allowed ('b', 'c' were unexpected)"],
    );
}

#[test]
fn arrays_are_told_by_their_items() {
    check(json!({"items": {"minItems": 2}}), json!([[1]]), &["/0: [1] has less than 2 items"]);
    check(
        json!({"uniqueItems": true}),
        json!([1, 2, 1.0]),
        &[": [1,2,1.0] has non-unique elements: those at 0 and 2 are the same"],
    );
    check(
        json!({"prefixItems": [true], "items": false}),
        json!([1, 2, 3]),
        &[": Additional items are not allowed: there are 2 too many"],
    );
    check(
        json!({"contains": {"const": 1}}),
        json!([2]),
        &[": [2] has no item that is as `contains` says, and should have 1"],
    );
    check(
        json!({"contains": {"const": 1}, "maxContains": 1}),
        json!([1, 1]),
        &[": [1,1] has 2 items that are as `contains` says, and at most 1 may be"],
    );
    check(
        json!({"prefixItems": [true], "unevaluatedItems": false}),
        json!([1, 2]),
        &[": Unevaluated items are not allowed (that at 1 was unexpected)"],
    );
}

#[test]
fn alternatives_are_told_with_what_each_of_them_wants_and_the_nearest_first() {
    check(
        json!({"anyOf": [{"type": "string"}, {"properties": {"a": {"type": "null"}}}]}),
        json!({"a": 1}),
        &[": {\"a\":1} is not valid under any of the schemas listed in the 'anyOf' keyword: \
           (1) at /a: 1 is not of type \"null\"; (0) it is not of type \"string\""],
    );
    check(
        json!({"items": {"oneOf": [{"minimum": 1}, {"maximum": 5}]}}),
        json!([3]),
        &["/0: 3 is valid under more than one of the schemas listed in the 'oneOf' keyword: \
           those at 0 and 1"],
    );
}

#[test]
fn conditions_are_told_at_the_place_of_what_they_ask_for() {
    check(
        json!({
            "if": {"properties": {"kind": {"const": "a"}}},
            "then": {"properties": {"size": {"type": "integer"}}},
            "else": {"required": ["name"]},
        }),
        json!({"kind": "a", "size": "x"}),
        &["/size: \"x\" is not of type \"integer\""],
    );
}

#[test]
fn long_values_are_shortened() {
    let long = json!({"a": ["é".repeat(5_000), 1]});
    let found = breaches(&json!({"type": "null"}), &long);
    assert!(found[0].message.starts_with("{\"a\":[\"éé"), "{}", found[0].message);
    assert!(found[0].message.ends_with("é… is not of type \"null\""), "{}", found[0].message);
    assert!(found[0].message.chars().count() < 200, "{}", found[0].message);
    assert_eq!(found[0].message_about("it"), "it is not of type \"null\"");
    let numbers: Value = (0..10_000).collect();
    assert!(breaches(&json!({"type": "null"}), &numbers)[0].message.len() < 200);
}

//! Schemas and values that would take for ever, or more stack than there is.

use serde_json::{Value, json};
use sparring_schema::Schema;

fn nested(depth: usize) -> Value {
    let mut value = json!(1);
    for _ in 0..depth {
        // By hand, since the macro would go through all that is there.
        value = Value::Object([("a".to_owned(), Value::Array(vec![value]))].into_iter().collect());
    }
    value
}

#[test]
fn references_that_only_lead_to_themselves_are_told() {
    let schema = json!({
        "$ref": "#/$defs/a",
        "$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}},
    });
    for schema in [json!({"$ref": "#"}), schema] {
        let found = Schema::new(&schema).unwrap().breaches(&json!(1), 5);
        let told = "the schema refers to itself without end";
        assert!(found[0].message.contains(told), "{found:?}");
    }
}

#[test]
fn deep_values_are_looked_at_as_deep_as_texts_can_be_and_then_told() {
    let schema = json!({
        "properties": {"a": {"items": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}}},
    });
    let schema = Schema::new(&schema).unwrap();
    // What 127 levels of text come to.
    assert!(schema.is_valid(&nested(63)));
    let found = schema.breaches(&nested(2_000), 5);
    assert_eq!(found.len(), 1);
    let found =
        Schema::new(&json!({"additionalProperties": {"$ref": "#"}, "items": {"$ref": "#"}}));
    let found = found.unwrap().breaches(&nested(2_000), 5);
    assert_eq!(found[0].message, "this lies too deep to be looked at");
    assert!(Schema::new(&json!({"enum": [nested(100)]})).unwrap().is_valid(&nested(100)));
    assert!(!Schema::new(&json!({"type": "null"})).unwrap().breaches(&nested(2_000), 1).is_empty());
}

#[test]
fn deep_schemas_are_read() {
    let mut schema = json!({"type": "null"});
    for _ in 0..2_000 {
        schema = Value::Object([("items".to_owned(), schema)].into_iter().collect());
    }
    let schema = Schema::new(&schema).unwrap();
    assert!(schema.is_valid(&json!([[[]]])));
}

#[test]
fn a_pattern_that_takes_too_long_is_a_breach_that_says_so() {
    let schema = Schema::new(&json!({"pattern": "^(?:(?=a)a+)+$"})).unwrap();
    let found = schema.breaches(&json!("a".repeat(50) + "!"), 1);
    assert!(found[0].message.contains("takes too long to be matched"), "{found:?}");
    let schema = Schema::new(&json!({"patternProperties": {"^(?:(?=a)a+)+$": true}})).unwrap();
    assert!(!schema.is_valid(&json!({("a".repeat(50) + "!"): 1})));
}

#[test]
fn many_items_are_compared_in_no_time() {
    let schema = Schema::new(&json!({"uniqueItems": true})).unwrap();
    let numbers: Value = (0..200_000).collect();
    assert!(schema.is_valid(&numbers));
    let texts: Vec<String> = (0..200_000).map(|it| it.to_string()).collect();
    assert!(schema.is_valid(&json!(texts)));
}

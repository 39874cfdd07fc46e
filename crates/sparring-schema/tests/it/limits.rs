//! Schemas and values that would take for ever, or more stack than there is.

use serde_json::{Value, json};
use sparring_schema::{Kind, Schema};

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

/// A tree whose nodes are of one of so many kinds, with what tells them apart last.
fn tree(kinds: usize, together: &str) -> Value {
    let mut alternatives = Vec::new();
    for kind in 0..kinds {
        let children = json!({"type": "array", "items": {"$ref": "#/$defs/node"}});
        let kind = json!({"const": kind.to_string()});
        alternatives.push(json!({"properties": {"children": children, "kind": kind}}));
    }
    json!({"$ref": "#/$defs/node", "$defs": {"node": {together: alternatives}}})
}

fn branch(depth: usize, leaf: &str) -> Value {
    let mut value = json!({"children": [], "kind": leaf});
    for _ in 0..depth {
        value = json!({"children": [value], "kind": "5"});
    }
    value
}

#[test]
fn a_tree_of_alternatives_is_looked_at_once() {
    for together in ["anyOf", "oneOf"] {
        let schema = Schema::new(&tree(6, together)).unwrap();
        assert!(schema.is_valid(&branch(40, "5")), "{together}");
        let found = schema.breaches(&branch(40, "none"), 3);
        assert_eq!(found.len(), 1, "{together}");
        assert!(found[0].message.len() < 10_000, "{together}: {}", found[0].message.len());
    }
}

#[test]
fn what_cannot_be_found_out_is_never_good() {
    let slow = json!({"pattern": "^(?:(?=a)a+)+$"});
    let value = json!("a".repeat(50) + "!");
    for schema in [
        json!({"not": slow}),
        json!({"if": slow, "else": true}),
        json!({"oneOf": [slow, {"type": "string"}]}),
    ] {
        let found = Schema::new(&schema).unwrap().breaches(&value, 1);
        assert!(found[0].message.contains("cannot be found out"), "{schema}: {found:?}");
    }
    let none = json!({"contains": slow, "minContains": 0, "maxContains": 0});
    assert!(!Schema::new(&none).unwrap().is_valid(&json!([value])));
    let names = json!({"not": {"propertyNames": slow}});
    assert!(!Schema::new(&names).unwrap().is_valid(&json!({(value.as_str().unwrap()): 1})));
    let inner = Schema::new(&json!({"anyOf": [slow, {"type": "null"}]})).unwrap();
    assert_eq!(inner.breaches(&value, 1)[0].kind, Kind::Unsure);
    let other = Schema::new(&json!({"anyOf": [slow, {"type": "string"}]})).unwrap();
    assert!(other.is_valid(&value), "one that holds is enough");
}

#[test]
fn more_than_can_be_counted_may_be_asked_for() {
    let schema = json!({"maxLength": 1e300, "maxItems": 18_446_744_073_709_551_616.0});
    let schema = Schema::new(&schema).unwrap();
    assert!(schema.is_valid(&json!("a")) && schema.is_valid(&json!([1])));
    assert!(!Schema::new(&json!({"minItems": 1e300})).unwrap().is_valid(&json!([1])));
}

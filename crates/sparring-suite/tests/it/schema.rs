//! The JSON Schema for editors and the parser know the same language.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::fixture::read;

const EVERY_KEY: &str = include_str!("../every_key.spar.yaml");

fn schema() -> jsonschema::Validator {
    jsonschema::validator_for(&sparring_suite::schema()).unwrap()
}

fn value(text: &str) -> Value {
    let source = sparring_script::Source::new("a.yaml", text);
    sparring_script::Node::parse(&source).unwrap().to_json()
}

#[test]
fn schema_and_parser_take_every_key() {
    let suite = value(EVERY_KEY);
    let wrong: Vec<String> = schema().iter_errors(&suite).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    read(EVERY_KEY).unwrap_or_else(|told| panic!("{told}"));
    // A key that is not there was not tried.
    let mut used = BTreeSet::new();
    keys(&suite, &mut used);
    let mut known = BTreeSet::new();
    properties(&sparring_suite::schema(), &mut known);
    let snake = |key: &&String| sparring_script::casing::snake(key) == **key;
    let untried: Vec<_> = known.iter().filter(snake).filter(|key| !used.contains(*key)).collect();
    assert!(untried.is_empty(), "{untried:?}");
}

#[test]
fn schema_and_parser_refuse_the_same_shapes() {
    let schema = schema();
    let mut refused = 0;
    for (place, changed) in mutations(&value(EVERY_KEY)) {
        let by_schema = !schema.is_valid(&changed);
        let told = read(&changed.to_string()).err();
        assert!(!by_schema || told.is_some(), "only the schema refuses {place}");
        let told = told.unwrap_or_default();
        let by_shape = told.contains("unknown key") || told.contains("is missing in a");
        assert!(!by_shape || by_schema, "only the parser refuses {place}: {told}");
        refused += usize::from(by_schema);
    }
    assert!(refused > 60, "{refused}");
}

fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            found.insert(key.clone());
            keys(value, found);
        }),
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

fn properties(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            if let ("properties", Value::Object(properties)) = (&**key, value) {
                found.extend(properties.keys().cloned());
            }
            properties(value, found);
        }),
        Value::Array(items) => items.iter().for_each(|item| properties(item, found)),
        _ => {}
    }
}

/// The value with each of its members once renamed and once replaced.
fn mutations(suite: &Value) -> Vec<(String, Value)> {
    let mut pointers = Vec::new();
    collect(suite, String::new(), &mut pointers);
    let mut all = Vec::new();
    for pointer in pointers {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/").replace("~0", "~");
        let mut renamed = suite.clone();
        let parent = renamed.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        let value = parent.remove(&key).unwrap();
        parent.insert(format!("{key}x"), value);
        all.push((format!("{pointer}x"), renamed));
        let mut replaced = suite.clone();
        *replaced.pointer_mut(&pointer).unwrap() = json!([[[]]]);
        all.push((pointer, replaced));
    }
    all
}

fn collect(value: &Value, at: String, pointers: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                pointers.push(at.clone());
                collect(value, at, pointers);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{at}/{index}"), pointers);
            }
        }
        _ => {}
    }
}

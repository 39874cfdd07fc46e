//! Compares a schema with a parser: all keys of both, and mutations of a valid file. The tests
//! of suites use it as well.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// Collects all keys of a value.
pub(crate) fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            found.insert(key.clone());
            keys(value, found);
        }),
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

/// Collects all keys of a schema.
pub(crate) fn properties(schema: &Value, found: &mut BTreeSet<String>) {
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

/// Returns the value with each of its members renamed once and replaced once.
pub(crate) fn mutations(script: &Value) -> Vec<(String, Value)> {
    let mut pointers = Vec::new();
    collect(script, String::new(), &mut pointers);
    let mut all = Vec::new();
    for pointer in pointers {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/").replace("~0", "~");
        let mut renamed = script.clone();
        let parent = renamed.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        let value = parent.remove(&key).unwrap();
        parent.insert(format!("{key}x"), value);
        all.push((format!("{pointer}x"), renamed));
        let mut replaced = script.clone();
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

//! The keywords that hold for one value: those of its schema, of the schema that it refers
//! to, and of the parts of `allOf`.

use serde_json::{Map, Value, json};

use crate::probes::definitions::resolve;

/// The limit of references that are followed one after the other.
const MAX_DEPTH: usize = 16;

/// The keywords that name alternatives.
const ALTERNATIVES: [&str; 2] = ["anyOf", "oneOf"];

/// Merges a schema with the schemas that it includes. Returns `None` for `false`, and if the
/// references do not end.
pub(super) fn merged(root: &Value, schema: &Value) -> Option<Map<String, Value>> {
    merge_at(root, schema, 0)
}

fn merge_at(root: &Value, schema: &Value, depth: usize) -> Option<Map<String, Value>> {
    if depth > MAX_DEPTH || *schema == false {
        return None;
    }
    let Some(keywords) = schema.as_object() else { return Some(Map::new()) };
    let mut all = keywords.clone();
    all.remove("$defs");
    all.remove("definitions");
    if let Some(reference) = all.remove("$ref") {
        let part = resolve(root, reference.as_str()?)?;
        all = combine(all, merge_at(root, part, depth + 1)?);
    }
    if let Some(Value::Array(parts)) = all.remove("allOf") {
        for part in &parts {
            all = combine(all, merge_at(root, part, depth + 1)?);
        }
    }
    Some(all)
}

/// Combines the keywords of two schemas that hold for the same value.
fn combine(mut one: Map<String, Value>, other: Map<String, Value>) -> Map<String, Value> {
    for (key, value) in other {
        let Some(known) = one.get_mut(&key) else {
            one.insert(key, value);
            continue;
        };
        let numbers = known.as_f64().zip(value.as_f64());
        match &*key {
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties"
                if numbers.is_some_and(|(known, value)| value > known) =>
            {
                *known = value;
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties"
                if numbers.is_some_and(|(known, value)| value < known) =>
            {
                *known = value;
            }
            "required" => {
                if let (Value::Array(known), Value::Array(more)) = (known, value) {
                    known.extend(more);
                }
            }
            "properties" => {
                if let (Value::Object(known), Value::Object(more)) = (known, value) {
                    for (name, schema) in more {
                        let both = match known.remove(&name) {
                            Some(first) if first != schema => json!({"allOf": [first, schema]}),
                            _ => schema,
                        };
                        known.insert(name, both);
                    }
                }
            }
            "type" => {
                *known = Value::Array(common_types(known, &value));
            }
            "enum" => {
                if let (Value::Array(known), Value::Array(others)) = (known, value) {
                    known.retain(|it| others.contains(it));
                }
            }
            _ => {}
        }
    }
    one
}

/// Returns the types that both values of `type` name. Every integer is a number.
fn common_types(one: &Value, other: &Value) -> Vec<Value> {
    let list = |value: &Value| match value {
        Value::Array(names) => names.clone(),
        name => vec![name.clone()],
    };
    let (one, other) = (list(one), list(other));
    let contains = |all: &[Value], name: &Value| {
        all.contains(name) || *name == "integer" && all.iter().any(|it| it == "number")
    };
    let both = one.iter().filter(|it| contains(&other, it));
    let more = other.iter().filter(|it| contains(&one, it));
    let mut both: Vec<Value> = both.chain(more).cloned().collect();
    both.dedup();
    both
}

/// Returns the alternatives of a merged schema, each merged with the rest of it; only the
/// schema itself if it has none.
pub(super) fn alternatives(root: &Value, schema: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let Some(key) =
        ALTERNATIVES.into_iter().find(|key| schema.get(*key).is_some_and(Value::is_array))
    else {
        return vec![schema.clone()];
    };
    let mut rest = schema.clone();
    let choices = rest.remove(key).unwrap_or_default();
    let choices = choices.as_array().map(Vec::as_slice).unwrap_or_default();
    let merged = choices.iter().filter_map(|choice| merged(root, choice));
    merged.map(|choice| combine(rest.clone(), choice)).collect()
}

/// Returns the types that a merged schema names, or that its keywords imply.
pub(super) fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => return vec![name],
        Some(Value::Array(names)) => return names.iter().filter_map(Value::as_str).collect(),
        _ => {}
    }
    let has = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
    if has(&["properties", "required", "additionalProperties"]) {
        vec!["object"]
    } else if has(&["items", "prefixItems", "minItems", "maxItems"]) {
        vec!["array"]
    } else if has(&["pattern", "minLength", "maxLength", "format"]) {
        vec!["string"]
    } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        vec!["number"]
    } else {
        Vec::new()
    }
}

/// Returns the required members of a merged schema.
pub(super) fn required(schema: &Map<String, Value>) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    let mut names: Vec<&str> = names.into_iter().flatten().filter_map(Value::as_str).collect();
    names.dedup();
    names
}

/// Returns the declared members of a merged schema.
pub(super) fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

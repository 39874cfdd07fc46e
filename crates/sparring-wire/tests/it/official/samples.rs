//! Generates valid values from a JSON Schema, and mutates them into invalid ones.

use serde_json::{Map, Value, json};

use super::schema::Schema;

/// The maximum depth at which optional fields are filled in.
const MAX_OPTIONAL_DEPTH: usize = 7;

/// Generates valid values of a type: with all fields, with only the required ones, and
/// with every alternative of every field.
pub(crate) fn of_type(schema: &Schema, name: &str) -> Vec<Value> {
    let definition = schema.definition(name).unwrap();
    let mut found = Vec::new();
    variants(schema, definition, name, 0, &mut found);
    found
}

/// Adds values to `out`, the one with most fields first.
fn variants(schema: &Schema, node: &Value, name: &str, depth: usize, out: &mut Vec<Value>) {
    let node = schema.resolve(node);
    if let Some(constant) = node.get("const") {
        return out.push(constant.clone());
    }
    if let Some(values) = node["enum"].as_array() {
        return out.extend(values.iter().cloned());
    }
    if let Some(alternatives) = node["anyOf"].as_array() {
        for alternative in alternatives {
            let mut inner = Vec::new();
            variants(schema, alternative, name, depth + 1, &mut inner);
            out.extend(inner.into_iter().take(2));
        }
        return;
    }
    if let Some(parts) = node["allOf"].as_array() {
        return all_of(schema, parts, name, depth, out);
    }
    match &node["type"] {
        Value::Array(kinds) => {
            for kind in kinds {
                let mut one = node.clone();
                one["type"] = kind.clone();
                variants(schema, &one, name, depth, out);
            }
        }
        Value::String(kind) => match kind.as_str() {
            "object" => object(schema, node, depth, out),
            "array" => array(schema, node, name, depth, out),
            "string" => out.push(json!(word(name))),
            "integer" => out.push(json!(1)),
            "number" => out.extend([json!(0.5), json!(1)]),
            "boolean" => out.push(json!(true)),
            "null" => out.push(Value::Null),
            other => panic!("no samples for the type {other}"),
        },
        _ if node.get("properties").is_some() => object(schema, node, depth, out),
        _ => out.extend([json!({"any": [null, 1.5]}), json!("any")]),
    }
}

/// Returns a string that is valid for a field of that name.
fn word(name: &str) -> &'static str {
    match name {
        "resultType" => "complete",
        "protocolVersion" | "io.modelcontextprotocol/protocolVersion" => "2026-07-28",
        "uri" | "url" | "src" => "word:word",
        "data" | "blob" => "d29yZA==",
        "mimeType" => "word/word",
        "uriTemplate" => "word:{word}",
        "createdAt" | "lastUpdatedAt" => "2025-11-25T10:30:00Z",
        _ => "word",
    }
}

fn all_of(schema: &Schema, parts: &[Value], name: &str, depth: usize, out: &mut Vec<Value>) {
    let mut merged = [Map::new(), Map::new()];
    for part in parts {
        let mut inner = Vec::new();
        variants(schema, part, name, depth + 1, &mut inner);
        let (full, bare) = (&inner[0], inner.get(1).unwrap_or(&inner[0]));
        for (merged, part) in merged.iter_mut().zip([full, bare]) {
            merged.extend(part.as_object().unwrap().clone());
        }
    }
    out.extend(merged.map(Value::Object));
}

fn array(schema: &Schema, node: &Value, name: &str, depth: usize, out: &mut Vec<Value>) {
    let mut items = Vec::new();
    if depth < MAX_OPTIONAL_DEPTH {
        variants(schema, &node["items"], name, depth + 1, &mut items);
    }
    for item in items {
        out.push(json!([item]));
    }
    out.push(json!([]));
}

fn object(schema: &Schema, node: &Value, depth: usize, out: &mut Vec<Value>) {
    let none = Map::new();
    let properties = node["properties"].as_object().unwrap_or(&none);
    let required: Vec<_> = node["required"].as_array().into_iter().flatten().collect();
    let (mut full, mut bare) = (Map::new(), Map::new());
    let mut others = Vec::new();
    for (name, property) in properties {
        let must = required.iter().any(|it| *it == name);
        if depth >= MAX_OPTIONAL_DEPTH && !must {
            continue;
        }
        let mut values = Vec::new();
        variants(schema, property, name, depth + 1, &mut values);
        let mut values = values.into_iter();
        let first = values.next().unwrap();
        if must {
            bare.insert(name.clone(), first.clone());
        }
        full.insert(name.clone(), first);
        others.extend(values.map(|value| (name.clone(), value)));
    }
    let extra = &node["additionalProperties"];
    if extra.is_object() && properties.is_empty() && depth < MAX_OPTIONAL_DEPTH {
        let mut values = Vec::new();
        variants(schema, extra, "", depth + 1, &mut values);
        full.insert("example.org/one".to_owned(), values[0].clone());
        others.extend(values.into_iter().skip(1).map(|it| ("example.org/two".to_owned(), it)));
    }
    out.extend([Value::Object(full.clone()), Value::Object(bare)]);
    // Nested types have their own samples; only the top level needs each alternative.
    if depth == 0 {
        for (name, value) in others {
            let mut other = full.clone();
            other.insert(name, value);
            out.push(Value::Object(other));
        }
    }
}

/// Calls `found` with every value that differs from `value` in one part: a field removed
/// at any depth, or a part replaced by a value of another kind.
pub(crate) fn mutations(value: &Value, found: &mut dyn FnMut(Value)) {
    let mut pointers = vec![String::new()];
    collect_pointers(value, "", &mut pointers);
    for pointer in pointers {
        for other in
            [json!(null), json!(true), json!(7), json!(1.5), json!("x"), json!([]), json!({})]
        {
            let mut mutant = value.clone();
            *mutant.pointer_mut(&pointer).unwrap() = other;
            found(mutant);
        }
        if let Some((parent, key)) = pointer.rsplit_once('/') {
            let mut mutant = value.clone();
            if let Some(Value::Object(members)) = mutant.pointer_mut(parent) {
                members.shift_remove(&key.replace("~1", "/").replace("~0", "~"));
                found(mutant);
            }
        }
    }
}

fn collect_pointers(value: &Value, base: &str, out: &mut Vec<String>) {
    let steps: Vec<(String, &Value)> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value))
            .collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, value)| (index.to_string(), value)).collect()
        }
        _ => return,
    };
    for (step, value) in steps {
        let pointer = format!("{base}/{step}");
        collect_pointers(value, &pointer, out);
        out.push(pointer);
    }
}

//! Builds the JSON Schema of a grammar, which editors use for completion and checks.

use serde_json::{Map, Value, json};

use super::{Object, Shape};
use crate::casing::to_camel_case;

/// The pattern of strings with a template.
pub(super) const TEMPLATE: &str = r"\$\{";

/// Builds the JSON Schema (2020-12) of files of this grammar. Each object is defined once,
/// in `$defs`.
pub fn json_schema(title: &str, root: &'static Object) -> Value {
    let mut defs = Map::new();
    let top = object_schema(root, &mut defs);
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
    });
    if let (Value::Object(schema), Value::Object(top)) = (&mut schema, top) {
        schema.extend(top);
        schema.insert("$defs".to_owned(), Value::Object(defs));
    }
    schema
}

fn shape_schema(shape: &'static Shape, defs: &mut Map<String, Value>) -> Value {
    match shape {
        Shape::Any | Shape::Matcher(_) => json!(true),
        Shape::String => json!({"type": "string"}),
        Shape::Keyword(words) => json!({"enum": words}),
        Shape::Bool => json!({"type": "boolean"}),
        Shape::Integer(least) => json!({"type": "integer", "minimum": least}),
        Shape::Number => json!({"type": "number"}),
        Shape::Duration => json!({"type": "string", "pattern": r"^\d+(\.\d{1,3})?\s*(ms|s|m|h)$"}),
        Shape::List(item) => json!({"type": "array", "items": shape_schema(item, defs)}),
        Shape::OneOrMany(item) => {
            let item = shape_schema(item, defs);
            json!({"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]})
        }
        Shape::AnyNumber(item) => {
            let item = shape_schema(item, defs);
            json!({"anyOf": [item, {"type": "array", "items": item}]})
        }
        Shape::NonEmpty(shape) => non_empty_schema(shape_schema(shape, defs)),
        Shape::Map(value) => {
            json!({"type": "object", "additionalProperties": shape_schema(value, defs)})
        }
        Shape::Object(object) => object_reference(object, defs),
        Shape::OrTemplate(shape) => {
            json!({"anyOf": [shape_schema(shape, defs), {"type": "string", "pattern": TEMPLATE}]})
        }
        Shape::AnyOf(shapes) => {
            let shapes: Vec<Value> = shapes.iter().map(|it| shape_schema(it, defs)).collect();
            json!({"anyOf": shapes})
        }
    }
}

/// Requires one item of a list, and one key of a map.
fn non_empty_schema(mut schema: Value) -> Value {
    let keyword = if schema["type"] == "array" { "minItems" } else { "minProperties" };
    schema[keyword] = json!(1);
    schema
}

fn object_reference(object: &'static Object, defs: &mut Map<String, Value>) -> Value {
    let name = object.name.split_once(' ').map_or(object.name, |(_, name)| name).replace(' ', "_");
    if !defs.contains_key(&name) {
        // Reserves the name first, since the object may contain itself.
        defs.insert(name.clone(), Value::Null);
        let schema = object_schema(object, defs);
        defs.insert(name.clone(), schema);
    }
    json!({"$ref": format!("#/$defs/{name}")})
}

fn object_schema(object: &'static Object, defs: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    let mut all_of = Vec::new();
    for key in object.all_keys() {
        let mut value = shape_schema(key.shape, defs);
        match &mut value {
            Value::Object(map) => map.insert("description".to_owned(), key.about.into()),
            _ => {
                value = json!({"description": key.about});
                None
            }
        };
        let wire = to_camel_case(key.name);
        if wire != key.name {
            properties.insert(wire.clone(), value.clone());
        }
        if key.required {
            let either = [key.name, &wire].map(|name| json!({"required": [name]}));
            all_of.push(json!({"anyOf": either}));
        }
        properties.insert(key.name.to_owned(), value);
    }
    let mut schema = json!({
        "type": "object", "properties": properties, "additionalProperties": false,
    });
    if !all_of.is_empty() {
        schema["allOf"] = all_of.into();
    }
    schema
}

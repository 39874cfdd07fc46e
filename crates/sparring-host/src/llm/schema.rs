//! Converts a tool's schema to a form that every API accepts: an object at the
//! top level, with named properties and without unsupported keywords.
//!
//! The result is only less strict: the server still validates the arguments.

use serde_json::{Map, Value, json};

/// Keywords that the APIs reject at the top level, or that mean nothing to a
/// model.
const UNSUPPORTED_KEYWORDS: [&str; 12] = [
    "$schema", "$id", "$ref", "anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then",
    "else",
];

/// The maximum number of schemas that are visited for the top level, because
/// references can be circular.
const MAX_SCHEMAS: usize = 500;

/// Converts the schema of a tool's arguments.
pub(super) fn normalize(schema: &Value) -> Value {
    let mut left = MAX_SCHEMAS;
    let shape = ObjectShape::collect(schema, schema, &mut left);
    let mut object = schema.as_object().cloned().unwrap_or_default();
    object.retain(|keyword, _| !UNSUPPORTED_KEYWORDS.contains(&keyword.as_str()));
    object.insert("type".to_owned(), "object".into());
    let properties =
        shape.properties.into_iter().map(|(name, schemas)| (name, combine_schemas(schemas)));
    object.insert("properties".to_owned(), Value::Object(properties.collect()));
    let required: Vec<_> = shape.required.into_iter().map(|(name, _)| name).collect();
    object.insert("required".to_owned(), json!(required));
    let mut schema = Value::Object(object);
    repair(&mut schema);
    schema
}

/// The properties of an object, as far as a schema declares them.
#[derive(Default)]
struct ObjectShape {
    /// Each property with a list of its schemas, in order.
    properties: Map<String, Value>,
    /// The names of required properties, in order.
    required: Map<String, Value>,
}

impl ObjectShape {
    /// Collects the properties of a schema at the top level of `root`,
    /// including references and branches, up to a limit.
    fn collect(schema: &Value, root: &Value, left: &mut usize) -> ObjectShape {
        let mut shape = ObjectShape::default();
        let Value::Object(schema) = schema else { return shape };
        let Some(fewer) = left.checked_sub(1) else { return shape };
        *left = fewer;
        for (name, property) in
            schema.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            shape.add(name, property);
        }
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        shape.require(required.filter_map(Value::as_str));
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix('#'));
        if let Some(target) = target.and_then(|pointer| root.pointer(pointer)) {
            shape.add_all_of([ObjectShape::collect(target, root, left)]);
        }
        let mut branches = |keyword| {
            let branches = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            branches.map(|branch| ObjectShape::collect(branch, root, left)).collect::<Vec<_>>()
        };
        shape.add_all_of(branches("allOf"));
        shape.add_any_of(branches("anyOf"));
        shape.add_any_of(branches("oneOf"));
        let conditional = ["then", "else"].into_iter().filter_map(|keyword| schema.get(keyword));
        let conditional = conditional.map(|branch| ObjectShape::collect(branch, root, left));
        // Neither branch may apply, so nothing in them is required.
        shape.add_any_of(conditional.chain([ObjectShape::default()]).collect());
        shape
    }

    /// Adds everything that any of them declares.
    fn add_all_of(&mut self, others: impl IntoIterator<Item = ObjectShape>) {
        for other in others {
            self.require(other.required.keys().map(String::as_str));
            self.add_all(other);
        }
    }

    /// Adds alternatives: all their properties, and as required those that each
    /// of them requires.
    fn add_any_of(&mut self, others: Vec<ObjectShape>) {
        if let Some((first, rest)) = others.split_first() {
            let in_all = |name: &&String| rest.iter().all(|it| it.required.contains_key(*name));
            self.require(first.required.keys().filter(in_all).map(String::as_str));
        }
        others.into_iter().for_each(|other| self.add_all(other));
    }

    fn add_all(&mut self, other: ObjectShape) {
        for (name, schemas) in &other.properties {
            schemas.as_array().into_iter().flatten().for_each(|schema| self.add(name, schema));
        }
    }

    fn add(&mut self, name: &str, schema: &Value) {
        let schemas = self.properties.entry(name).or_insert_with(|| json!([]));
        if let Some(schemas) = schemas.as_array_mut()
            && !schemas.contains(schema)
        {
            schemas.push(schema.clone());
        }
    }

    fn require<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        self.required.extend(names.into_iter().map(|name| (name.to_owned(), Value::Null)));
    }
}

/// Combines several schemas of one property.
fn combine_schemas(schemas: Value) -> Value {
    match schemas.as_array().map(Vec::as_slice) {
        Some([schema]) => schema.clone(),
        _ => json!({"anyOf": schemas}),
    }
}

/// Repairs keywords that one of the APIs rejects anywhere in a schema, and keywords of
/// other drafts of JSON Schema.
fn repair(schema: &mut Value) {
    let Value::Object(object) = schema else {
        // `true` allows every value; anything that is not a schema is treated
        // like it.
        *schema = json!({});
        return;
    };
    repair_keywords(object);
    for keyword in ["items", "contains", "not", "if", "then", "else", "propertyNames"] {
        object.get_mut(keyword).into_iter().for_each(repair);
    }
    for keyword in ["additionalProperties", "unevaluatedProperties", "unevaluatedItems"] {
        object.get_mut(keyword).into_iter().filter(|schema| !schema.is_boolean()).for_each(repair);
    }
    for keyword in ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"] {
        if let Some(schemas) = object.get_mut(keyword).and_then(Value::as_object_mut) {
            schemas.values_mut().for_each(repair);
        }
    }
    for keyword in ["prefixItems", "anyOf", "oneOf", "allOf"] {
        if let Some(schemas) = object.get_mut(keyword).and_then(Value::as_array_mut) {
            schemas.iter_mut().for_each(repair);
        }
    }
}

fn repair_keywords(object: &mut Map<String, Value>) {
    let is = |object: &Map<String, Value>, name: &str| match object.get("type") {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        _ => false,
    };
    // Up to draft 2019-09 a list of `items` had the meaning of `prefixItems`.
    if let Some(Value::Array(_)) = object.get("items") {
        let items = object.shift_remove("items").unwrap_or_default();
        object.entry("prefixItems").or_insert(items);
    }
    if is(object, "array") {
        object.entry("items").or_insert_with(|| json!({}));
    }
    if is(object, "object") && !object.get("properties").is_some_and(Value::is_object) {
        object.insert("properties".to_owned(), json!({}));
    }
    // In drafts 3 and 4 these were booleans.
    object.retain(|keyword, value| match keyword.as_str() {
        "required" => value.as_array().is_some_and(|names| !names.is_empty()),
        "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        _ => true,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: Value, expected: Value) {
        assert_eq!(normalize(&schema), expected, "{schema}");
        assert_eq!(normalize(&expected), expected, "it is taken as it is");
    }

    #[test]
    fn an_ordinary_schema_stays_as_it_is() {
        let schema = json!({
            "type": "object",
            "properties": {
                "the path": {"type": "string", "minLength": 1, "default": true},
                "n": {"type": ["integer", "null"], "enum": [1, [2], null]},
                "list": {"type": "array", "items": {"$ref": "#/$defs/x"}},
                "some": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            "required": ["the path"],
            "additionalProperties": false,
            "$defs": {"x": {"type": "number"}},
        });
        check(schema.clone(), schema);
    }

    #[test]
    fn a_schema_that_is_not_an_object_becomes_one() {
        let any = json!({"type": "object", "properties": {}});
        for odd in [
            json!(null),
            json!(true),
            json!(false),
            json!({}),
            json!([]),
            json!("object"),
            json!({"type": "string"}),
            json!({"type": ["object", "null"]}),
            json!({"type": "object", "properties": []}),
            json!({"type": "object", "properties": null, "required": null}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"}),
            json!({"enum": [{}], "not": {"type": "null"}, "const": {}}),
            json!({"$ref": "#/$defs/gone"}),
            json!({"$ref": "https://example.com/schema"}),
            json!({"$ref": "#"}),
        ] {
            check(odd, any.clone());
        }
    }

    #[test]
    fn alternatives_become_all_their_properties() {
        for keyword in ["anyOf", "oneOf"] {
            check(
                json!({keyword: [
                    {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "string"}},
                        "required": ["kind", "x"]},
                    {"type": "object", "properties": {"kind": {"const": "b"}, "x": {"type": "string"}},
                        "required": ["kind"]},
                ]}),
                json!({"type": "object", "properties": {
                    "kind": {"anyOf": [{"const": "a"}, {"const": "b"}]},
                    "x": {"type": "string"},
                }, "required": ["kind"]}),
            );
        }
        // `anyOf` beside other properties.
        check(
            json!({"type": "object", "required": ["id"],
                "properties": {"id": {"type": "string"}, "a": {}, "b": {}},
                "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"type": "object",
                "properties": {"id": {"type": "string"}, "a": {}, "b": {}}, "required": ["id"]}),
        );
    }

    #[test]
    fn all_of_becomes_everything_that_the_branches_declare() {
        check(
            json!({"allOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"$ref": "#/definitions/more"},
            ], "definitions": {"more": {"properties": {"b": {}}, "required": ["b"]}},
            "if": {"required": ["b"]}, "then": {"properties": {"c": {}}, "required": ["c"]}}),
            json!({"definitions": {"more": {"properties": {"b": {}}, "required": ["b"]}},
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {}, "c": {}}, "required": ["a", "b"]}),
        );
    }

    #[test]
    fn a_reference_at_the_top_is_followed() {
        check(
            json!({"$ref": "#/$defs/in", "$defs": {"in": {"type": "object",
                "properties": {"a/b": {"type": "string"}}, "required": ["a/b"]}}}),
            json!({"$defs": {"in": {"type": "object",
                "properties": {"a/b": {"type": "string"}}, "required": ["a/b"]}},
                "type": "object", "properties": {"a/b": {"type": "string"}}, "required": ["a/b"]}),
        );
    }

    #[test]
    fn nested_keywords_that_an_api_rejects_are_repaired() {
        check(
            json!({"type": "object", "properties": {
                "any": true,
                "none": null,
                "list": {"type": "array"},
                "pair": {"type": ["array", "null"], "items": [{"type": "number"}, true]},
                "map": {"type": "object", "additionalProperties": {"type": "array"}},
                "old": {"type": "number", "required": true, "exclusiveMinimum": true, "minimum": 1},
                "data": {"default": {"type": "array"}, "examples": [true]},
            }}),
            json!({"type": "object", "properties": {
                "any": {},
                "none": {},
                "list": {"type": "array", "items": {}},
                "pair": {"type": ["array", "null"], "prefixItems": [{"type": "number"}, {}],
                    "items": {}},
                "map": {"type": "object", "properties": {},
                    "additionalProperties": {"type": "array", "items": {}}},
                "old": {"type": "number", "minimum": 1},
                "data": {"default": {"type": "array"}, "examples": [true]},
            }}),
        );
    }

    #[test]
    fn a_recursive_schema_ends() {
        let again = vec![json!({"$ref": "#"}); 100];
        let schema = json!({"allOf": again, "anyOf": again, "properties": {"a": {}}});
        assert_eq!(normalize(&schema), json!({"properties": {"a": {}}, "type": "object"}));
    }
}

//! A tool's schema in a form that every API takes: an object at the top, with
//! its properties by name, and without the keywords that are refused there.
//!
//! What is lost by it is strictness only: the server still checks what it gets.

use serde_json::{Map, Value, json};

/// Keywords that are refused at the top, or that mean nothing to a model.
const REFUSED: [&str; 12] = [
    "$schema", "$id", "$ref", "anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then",
    "else",
];

/// How many schemas are looked at for what stands at the top: references can
/// lead to each other for ever.
const MOST: usize = 500;

/// The schema of a tool's arguments, so that both APIs take it.
pub(super) fn of(schema: &Value) -> Value {
    let mut left = MOST;
    let shape = Shape::of(schema, schema, &mut left);
    let mut object = schema.as_object().cloned().unwrap_or_default();
    object.retain(|keyword, _| !REFUSED.contains(&keyword.as_str()));
    object.insert("type".to_owned(), "object".into());
    let properties = shape.properties.into_iter().map(|(name, schemas)| (name, joined(schemas)));
    object.insert("properties".to_owned(), Value::Object(properties.collect()));
    let required: Vec<_> = shape.required.into_iter().map(|(name, _)| name).collect();
    object.insert("required".to_owned(), json!(required));
    let mut schema = Value::Object(object);
    mend(&mut schema);
    schema
}

/// What an object may and must have, as far as a schema says it.
#[derive(Default)]
struct Shape {
    /// In their order, each with a list of the schemas that stand for it.
    properties: Map<String, Value>,
    /// The names, in their order.
    required: Map<String, Value>,
}

impl Shape {
    /// What a schema at the top of `root` says, references and branches
    /// included, of which so many are looked at.
    fn of(schema: &Value, root: &Value, left: &mut usize) -> Shape {
        let mut shape = Shape::default();
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
            shape.join_all([Shape::of(target, root, left)]);
        }
        let mut branches = |keyword| {
            let branches = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            branches.map(|branch| Shape::of(branch, root, left)).collect::<Vec<_>>()
        };
        shape.join_all(branches("allOf"));
        shape.join_any(branches("anyOf"));
        shape.join_any(branches("oneOf"));
        let conditional = ["then", "else"].into_iter().filter_map(|keyword| schema.get(keyword));
        let conditional = conditional.map(|branch| Shape::of(branch, root, left));
        // One of them may not be there, so nothing in them is required.
        shape.join_any(conditional.chain([Shape::default()]).collect());
        shape
    }

    /// Takes what all of them say.
    fn join_all(&mut self, others: impl IntoIterator<Item = Shape>) {
        for other in others {
            self.require(other.required.keys().map(String::as_str));
            self.add_all(other);
        }
    }

    /// Takes what one of them says: all may be there, and only what each of them
    /// wants must.
    fn join_any(&mut self, others: Vec<Shape>) {
        if let Some((first, rest)) = others.split_first() {
            let in_all = |name: &&String| rest.iter().all(|it| it.required.contains_key(*name));
            self.require(first.required.keys().filter(in_all).map(String::as_str));
        }
        others.into_iter().for_each(|other| self.add_all(other));
    }

    fn add_all(&mut self, other: Shape) {
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

/// One schema for what several are there for.
fn joined(schemas: Value) -> Value {
    match schemas.as_array().map(Vec::as_slice) {
        Some([schema]) => schema.clone(),
        _ => json!({"anyOf": schemas}),
    }
}

/// Mends what one of the APIs refuses anywhere in a schema, and what was
/// written for another draft of JSON Schema.
fn mend(schema: &mut Value) {
    let Value::Object(object) = schema else {
        // `true` is every value; what is no schema at all is taken for it.
        *schema = json!({});
        return;
    };
    mend_keywords(object);
    for keyword in ["items", "contains", "not", "if", "then", "else", "propertyNames"] {
        object.get_mut(keyword).into_iter().for_each(mend);
    }
    for keyword in ["additionalProperties", "unevaluatedProperties", "unevaluatedItems"] {
        object.get_mut(keyword).into_iter().filter(|schema| !schema.is_boolean()).for_each(mend);
    }
    for keyword in ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"] {
        if let Some(schemas) = object.get_mut(keyword).and_then(Value::as_object_mut) {
            schemas.values_mut().for_each(mend);
        }
    }
    for keyword in ["prefixItems", "anyOf", "oneOf", "allOf"] {
        if let Some(schemas) = object.get_mut(keyword).and_then(Value::as_array_mut) {
            schemas.iter_mut().for_each(mend);
        }
    }
}

fn mend_keywords(object: &mut Map<String, Value>) {
    let is = |object: &Map<String, Value>, name: &str| match object.get("type") {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        _ => false,
    };
    // Up to draft 2019-09 a list of items is what `prefixItems` is since.
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
    // Up to draft 3 and 4 these were true or false.
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
        assert_eq!(of(&schema), expected, "{schema}");
        assert_eq!(of(&expected), expected, "it is taken as it is");
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
    fn what_is_no_schema_of_an_object_becomes_one() {
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
    fn one_of_several_shapes_becomes_all_their_properties() {
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
        // At least one of them, besides what there is anyway.
        check(
            json!({"type": "object", "required": ["id"],
                "properties": {"id": {"type": "string"}, "a": {}, "b": {}},
                "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"type": "object",
                "properties": {"id": {"type": "string"}, "a": {}, "b": {}}, "required": ["id"]}),
        );
    }

    #[test]
    fn all_of_several_shapes_becomes_all_they_say() {
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
    fn what_an_api_refuses_further_down_is_mended() {
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
    fn a_schema_that_refers_to_itself_has_an_end() {
        let again = vec![json!({"$ref": "#"}); 100];
        let schema = json!({"allOf": again, "anyOf": again, "properties": {"a": {}}});
        assert_eq!(of(&schema), json!({"properties": {"a": {}}, "type": "object"}));
    }
}

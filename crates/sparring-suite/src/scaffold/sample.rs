//! Generates a sample value for a JSON Schema: its own example, or else the simplest
//! value of its type.
//!
//! It ignores `pattern`, so a value may not conform. The result then has the reason.

use serde_json::{Map, Value, json};
use sparring_script::Schema;
use sparring_script::schema::Verdict;

/// The depth limit for recursive schemas.
const MAX_DEPTH: usize = 16;

/// Returns a sample value, and the reason if it does not conform.
pub(super) fn sample(schema: &Value) -> (Value, Option<String>) {
    let value = Sampler { root: schema }.sample(schema, 0);
    let fits = match Schema::new(schema).map(|schema| schema.check(&value, 1)) {
        Ok(Verdict::Valid) => None,
        Ok(Verdict::Invalid(mut found)) => found.pop().map(|mismatch| mismatch.message),
        Ok(Verdict::Undecided(reason)) => Some(reason),
        Err(error) => Some(format!("invalid schema: {error}")),
    };
    (value, fits)
}

struct Sampler<'a> {
    root: &'a Value,
}

impl Sampler<'_> {
    fn sample(&self, schema: &Value, depth: usize) -> Value {
        if depth > MAX_DEPTH {
            return Value::Null;
        }
        if let Some(given) = own_example(schema) {
            return given.clone();
        }
        let next = |schema: &Value| self.sample(schema, depth + 1);
        if let Some(pointer) = schema["$ref"].as_str().and_then(|it| it.strip_prefix('#')) {
            return self.root.pointer(pointer).map(next).unwrap_or_default();
        }
        for key in ["anyOf", "oneOf"] {
            let choices = schema[key].as_array().map(Vec::as_slice).unwrap_or_default();
            if let Some(choice) = choices.iter().find(|it| it["type"] != "null") {
                return merge(next(choice), self.sample_type(schema, depth));
            }
        }
        let parts = schema["allOf"].as_array().map(Vec::as_slice).unwrap_or_default();
        parts
            .iter()
            .map(next)
            .fold(self.sample_type(schema, depth), |value, part| merge(part, value))
    }

    /// A value of the type that a schema names or that its keywords imply.
    fn sample_type(&self, schema: &Value, depth: usize) -> Value {
        let named = match &schema["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).find(|it| *it != "null"),
            named => named.as_str(),
        };
        let has = |key: &str| schema.get(key).is_some();
        match named {
            Some("object") => self.object(schema, depth),
            Some("array") => self.array(schema, depth),
            Some("integer") => json!(number(schema).ceil() as i64),
            Some("number") if number(schema).fract() != 0.0 => json!(number(schema)),
            Some("number") => json!(number(schema) as i64),
            Some("boolean") => json!(false),
            Some("null") => Value::Null,
            Some(_) => json!(text(schema)),
            None if has("properties") || has("required") => self.object(schema, depth),
            None if has("items") || has("prefixItems") => self.array(schema, depth),
            None if ["anyOf", "oneOf", "allOf"].iter().any(|key| has(key)) => Value::Null,
            None => json!(text(schema)),
        }
    }

    /// An object with the required properties.
    fn object(&self, schema: &Value, depth: usize) -> Value {
        let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        let fields = required.iter().filter_map(Value::as_str).map(|name| {
            let of_field = &schema["properties"][name];
            (name.to_owned(), self.sample(of_field, depth + 1))
        });
        Value::Object(fields.collect::<Map<_, _>>())
    }

    fn array(&self, schema: &Value, depth: usize) -> Value {
        let first = schema["prefixItems"].as_array().map(Vec::as_slice).unwrap_or_default();
        let least = schema["minItems"].as_u64().unwrap_or_default().min(100) as usize;
        let rest = (first.len()..least).map(|_| &schema["items"]);
        Value::Array(first.iter().chain(rest).map(|it| self.sample(it, depth + 1)).collect())
    }
}

/// The example that a schema contains.
fn own_example(schema: &Value) -> Option<&Value> {
    let first = |key: &str| schema[key].as_array().and_then(|values| values.first());
    let own = |key: &str| schema.get(key);
    first("examples").or(own("default")).or(own("const")).or(first("enum"))
}

/// Merges two objects; otherwise returns the value that is not null.
fn merge(value: Value, other: Value) -> Value {
    match (value, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            one.extend(other);
            Value::Object(one)
        }
        (Value::Null, other) => other,
        (value, _) => value,
    }
}

/// 1, or the nearest number within the bounds.
fn number(schema: &Value) -> f64 {
    let of = |key: &str| schema[key].as_f64();
    let step = of("multipleOf").filter(|step| *step > 0.0);
    let least = of("minimum").or(of("exclusiveMinimum").map(|it| it + step.unwrap_or(1.0)));
    let most = of("maximum").or(of("exclusiveMaximum").map(|it| it - step.unwrap_or(1.0)));
    let mut number = step.unwrap_or(1.0);
    number = least.map_or(number, |least| number.max(least));
    number = most.map_or(number, |most| number.min(most));
    step.map_or(number, |step| (number / step).ceil() * step)
}

fn text(schema: &Value) -> String {
    let text = match schema["format"].as_str().unwrap_or_default() {
        "date-time" => "2026-01-01T12:00:00Z",
        "date" => "2026-01-01",
        "time" => "12:00:00Z",
        "duration" => "PT1M",
        "email" | "idn-email" => "someone@example.com",
        "uri" | "iri" | "url" | "uri-reference" => "https://example.com/",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "127.0.0.1",
        "ipv6" => "::1",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        _ => "text",
    };
    let bound = |key: &str| schema[key].as_u64().map(|it| it.min(10_000) as usize);
    let least = bound("minLength").unwrap_or_default();
    let longer = text.chars().chain(std::iter::repeat('x'));
    let length = text.len().max(least).min(bound("maxLength").unwrap_or(usize::MAX));
    longer.take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: Value, expected: Value) {
        assert_eq!(sample(&schema), (expected, None), "{schema}");
    }

    #[test]
    fn uses_the_example_of_the_schema() {
        check(json!({"type": "string", "examples": ["Oslo", "Rome"]}), json!("Oslo"));
        check(json!({"type": "integer", "default": 7}), json!(7));
        check(json!({"enum": ["a", "b"]}), json!("a"));
        check(json!({"const": {"a": 1}}), json!({"a": 1}));
    }

    #[test]
    fn objects_have_the_required_properties() {
        let city = json!({"type": "string"});
        let schema = json!({
            "type": "object", "required": ["city", "days"],
            "properties": {"city": city, "days": {"type": "integer", "minimum": 3}, "units": city},
        });
        check(schema, json!({"city": "text", "days": 3}));
        check(json!({"type": "object"}), json!({}));
    }

    #[test]
    fn respects_bounds_and_formats() {
        check(json!({"type": "string", "minLength": 6, "maxLength": 8}), json!("textxx"));
        check(json!({"type": "string", "maxLength": 2}), json!("te"));
        check(json!({"type": "string", "format": "email"}), json!("someone@example.com"));
        check(json!({"type": "number", "exclusiveMinimum": 10}), json!(11));
        check(json!({"type": "number", "minimum": 1.5}), json!(1.5));
        check(json!({"type": "integer", "multipleOf": 5, "minimum": 12}), json!(15));
        check(json!({"type": "integer", "maximum": -2}), json!(-2));
        check(
            json!({"type": "array", "items": {"type": "boolean"}, "minItems": 2}),
            json!([false, false]),
        );
        check(json!({"type": ["null", "string"]}), json!("text"));
    }

    #[test]
    fn follows_references_and_alternatives() {
        let schema = json!({
            "type": "object", "required": ["a", "b"],
            "properties": {
                "a": {"$ref": "#/$defs/id"},
                "b": {"anyOf": [{"type": "null"}, {"type": "integer"}]},
            },
            "$defs": {"id": {"type": "string", "format": "uuid"}},
        });
        check(schema, json!({"a": "00000000-0000-4000-8000-000000000000", "b": 1}));
        let both = json!({"allOf": [
            {"type": "object", "required": ["a"], "properties": {"a": {"type": "boolean"}}},
            {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}}},
        ]});
        check(both, json!({"a": false, "b": 1}));
    }

    #[test]
    fn reports_mismatches_and_limits_recursion() {
        let (_, why) = sample(&json!({"type": "string", "pattern": "^[0-9]{4}$"}));
        assert!(why.unwrap().contains("does not match"));
        let endless =
            json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}});
        assert!(sample(&endless).1.is_some());
        assert!(sample(&json!({"type": "nonsense"})).1.unwrap().contains("invalid schema"));
    }
}

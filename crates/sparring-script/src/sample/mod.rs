//! Generates sample values for a JSON Schema: its own examples, or else the simplest
//! value of its type.
//!
//! A generated value may not conform. The result then has the reason.

mod budget;
mod pattern;

use serde_json::{Map, Value, json};

use crate::Schema;
use crate::schema::Verdict;

use self::budget::SampleBudget;
use self::pattern::matching_text;

/// The depth limit for recursive schemas.
const MAX_DEPTH: usize = 16;

/// The keywords that imply an object.
const OBJECT_KEYWORDS: [&str; 4] =
    ["properties", "required", "minProperties", "additionalProperties"];

/// The largest number of required items or properties.
const MAX_ITEMS: usize = 100;

/// The largest required length of a text.
const MAX_LENGTH: usize = 10_000;

/// The sample values of a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    /// Different values, the one with the fewest properties first; never empty.
    pub values: Vec<Value>,
    /// The reason if none of them conforms.
    pub mismatch: Option<String>,
}

/// Generates sample values. With `by_name`, the name of a property selects its text: `.`
/// for a `path`, which is harmless only if the value is only read.
pub fn samples(schema: &Value, by_name: bool) -> Samples {
    let all = [Optional::None, Optional::WithExample, Optional::All];
    let mut values: Vec<Value> = Vec::new();
    for optional in all {
        let budget = SampleBudget::default();
        let sampler = Sampler { root: schema, optional, by_name, budget };
        let value = sampler.sample(schema, None, 0);
        if !sampler.budget.is_spent() && !values.contains(&value) {
            values.push(value);
        }
    }
    if values.is_empty() {
        let mismatch = Some("the schema is too complex to sample".to_owned());
        return Samples { values: vec![json!({})], mismatch };
    }
    let mismatch = check(schema, &values[0]);
    let conforming: Vec<Value> =
        values.iter().filter(|value| check(schema, value).is_none()).cloned().collect();
    match conforming.is_empty() {
        true => Samples { values: vec![values.swap_remove(0)], mismatch },
        false => Samples { values: conforming, mismatch: None },
    }
}

/// Returns the reason if a value does not conform.
fn check(schema: &Value, value: &Value) -> Option<String> {
    match Schema::new(schema).map(|schema| schema.check(value, 1)) {
        Ok(Verdict::Valid) => None,
        Ok(Verdict::Invalid(mut found)) => found.pop().map(|mismatch| mismatch.message),
        Ok(Verdict::Undecided(reason)) => Some(reason),
        Err(error) => Some(format!("invalid schema: {error}")),
    }
}

/// The optional properties to include.
#[derive(Clone, Copy, PartialEq)]
enum Optional {
    None,
    /// Those with an example, a default or a list of values.
    WithExample,
    All,
}

struct Sampler<'a> {
    root: &'a Value,
    optional: Optional,
    by_name: bool,
    budget: SampleBudget,
}

impl Sampler<'_> {
    fn sample(&self, schema: &Value, name: Option<&str>, depth: usize) -> Value {
        if depth > MAX_DEPTH || !self.budget.spend_value() {
            return Value::Null;
        }
        if let Some(given) = own_example(schema) {
            return if self.budget.spend_copy(given) { given.clone() } else { Value::Null };
        }
        let next = |schema: &Value| self.sample(schema, name, depth + 1);
        if let Some(pointer) = schema["$ref"].as_str().and_then(|it| it.strip_prefix('#')) {
            return self.root.pointer(pointer).map(next).unwrap_or_default();
        }
        for key in ["anyOf", "oneOf"] {
            let choices = schema[key].as_array().map(Vec::as_slice).unwrap_or_default();
            self.budget.spend(choices.len());
            if let Some(choice) = choices.iter().find(|it| it["type"] != "null") {
                return merge(next(choice), self.sample_type(schema, name, depth));
            }
        }
        let parts = schema["allOf"].as_array().map(Vec::as_slice).unwrap_or_default();
        parts
            .iter()
            .map(next)
            .fold(self.sample_type(schema, name, depth), |value, part| merge(part, value))
    }

    /// A value of the type that a schema names or that its keywords imply.
    fn sample_type(&self, schema: &Value, name: Option<&str>, depth: usize) -> Value {
        let named = match &schema["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).find(|it| *it != "null"),
            named => named.as_str(),
        };
        let has = |key: &str| schema.get(key).is_some();
        match named {
            Some("object") => self.object(schema, depth),
            Some("array") => self.array(schema, name, depth),
            Some("integer") => json!(number(schema).ceil() as i64),
            Some("number") if number(schema).fract() != 0.0 => json!(number(schema)),
            Some("number") => json!(number(schema) as i64),
            Some("boolean") => json!(false),
            Some("null") => Value::Null,
            Some(_) => json!(self.text(schema, name)),
            None if OBJECT_KEYWORDS.into_iter().any(has) => self.object(schema, depth),
            None if has("items") || has("prefixItems") => self.array(schema, name, depth),
            None if ["anyOf", "oneOf", "allOf"].iter().any(|key| has(key)) => Value::Null,
            None => json!(self.text(schema, name)),
        }
    }

    /// An object with the required properties; on the first level also with the selected
    /// optional ones.
    fn object(&self, schema: &Value, depth: usize) -> Value {
        let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        let required = required.iter().filter_map(Value::as_str);
        let properties = schema["properties"].as_object();
        let optional =
            properties.into_iter().flatten().filter(|(_, of_field)| match self.optional {
                _ if depth > 0 => false,
                Optional::None => false,
                Optional::WithExample => own_example(of_field).is_some(),
                Optional::All => true,
            });
        let mut fields = Map::new();
        for name in required.chain(optional.map(|(name, _)| name.as_str())) {
            self.add_field(schema, name, depth, &mut fields);
        }
        let least = limit(schema, "minProperties").unwrap_or_default();
        for name in properties.into_iter().flat_map(Map::keys) {
            if fields.len() < least {
                self.add_field(schema, name, depth, &mut fields);
            }
        }
        let others = schema.get("additionalProperties").unwrap_or(&Value::Null);
        for number in (1..).take_while(|_| *others != Value::Bool(false)) {
            if fields.len() >= least || !self.budget.spend(1) {
                break;
            }
            let name = format!("key{number}");
            fields.entry(name).or_insert_with(|| self.sample(others, None, depth + 1));
        }
        Value::Object(fields)
    }

    fn add_field(&self, schema: &Value, name: &str, depth: usize, fields: &mut Map<String, Value>) {
        if self.budget.spend(name.len() + 1) && !fields.contains_key(name) {
            let of_field = &schema["properties"][name];
            fields.insert(name.to_owned(), self.sample(of_field, Some(name), depth + 1));
        }
    }

    fn array(&self, schema: &Value, name: Option<&str>, depth: usize) -> Value {
        let first = schema["prefixItems"].as_array().map(Vec::as_slice).unwrap_or_default();
        let least = limit(schema, "minItems").unwrap_or_default();
        let rest = (first.len()..least).map(|_| &schema["items"]);
        let is_set = schema["uniqueItems"] == true;
        let mut items: Vec<Value> = Vec::new();
        for of_item in first.iter().chain(rest) {
            let sample = self.sample(of_item, name, depth + 1);
            let others = || {
                self.variants(of_item, &sample)
                    .find(|it| self.budget.spend_copy(it) && !items.contains(it))
            };
            let other = Some(&sample).filter(|it| is_set && items.contains(it));
            let other = other.and_then(|_| others());
            items.push(other.unwrap_or(sample));
        }
        Value::Array(items)
    }

    /// Different values like this sample, for a list of unique items.
    fn variants(&self, schema: &Value, sample: &Value) -> Box<dyn Iterator<Item = Value>> {
        let pointer = schema["$ref"].as_str().and_then(|it| it.strip_prefix('#'));
        let schema = pointer.and_then(|it| self.root.pointer(it)).unwrap_or(schema);
        let given = ["examples", "enum"].into_iter().find_map(|key| schema[key].as_array());
        let numbers = 2..=(MAX_ITEMS as i64 + 1);
        if let Some(given) = given {
            let is_small = given.iter().all(|it| self.budget.spend_copy(it));
            let given = if is_small { given.clone() } else { Vec::new() };
            return Box::new(given.into_iter());
        }
        match sample {
            Value::String(text) => {
                let text = text.clone();
                Box::new(numbers.map(move |number| json!(format!("{text}{number}"))))
            }
            Value::Number(first) => {
                let step = schema["multipleOf"].as_i64().unwrap_or(1);
                let first = first.as_i64().unwrap_or_default();
                Box::new(numbers.map(move |number| json!(first + (number - 1) * step)))
            }
            Value::Bool(_) => Box::new([json!(true)].into_iter()),
            Value::Object(fields) => {
                let Some((name, value)) = fields.iter().next() else {
                    return Box::new(std::iter::empty());
                };
                let (fields, name) = (fields.clone(), name.clone());
                let values = self.variants(&schema["properties"][&name], value);
                Box::new(values.map(move |value| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), value);
                    Value::Object(fields)
                }))
            }
            _ => Box::new(std::iter::empty()),
        }
    }

    fn text(&self, schema: &Value, name: Option<&str>) -> String {
        let least = limit(schema, "minLength").unwrap_or_default();
        let pattern = schema["pattern"].as_str();
        let pattern = pattern.filter(|pattern| self.budget.spend(pattern.len()));
        if let Some(text) = pattern.and_then(|pattern| matching_text(pattern, least)) {
            self.budget.spend(text.len());
            return text;
        }
        let by_format = text_of_format(schema["format"].as_str().unwrap_or_default());
        let by_name = || name.filter(|_| self.by_name).and_then(text_of_name);
        let text = by_format.or_else(by_name).unwrap_or("text");
        let longer = text.chars().chain(std::iter::repeat('x'));
        let length = text.len().max(least).min(limit(schema, "maxLength").unwrap_or(usize::MAX));
        if !self.budget.spend(length) {
            return String::new();
        }
        longer.take(length).collect()
    }
}

/// The example that a schema contains. `example` is OpenAPI's word. A default of `null`
/// only means that there is no default.
fn own_example(schema: &Value) -> Option<&Value> {
    let first = |key: &str| schema[key].as_array().and_then(|values| values.first());
    let own = |key: &str| schema.get(key);
    let default = own("default").filter(|value| !value.is_null());
    let example = first("examples").or(own("example"));
    example.or(default).or(own("const")).or(first("enum"))
}

/// A text of a `format`.
fn text_of_format(format: &str) -> Option<&'static str> {
    Some(match format {
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
        _ => return None,
    })
}

/// A text for a property without a format, by its name.
fn text_of_name(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let ends = |words: &[&str]| words.iter().any(|word| name.ends_with(word));
    Some(match &*name {
        _ if ends(&["timezone", "time_zone"]) || name == "tz" => "UTC",
        _ if ends(&["email"]) => "someone@example.com",
        _ if ends(&["url", "uri"]) => "https://example.com/",
        _ if ends(&["update"]) => return None,
        _ if ends(&["date"]) => "2026-01-01",
        _ if ends(&["time"]) => "12:00",
        _ if ends(&["path", "directory", "folder", "cwd"]) || name == "dir" => ".",
        _ if ends(&["language", "locale", "lang"]) => "en",
        _ => return None,
    })
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

/// A limit of a length, at most [`MAX_ITEMS`] for lists and objects.
fn limit(schema: &Value, key: &str) -> Option<usize> {
    let most = if key.ends_with("Length") { MAX_LENGTH } else { MAX_ITEMS };
    schema[key].as_u64().map(|it| usize::try_from(it).unwrap_or(most).min(most))
}

/// 1, or the nearest number within the bounds; the middle of bounds that are close together.
fn number(schema: &Value) -> f64 {
    let of = |key: &str| schema[key].as_f64();
    let step = of("multipleOf").filter(|step| *step > 0.0);
    let unit = step.unwrap_or(1.0);
    let (above, below) = (of("exclusiveMinimum"), of("exclusiveMaximum"));
    let least = above.map(|it| it + unit).into_iter().chain(of("minimum")).reduce(f64::max);
    let most = below.map(|it| it - unit).into_iter().chain(of("maximum")).reduce(f64::min);
    let mut number = unit;
    number = least.map_or(number, |least| number.max(least));
    number = most.map_or(number, |most| number.min(most));
    let low = above.into_iter().chain(of("minimum")).reduce(f64::max);
    let high = below.into_iter().chain(of("maximum")).reduce(f64::min);
    if let (Some(low), Some(high)) = (low, high)
        && (above.is_some_and(|above| number <= above) || number < low)
    {
        number = f64::midpoint(low, high);
    }
    step.map_or(number, |step| (number / step).ceil() * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: Value, expected: Value) {
        let samples = samples(&schema, false);
        assert_eq!((&samples.values[0], samples.mismatch), (&expected, None), "{schema}");
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
    fn respects_bounds_that_are_close_together() {
        let bounds = |least: f64, most: f64| json!({"type": "number", "exclusiveMinimum": least, "exclusiveMaximum": most});
        check(bounds(0.0, 1.0), json!(0.5));
        check(bounds(0.0, 2.0), json!(1));
        check(bounds(-3.0, -2.0), json!(-2.5));
        check(json!({"type": "number", "minimum": 0, "exclusiveMaximum": 0.5}), json!(0.25));
        check(
            json!({"type": "integer", "exclusiveMinimum": 1.5, "exclusiveMaximum": 2.5}),
            json!(2),
        );
    }

    #[test]
    fn respects_lengths_of_patterns_and_of_objects_and_unique_items() {
        check(json!({"type": "string", "pattern": "^[a-z]+$", "minLength": 3}), json!("aaa"));
        check(json!({"type": "string", "pattern": "^(ab)*c?$", "minLength": 4}), json!("ababc"));
        let set = |items: Value| json!({"type": "array", "uniqueItems": true, "minItems": 3, "items": items});
        check(set(json!({"type": "string"})), json!(["text", "text2", "text3"]));
        check(set(json!({"type": "integer", "minimum": 5})), json!([5, 6, 7]));
        check(set(json!({"enum": ["a", "b", "c"]})), json!(["a", "b", "c"]));
        let item = json!({"required": ["a"], "properties": {"a": {"type": "string"}}});
        check(set(item), json!([{"a": "text"}, {"a": "text2"}, {"a": "text3"}]));
        let map = json!({"minProperties": 2, "additionalProperties": {"type": "integer"}});
        let schema = json!({"required": ["m"], "properties": {"m": map}});
        check(schema, json!({"m": {"key1": 1, "key2": 1}}));
        let schema =
            json!({"type": "object", "minProperties": 1, "properties": {"a": {"type": "boolean"}}});
        check(schema, json!({"a": false}));
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
        let mismatch = |schema: Value| samples(&schema, false).mismatch.unwrap_or_default();
        let pattern = json!({"type": "string", "pattern": "^(?=1)[0-9]{4}$"});
        assert!(mismatch(pattern).contains("does not match"));
        let endless =
            json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}});
        assert!(!mismatch(endless).is_empty());
        assert!(mismatch(json!({"type": "nonsense"})).contains("invalid schema"));
    }

    #[test]
    fn gives_up_on_schemas_whose_values_multiply() {
        let mut nested = json!({"type": "string", "minLength": 1000});
        for _ in 0..12 {
            nested = json!({"type": "array", "minItems": 10, "items": nested});
        }
        let names: Vec<String> = ('a'..='z').map(String::from).collect();
        let fields = names.iter().map(|name| (name.clone(), json!({"$ref": "#"}))).collect();
        let wide =
            json!({"type": "object", "required": names, "properties": Value::Object(fields)});
        let long = json!({"$defs": {"long": {"const": "x".repeat(10_000)}}, "type": "array",
            "minItems": 100, "items": {"$ref": "#/$defs/long"}});
        let repeated = json!({"type": "array", "minItems": 100, "items": {"$ref": "#/$defs/a"},
            "$defs": {"a": {"type": "object", "required": vec!["a"; 100_000]}}});
        for schema in [nested, wide, long, repeated] {
            let Samples { values, mismatch } = samples(&schema, true);
            assert_eq!(values, [json!({})]);
            assert_eq!(mismatch.as_deref(), Some("the schema is too complex to sample"));
        }
        let large = json!({"type": "array", "minItems": 100, "items": {"minLength": 1000}});
        assert_eq!(samples(&large, false).mismatch, None);
    }

    #[test]
    fn adds_optional_properties_in_further_samples() {
        let schema = json!({
            "type": "object", "required": ["a"],
            "properties": {
                "a": {"type": "string", "pattern": "^[0-9]{2}$"},
                "b": {"type": "string", "examples": ["x"]},
                "c": {"type": "boolean"},
                "d": {"type": "string", "default": null},
            },
        });
        let expected = [
            json!({"a": "11"}),
            json!({"a": "11", "b": "x"}),
            json!({"a": "11", "b": "x", "c": false, "d": "text"}),
        ];
        assert_eq!(samples(&schema, false).values, expected);
    }

    #[test]
    fn leaves_out_samples_that_do_not_conform() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"type": "string", "pattern": "(?=b)a"}},
        });
        assert_eq!(samples(&schema, false), Samples { values: vec![json!({})], mismatch: None });
    }

    #[test]
    fn chooses_texts_by_the_name_of_a_property_only_if_asked() {
        let names = ["path", "repo_path", "timezone", "startDate", "time", "url", "last_update"];
        let texts = [".", ".", "UTC", "2026-01-01", "12:00", "https://example.com/", "text"];
        for (name, text) in names.into_iter().zip(texts) {
            let schema = json!({"required": [name], "properties": {name: {"type": "string"}}});
            assert_eq!(samples(&schema, true).values, [json!({name: text})]);
            assert_eq!(samples(&schema, false).values, [json!({name: "text"})]);
        }
    }
}

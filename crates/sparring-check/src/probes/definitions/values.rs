//! The values that a schema names or allows: enums, limits, defaults and examples.

use std::collections::HashSet;

use serde_json::Value;
use sparring_script::Schema;
use sparring_script::schema::Verdict;
use sparring_wire::Rule;

/// Pairs of keywords of which the first must not be above the second.
const LIMITS: [(&str, &str); 4] = [
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
];

/// Returns the problem of an `enum` without values, or with a repeated value.
pub(super) fn enum_problem(schema: &Value) -> Option<String> {
    let values = schema["enum"].as_array()?;
    if values.is_empty() {
        return Some("expected a value in `enum`; the list is empty".to_owned());
    }
    let mut known = HashSet::new();
    let repeated = values.iter().find(|value| !known.insert(value.to_string()));
    repeated.map(|value| format!("expected each value of `enum` once; {value} is repeated"))
}

/// Returns the reason why a schema allows no value.
pub(super) fn impossible(schema: &Value) -> Option<String> {
    let number = |key: &str| schema[key].as_f64();
    let above = |least: &str, most: &str| {
        format!("expected limits that allow a value; `{least}` is above `{most}`")
    };
    for (least, most) in LIMITS {
        if number(least).zip(number(most)).is_some_and(|(least, most)| least > most) {
            return Some(above(least, most));
        }
    }
    range_problem(schema).or_else(|| fixed_value_problem(schema)).or_else(|| {
        let required = schema["required"].as_array()?.iter().filter_map(Value::as_str);
        let mut impossible = required.filter(|name| schema["properties"][*name] == false);
        let name = impossible.next()?;
        Some(format!("expected properties that allow a value; {name:?} is required and `false`"))
    })
}

fn range_problem(schema: &Value) -> Option<String> {
    let number = |key: &str| schema[key].as_f64();
    let limits = |least: &'static str, most: &'static str, is_bad: fn(f64, f64) -> bool| {
        let (low, high) = number(least).zip(number(most))?;
        is_bad(low, high).then(|| {
            format!("expected limits that allow a value; `{least}` is {low} and `{most}` is {high}")
        })
    };
    let at_least = |low, high| low >= high;
    limits("minimum", "maximum", |low, high| low > high)
        .or_else(|| limits("exclusiveMinimum", "maximum", at_least))
        .or_else(|| limits("minimum", "exclusiveMaximum", at_least))
        .or_else(|| limits("exclusiveMinimum", "exclusiveMaximum", at_least))
        .or_else(|| {
            let is_integer = schema["type"] == "integer";
            let no_integer = |low: f64, high: f64| low.ceil() > high.floor();
            is_integer.then(|| limits("minimum", "maximum", no_integer)).flatten()
        })
}

/// Returns the problem of values that all have another type than the schema.
fn fixed_value_problem(schema: &Value) -> Option<String> {
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let fits = |value: &Value| types.iter().any(|name| has_type(value, name));
    if let Some(value) = schema.get("const").filter(|value| !fits(value)) {
        return Some(format!("expected a `const` of the schema's type; {value} has another"));
    }
    let values = schema["enum"].as_array().filter(|values| !values.is_empty())?;
    let none_fits = !values.iter().any(fits);
    none_fits.then(|| "expected values of the schema's type in `enum`; none has it".to_owned())
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.as_f64().is_some_and(|it| it.fract() == 0.0),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

/// Returns the broken rules of a `default` and of `examples`. A default of `null` only means
/// that there is no default.
pub(super) fn example_problems(root: &Value, schema: &Value) -> Vec<(Rule, String)> {
    let default = schema.get("default").filter(|value| !value.is_null());
    let examples = schema["examples"].as_array().map(Vec::as_slice).unwrap_or_default();
    if default.is_none() && examples.is_empty() {
        return Vec::new();
    }
    let Ok(compiled) = Schema::new(&with_definitions(root, schema)) else { return Vec::new() };
    let given = default.into_iter().map(|value| (Rule::WrongDefault, "a default", value));
    let given = given.chain(examples.iter().map(|value| (Rule::WrongExample, "an example", value)));
    let mut found = Vec::new();
    for (rule, kind, value) in given {
        if let Verdict::Invalid(mismatches) = compiled.check(value, 1) {
            let reason = mismatches.first().map(|it| it.message.clone()).unwrap_or_default();
            let expected = format!("expected {kind} that conforms to its schema");
            found.push((rule, format!("{expected}; {value} does not: {reason}")));
        }
    }
    found
}

/// Returns a part of a schema with the definitions of the whole.
fn with_definitions(root: &Value, schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(members) = schema.as_object_mut() {
        for key in ["$schema", "$defs", "definitions"] {
            if let Some(value) = root.get(key).filter(|_| !members.contains_key(key)) {
                members.insert(key.to_owned(), value.clone());
            }
        }
    }
    schema
}

//! Arguments that break the input schema of a tool so clearly that no server accepts them by
//! converting them: a missing required argument, an object for a text, a fraction for an integer,
//! a text that is not in a list of values.
//!
//! Servers convert a lot: `"5"` to 5, 5 to `"5"`, one value to a list of one, almost anything
//! to a boolean, and `null` often means that an argument is missing. None of that is tried.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use sparring_script::sample::samples;
use sparring_wire::Rule;

use super::cases::Cases;
use super::schema_parts::{alternatives, merged, properties, required, types};

/// The number of wrong arguments of one kind for one tool.
const MAX_OF_KIND: usize = 12;

/// The depth of wrong values in objects and arrays.
const MAX_DEPTH: usize = 2;

/// The time to make the wrong arguments of one tool, which a hostile schema can exhaust.
const SEARCH_TIME: Duration = Duration::from_millis(500);

/// The longest text and array that are too long on purpose.
const MAX_LENGTH: u64 = 20_000;
const MAX_ITEMS: u64 = 1_000;

/// A text that no server expects.
const UNEXPECTED: &str = "sparring-unexpected";

/// A number that no server expects.
const UNEXPECTED_NUMBER: i64 = 987_654_321;

/// A number that is no integer.
const UNEXPECTED_FRACTION: f64 = 1.5;

/// The way in which arguments are wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WrongKind {
    /// A required argument is missing.
    Missing,
    /// A value has another type.
    Type,
    /// A boolean has another type. Some servers take any value for a boolean.
    BooleanType,
    /// A value is not one of those that are listed.
    Choice,
    /// A value is outside of the limits.
    Limit,
    /// There is an argument that the schema forbids.
    Extra,
    /// There is an argument that the schema does not declare. A server may accept it.
    Undeclared,
}

/// Wrong arguments.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wrong {
    pub(super) kind: WrongKind,
    /// The mistake, for messages: `without the required argument "a"`.
    pub(super) mistake: String,
    pub(super) arguments: Value,
}

impl WrongKind {
    /// Returns the rule that a server breaks if it accepts such arguments.
    pub(super) fn rule(self) -> Option<Rule> {
        Some(match self {
            WrongKind::Missing | WrongKind::Type | WrongKind::BooleanType | WrongKind::Choice => {
                Rule::InvalidArgumentsAccepted
            }
            WrongKind::Limit => Rule::ArgumentLimitIgnored,
            WrongKind::Extra => Rule::ExtraArgumentAccepted,
            WrongKind::Undeclared => return None,
        })
    }
}

/// Returns wrong arguments, made from good ones.
pub(super) fn wrong_arguments(cases: &Cases, good: &Value) -> Vec<Wrong> {
    if !good.is_object() || !cases.is_valid(good) {
        return Vec::new();
    }
    let root = cases.schema();
    let mut collector =
        Collector { root, cases, end: Instant::now() + SEARCH_TIME, found: Vec::new() };
    collector.members(root, good, "", 0, &|value| value);
    collector.extra(good);
    let mut found = collector.found;
    if found.iter().any(|it| it.kind == WrongKind::Type) {
        found.retain(|it| it.kind != WrongKind::BooleanType);
    }
    found
}

struct Collector<'a> {
    root: &'a Value,
    cases: &'a Cases,
    end: Instant,
    found: Vec<Wrong>,
}

/// Puts a value into the arguments.
type Put<'a> = &'a dyn Fn(Value) -> Value;

impl Collector<'_> {
    fn add(&mut self, kind: WrongKind, mistake: String, arguments: Value) {
        let count = self.found.iter().filter(|it| it.kind == kind).count();
        if count < MAX_OF_KIND && self.cases.is_invalid(&arguments) {
            self.found.push(Wrong { kind, mistake, arguments });
        }
    }

    /// Adds wrong members of an object.
    fn members(&mut self, schema: &Value, good: &Value, place: &str, depth: usize, put: Put<'_>) {
        let Some(schema) = merged(self.root, schema) else { return };
        let required = required(&schema);
        for name in &required {
            if Instant::now() > self.end {
                return;
            }
            let of_member = &schema.get("properties").unwrap_or(&Value::Null)[*name];
            if let Some(object) = good.as_object().filter(|_| !self.can_be_missing(of_member)) {
                let mut object = object.clone();
                object.shift_remove(*name);
                let mistake = format!("without the required argument \"{}\"", join(place, name));
                self.add(WrongKind::Missing, mistake, put(Value::Object(object)));
            }
        }
        for (name, of_member) in properties(&schema) {
            if Instant::now() > self.end {
                return;
            }
            let put_member = |value: Value| {
                let mut object = good.as_object().cloned().unwrap_or_default();
                object.insert(name.clone(), value);
                put(Value::Object(object))
            };
            let place = join(place, name);
            self.value(of_member, good.get(name), &place, depth, &put_member);
        }
    }

    /// Adds wrong values in the place of one value.
    fn value(
        &mut self,
        schema: &Value,
        good: Option<&Value>,
        place: &str,
        depth: usize,
        put: Put<'_>,
    ) {
        let Some(flat) = merged(self.root, schema) else { return };
        self.wrong_types(&flat, place, put);
        self.wrong_choice(&flat, place, put);
        let has_alternatives = alternatives(self.root, &flat).first() != Some(&flat);
        if has_alternatives || flat.contains_key("enum") || flat.contains_key("const") {
            return;
        }
        let good = good.cloned().unwrap_or_else(|| self.sample(&flat));
        self.limits(&flat, &good, place, put);
        if depth >= MAX_DEPTH {
            return;
        }
        match types(&flat)[..] {
            ["object"] if good.is_object() => {
                self.members(&Value::Object(flat), &good, place, depth + 1, put);
            }
            ["array"] => {
                if let Some(items) = flat.get("items").filter(|it| it.is_object()) {
                    let put_item = |value: Value| put(json!([value]));
                    self.value(items, None, &format!("{place}[0]"), depth + 1, &put_item);
                }
            }
            _ => {}
        }
    }

    /// Adds values of a type from which no server converts.
    fn wrong_types(&mut self, schema: &Map<String, Value>, place: &str, put: Put<'_>) {
        let Some(accepted) = self.accepted_types(schema, 0) else { return };
        let accepts = |name: &str| accepted.contains(name);
        let mut wrong = Vec::new();
        match (accepts("array"), accepts("object")) {
            (false, false) => wrong.push(("an object", json!({"sparring": UNEXPECTED}))),
            (true, false) => wrong.push(("an object", json!({"sparring": UNEXPECTED}))),
            (_, true) => {}
        }
        // A number may be converted to a text or a boolean.
        if (accepts("array") || accepts("object")) && !accepts("string") && !accepts("boolean") {
            wrong.push(("a number", json!(UNEXPECTED_NUMBER)));
        }
        let is_number = accepts("number") || accepts("integer");
        if is_number && !accepts("string") {
            wrong.push(("a text", json!(UNEXPECTED)));
        }
        if accepts("integer") && !accepts("number") && !accepts("string") {
            wrong.push(("a fraction", json!(UNEXPECTED_FRACTION)));
        }
        let kind = match accepts("boolean") && accepted.len() == 1 {
            true => WrongKind::BooleanType,
            false => WrongKind::Type,
        };
        let mut has_one = false;
        for (what, value) in wrong {
            // Also a list with this value must be wrong: some servers make one.
            let is_wrong = |value: Value| self.cases.is_invalid(&put(value));
            let is_second_choice = what == "a number" && has_one;
            if is_second_choice || !is_wrong(value.clone()) || !is_wrong(json!([value])) {
                continue;
            }
            has_one = true;
            let expected: Vec<&str> = accepted.iter().map(|it| &**it).collect();
            let expected = expected.join(" or ");
            let mistake = format!("with {what} for \"{place}\", which has the type {expected}");
            self.add(kind, mistake, put(value));
        }
    }

    /// Adds a value that is not listed.
    fn wrong_choice(&mut self, schema: &Map<String, Value>, place: &str, put: Put<'_>) {
        let is_listed = schema.contains_key("enum") || schema.contains_key("const");
        let Some(accepted) = self.accepted_types(schema, 0).filter(|_| is_listed) else { return };
        let wrong = match accepted.iter().all(|it| it == "integer" || it == "number") {
            true => json!(UNEXPECTED_NUMBER),
            false if accepted.contains("boolean") => return,
            false => json!(UNEXPECTED),
        };
        let mistake = format!("with {wrong} for \"{place}\", which is not in its list of values");
        self.add(WrongKind::Choice, mistake, put(wrong));
    }

    /// Adds values just outside of the limits.
    fn limits(&mut self, schema: &Map<String, Value>, good: &Value, place: &str, put: Put<'_>) {
        let of = |key: &str| schema.get(key).and_then(Value::as_f64);
        let size = |key: &str| schema.get(key).and_then(Value::as_u64);
        let mut wrong: Vec<(String, Value)> = Vec::new();
        let mut add = |key: &str, value: Value| {
            wrong.push((format!("that breaks `{key}` of \"{place}\""), value));
        };
        match types(schema)[..] {
            ["integer" | "number"] => {
                let exact = [("minimum", -1.0), ("maximum", 1.0)];
                let exclusive = [("exclusiveMinimum", 0.0), ("exclusiveMaximum", 0.0)];
                for (key, further) in exact.into_iter().chain(exclusive) {
                    // Larger limits are those of a type.
                    if let Some(limit) = of(key).filter(|it| it.abs() < 1e15) {
                        add(key, number(limit + further));
                    }
                }
            }
            ["string"] => {
                if let Some(least) = size("minLength").filter(|it| (1..=MAX_LENGTH).contains(it)) {
                    add("minLength", json!("a".repeat(least as usize - 1)));
                }
                if let Some(most) = size("maxLength").filter(|it| *it <= MAX_LENGTH) {
                    add("maxLength", json!("a".repeat(most as usize + 1)));
                }
                if schema.contains_key("pattern") {
                    let texts = ["—sparring—", "sparring unexpected!", "0"].map(|it| json!(it));
                    let wrong =
                        texts.into_iter().find(|it| self.cases.is_invalid(&put(it.clone())));
                    wrong.into_iter().for_each(|it| add("pattern", it));
                }
            }
            ["array"] => {
                let items = good.as_array().cloned().unwrap_or_default();
                let item = items.first().cloned().unwrap_or_else(|| {
                    self.sample_of(schema.get("items").unwrap_or(&Value::Bool(true)))
                });
                let repeated = |count: u64| Value::Array(vec![item.clone(); count as usize]);
                if let Some(least) = size("minItems").filter(|it| (1..=MAX_ITEMS).contains(it)) {
                    add("minItems", repeated(least - 1));
                }
                if let Some(most) = size("maxItems").filter(|it| *it <= MAX_ITEMS) {
                    add("maxItems", repeated(most + 1));
                }
            }
            _ => {}
        }
        for (mistake, value) in wrong {
            self.add(WrongKind::Limit, format!("with a value {mistake}"), put(value));
        }
    }

    /// Adds an argument that the schema forbids or does not declare.
    fn extra(&mut self, good: &Value) {
        let Some(flat) = merged(self.root, self.root) else { return };
        let mut arguments = good.clone();
        arguments["sparringUnexpected"] = json!(UNEXPECTED);
        let keys = ["additionalProperties", "unevaluatedProperties"];
        match keys.into_iter().find(|key| flat.get(*key) == Some(&Value::Bool(false))) {
            Some(key) => {
                let mistake = format!("with an argument that `{key}: false` forbids");
                self.add(WrongKind::Extra, mistake, arguments);
            }
            None => self.found.push(Wrong {
                kind: WrongKind::Undeclared,
                mistake: "with an argument that the input schema does not declare".to_owned(),
                arguments,
            }),
        }
    }

    /// Returns true if a server may well accept that a member is missing: it has a default, or
    /// `null` stands for it.
    fn can_be_missing(&self, schema: &Value) -> bool {
        let Some(flat) = merged(self.root, schema) else { return true };
        let accepted = self.accepted_types(&flat, 0);
        flat.contains_key("default") || accepted.is_some_and(|it| it.contains("null"))
    }

    /// Returns the types that a schema names. Returns `None` if it does not name all.
    fn accepted_types(
        &self,
        schema: &Map<String, Value>,
        depth: usize,
    ) -> Option<BTreeSet<String>> {
        let listed = schema.get("enum").and_then(Value::as_array).cloned();
        let listed = listed.or_else(|| schema.get("const").map(|it| vec![it.clone()]));
        if let Some(values) = listed {
            return Some(values.iter().map(|value| type_name(value).to_owned()).collect());
        }
        if schema.contains_key("type") {
            return Some(types(schema).into_iter().map(str::to_owned).collect());
        }
        let choices = alternatives(self.root, schema);
        if depth > MAX_DEPTH || choices.is_empty() || choices.first() == Some(schema) {
            return None;
        }
        let mut all = BTreeSet::new();
        for choice in choices {
            all.extend(self.accepted_types(&choice, depth + 1)?);
        }
        Some(all)
    }

    fn sample(&self, schema: &Map<String, Value>) -> Value {
        self.sample_of(&Value::Object(schema.clone()))
    }

    /// Returns a simple value of a part of the schema.
    fn sample_of(&self, schema: &Value) -> Value {
        let mut schema = schema.clone();
        if let Some(keywords) = schema.as_object_mut() {
            for key in ["$defs", "definitions"] {
                if let Some(definitions) = self.root.get(key) {
                    keywords.insert(key.to_owned(), definitions.clone());
                }
            }
        }
        samples(&schema, false).values.swap_remove(0)
    }
}

fn join(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}

fn number(value: f64) -> Value {
    let is_integer = value.fract() == 0.0 && value.abs() < 1e15;
    if is_integer { json!(value as i64) } else { json!(value) }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns true if the text of a result says that the call failed. Some servers do not mark
/// such results with `isError`.
pub(super) fn looks_like_refusal(text: &str) -> bool {
    const BEGINNINGS: [&str; 20] = [
        "error",
        "invalid",
        "missing",
        "fail",
        "validation",
        "input validation",
        "required",
        "expected",
        "unknown",
        "could not",
        "cannot",
        "can't",
        "unable",
        "bad ",
        "no ",
        "not ",
        "please",
        "sorry",
        "unsupported",
        "usage",
    ];
    const PARTS: [&str; 12] = [
        "error:",
        "is required",
        "must be",
        "must provide",
        "must have",
        "validation error",
        "invalid argument",
        "\"error\"",
        "\"success\":false",
        "\"success\": false",
        "\"ok\":false",
        "\"ok\": false",
    ];
    let text = text.to_lowercase();
    let start = text.trim_start_matches(|c: char| !c.is_alphabetic());
    BEGINNINGS.iter().any(|it| start.starts_with(it)) || PARTS.iter().any(|it| text.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(schema: Value, good: Value) -> Vec<(WrongKind, Value)> {
        let cases = Cases::new(&schema, &good, 0).unwrap();
        let wrong = wrong_arguments(&cases, &good);
        wrong.into_iter().map(|it| (it.kind, it.arguments)).collect()
    }

    #[test]
    fn breaks_one_thing_at_a_time() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": {"type": "string", "maxLength": 3},
                "b": {"type": "integer", "minimum": 2},
                "c": {"enum": ["x", "y"]},
            },
            "required": ["a"],
            "additionalProperties": false,
        });
        let object = json!({"sparring": UNEXPECTED});
        let expected = [
            (WrongKind::Missing, json!({})),
            (WrongKind::Type, json!({"a": object})),
            (WrongKind::Limit, json!({"a": "aaaa"})),
            (WrongKind::Type, json!({"a": "t", "b": object})),
            (WrongKind::Type, json!({"a": "t", "b": UNEXPECTED})),
            (WrongKind::Type, json!({"a": "t", "b": UNEXPECTED_FRACTION})),
            (WrongKind::Limit, json!({"a": "t", "b": 1})),
            (WrongKind::Type, json!({"a": "t", "c": object})),
            (WrongKind::Choice, json!({"a": "t", "c": UNEXPECTED})),
            (WrongKind::Extra, json!({"a": "t", "sparringUnexpected": UNEXPECTED})),
        ];
        assert_eq!(wrong(schema, json!({"a": "t"})), expected);
    }

    #[test]
    fn leaves_out_what_servers_convert() {
        let of = |schema: Value| {
            let schema = json!({"properties": {"a": schema}, "required": ["a"]});
            let kinds = wrong(schema, json!({"a": []})).into_iter();
            let kinds = kinds.filter(|(kind, _)| *kind != WrongKind::Undeclared);
            kinds.map(|(_, value)| value).collect::<Vec<_>>()
        };
        assert_eq!(of(json!({})), [json!({})]);
        assert!(of(json!({"type": ["array", "null"], "items": {}})).is_empty());
        let list = json!({"type": "array", "items": {"type": "object"}, "default": []});
        assert_eq!(of(list)[0], json!({"a": UNEXPECTED_NUMBER}));
    }

    #[test]
    fn looks_into_objects_and_arrays() {
        let schema = json!({
            "type": "object",
            "$defs": {"point": {
                "type": "object",
                "properties": {"x": {"type": "number"}},
                "required": ["x"],
            }},
            "properties": {"points": {"type": "array", "items": {"$ref": "#/$defs/point"}}},
        });
        let found = wrong(schema, json!({}));
        assert!(found.contains(&(WrongKind::Missing, json!({"points": [{}]}))), "{found:?}");
        let object = json!({"points": [{"x": {"sparring": UNEXPECTED}}]});
        assert!(found.contains(&(WrongKind::Type, object)), "{found:?}");
    }

    #[test]
    fn recognizes_results_that_say_that_the_call_failed() {
        for text in ["Error: no a", "❌ Invalid input", "{\"error\": \"no a\"}", "a is required"] {
            assert!(looks_like_refusal(text), "{text}");
        }
        assert!(!looks_like_refusal("The terror of errors"));
    }
}

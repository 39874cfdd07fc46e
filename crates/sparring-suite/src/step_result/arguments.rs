//! Arguments of a call that the input schema of its tool does not have.

use serde_json::Value;
use sparring_script::{Pattern, Span, did_you_mean};

/// The keys of a step or a test that are easily indented below `with` by mistake. They would
/// be sent as arguments and have no effect.
pub(crate) const STEP_KEYS: [&str; 4] = ["expect", "save", "answer", "steps"];

/// The keywords whose schemas can declare further properties of the same object.
const COMBINATORS: [&str; 10] = [
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "$defs",
    "definitions",
    "not",
];

/// An argument that the input schema of the called tool does not have.
#[derive(Debug)]
pub(crate) struct UnknownArgument {
    pub(crate) name: String,
    /// The position of the name in the suite.
    pub(crate) span: Span,
    pub(crate) tool: String,
    /// A suggestion of declared properties.
    pub(crate) suggestion: Option<String>,
}

impl UnknownArgument {
    /// Finds the arguments that the input schema of a tool does not have. A schema that allows
    /// any properties has all arguments, except the keys of a step.
    pub(crate) fn find(
        names: &[(String, Span)],
        tool: &str,
        schema: Option<&Value>,
    ) -> Vec<UnknownArgument> {
        let is_known = |name: &str| schema.is_some_and(|schema| declares(schema, name));
        let is_closed = schema.is_some_and(|schema| !allows_any(schema));
        let unknown = names
            .iter()
            .filter(|(name, _)| !is_known(name) && (STEP_KEYS.contains(&&**name) || is_closed));
        let unknown = unknown.map(|(name, span)| UnknownArgument {
            name: name.clone(),
            span: *span,
            tool: tool.to_owned(),
            suggestion: schema.and_then(|schema| did_you_mean(name, properties(schema))),
        });
        unknown.collect()
    }

    /// Returns true if it is a key of the step itself.
    pub(crate) fn is_misplaced(&self) -> bool {
        STEP_KEYS.contains(&&*self.name)
    }
}

/// Returns true if a schema declares a property, itself or in a schema that it combines.
fn declares(schema: &Value, name: &str) -> bool {
    let patterns = schema["patternProperties"].as_object();
    let matches =
        |pattern: &String| Pattern::new(pattern).is_ok_and(|it| it.is_match(name) != Ok(false));
    schema["properties"].get(name).is_some()
        || patterns.is_some_and(|patterns| patterns.keys().any(matches))
        || COMBINATORS.iter().any(|keyword| match &schema[*keyword] {
            Value::Array(schemas) => schemas.iter().any(|schema| declares(schema, name)),
            Value::Object(map) => {
                declares(&schema[*keyword], name) || map.values().any(|it| declares(it, name))
            }
            _ => false,
        })
}

/// Returns true if a schema says nothing about the names of properties, or allows others.
fn allows_any(schema: &Value) -> bool {
    let others = schema.get("additionalProperties").or(schema.get("unevaluatedProperties"));
    match others {
        Some(Value::Bool(false)) => false,
        Some(_) => true,
        None => {
            let combines = |keyword: &&str| schema.get(*keyword).is_some();
            schema["properties"].as_object().is_none_or(serde_json::Map::is_empty)
                || schema.get("$ref").is_some()
                || COMBINATORS.iter().any(combines)
        }
    }
}

/// The names of the declared properties.
fn properties(schema: &Value) -> impl Iterator<Item = &str> {
    schema["properties"].as_object().into_iter().flat_map(|map| map.keys().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks which of these arguments a schema does not have.
    #[track_caller]
    fn check(schema: Option<Value>, expected: &[&str]) {
        let names = ["city", "expect", "save"].map(|name| (name.to_owned(), Span::default()));
        let found = UnknownArgument::find(&names, "get", schema.as_ref());
        let found: Vec<&str> = found.iter().map(|it| &*it.name).collect();
        assert_eq!(found, expected, "{schema:?}");
    }

    #[test]
    fn keys_of_a_step_must_be_declared_and_other_arguments_need_not_if_the_schema_is_open() {
        check(None, &["expect", "save"]);
        check(Some(json!({"type": "object"})), &["expect", "save"]);
        check(Some(json!({"properties": {"a": {}}})), &["city", "expect", "save"]);
        check(Some(json!({"properties": {"city": {}, "expect": {}}})), &["save"]);
        check(Some(json!({"additionalProperties": true})), &["expect", "save"]);
        check(Some(json!({"additionalProperties": false})), &["city", "expect", "save"]);
        check(Some(json!({"allOf": [{"properties": {"save": {}}}]})), &["expect"]);
        check(
            Some(json!({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"expect": {}}}}})),
            &["save"],
        );
        check(Some(json!({"patternProperties": {"^exp": {}}})), &["save"]);
        check(
            Some(json!({"properties": {"a": {"properties": {"save": {}}}}})),
            &["city", "expect", "save"],
        );
    }
}

//! The JSON Schema for editors and the parser accept the same suites.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::fixture::read;
use crate::mutations::{keys, mutations, properties};

const EVERY_KEY: &str = include_str!("../every_key.spar.yaml");

fn schema() -> jsonschema::Validator {
    jsonschema::validator_for(&sparring_suite::schema()).unwrap()
}

fn value(text: &str) -> Value {
    let source = sparring_script::Source::new("a.yaml", text);
    sparring_script::Node::parse(&source).unwrap().to_json()
}

#[test]
fn schema_and_parser_accept_every_key() {
    let suite = value(EVERY_KEY);
    let wrong: Vec<String> = schema().iter_errors(&suite).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    read(EVERY_KEY).unwrap_or_else(|problems| panic!("{problems}"));
    // Each key must occur in the suite.
    let mut used = BTreeSet::new();
    keys(&suite, &mut used);
    let mut known = BTreeSet::new();
    properties(&sparring_suite::schema(), &mut known);
    let snake = |key: &&String| sparring_script::casing::to_snake_case(key) == **key;
    let untried: Vec<_> = known.iter().filter(snake).filter(|key| !used.contains(*key)).collect();
    // `turns` needs exactly one LLM endpoint, and an endpoint has one API.
    assert_eq!(untried, ["anthropic", "gemini"]);
}

#[test]
fn schema_and_parser_refuse_the_same_shapes() {
    let schema = schema();
    let mut refused = 0;
    for (place, changed) in mutations(&value(EVERY_KEY)) {
        let by_schema = !schema.is_valid(&changed);
        let problems = read(&changed.to_string()).err();
        assert!(!by_schema || problems.is_some(), "only the schema refuses {place}");
        let problems = problems.unwrap_or_default();
        let by_shape = problems.contains("unknown key") || problems.contains("missing key");
        assert!(!by_shape || by_schema, "only the parser refuses {place}: {problems}");
        refused += usize::from(by_schema);
    }
    assert!(refused > 60, "{refused}");
}

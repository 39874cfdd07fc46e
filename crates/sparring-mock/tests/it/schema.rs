//! The JSON Schema for editors and the parser accept the same scripts.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sparring_mock::{MockServer, Settings};
use sparring_script::Problems;

use crate::examples::all as examples;
use crate::mutations::{keys, mutations, properties};

const EVERY_KEY: &str = include_str!("../every_key.mock.yaml");

fn schema() -> jsonschema::Validator {
    jsonschema::validator_for(&sparring_mock::schema()).unwrap()
}

/// Loading a script runs no programs.
fn load(script: &str) -> Result<MockServer, Problems> {
    let settings = Settings { allow_exec: true, ..Settings::default() };
    MockServer::from_yaml_with(script, "tests", &settings)
}

/// Parses a script to the value that the schema validates.
fn value(script: &str) -> Value {
    let source = sparring_script::Source::new("a.yaml", script);
    sparring_script::Node::parse(&source).unwrap().to_json()
}

#[test]
fn schema_and_parser_accept_every_key() {
    let schema = schema();
    let scripts = examples().into_iter().map(|(path, text)| (path.display().to_string(), text));
    for (name, text) in scripts.chain([("every_key".to_owned(), EVERY_KEY.to_owned())]) {
        let wrong: Vec<String> = schema
            .iter_errors(&value(&text))
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{name}: {wrong:?}");
    }
    load(EVERY_KEY).unwrap_or_else(|problems| panic!("{problems}"));
    // Each key must occur in the script.
    let mut used = BTreeSet::new();
    keys(&value(EVERY_KEY), &mut used);
    let mut known = BTreeSet::new();
    properties(&sparring_mock::schema(), &mut known);
    let snake = |key: &&String| sparring_script::casing::to_snake_case(key) == **key;
    let untried: Vec<_> = known.iter().filter(snake).filter(|key| !used.contains(*key)).collect();
    assert!(untried.is_empty(), "{untried:?}");
}

/// Renames each member of the script once and replaces its value once: the parser must reject
/// what the schema rejects, and the other way round for the shape.
#[test]
fn schema_and_parser_reject_the_same_scripts() {
    let schema = schema();
    let script = value(EVERY_KEY);
    let mut refused = 0;
    for (place, changed) in mutations(&script) {
        let by_schema = !schema.is_valid(&changed);
        let problems = load(&changed.to_string()).err();
        assert!(!by_schema || problems.is_some(), "only the schema refuses {place}");
        let reported = problems.map(|problems| problems.to_string()).unwrap_or_default();
        let by_shape = reported.contains("unknown key") || reported.contains("is missing in a");
        assert!(!by_shape || by_schema, "only the parser refuses {place}: {reported}");
        refused += usize::from(by_schema);
    }
    assert!(refused > 200, "{refused}");
}

#[test]
fn schema_and_parser_accept_the_spelling_of_the_wire() {
    let wire =
        json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}, "isError": true}]});
    assert!(schema().is_valid(&wire));
    assert!(MockServer::from_yaml(&wire.to_string(), ".").is_ok());
}

//! The JSON Schema for editors and the parser know the same language.

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

/// Nothing is run by reading a script.
fn load(script: &str) -> Result<MockServer, Problems> {
    let settings = Settings { allow_exec: true, ..Settings::default() };
    MockServer::from_yaml_with(script, "tests", &settings)
}

/// A script as the value that the schema sees.
fn value(script: &str) -> Value {
    let source = sparring_script::Source::new("a.yaml", script);
    sparring_script::Node::parse(&source).unwrap().to_json()
}

#[test]
fn schema_and_parser_take_every_key() {
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
    // A key that is not there was not tried.
    let mut used = BTreeSet::new();
    keys(&value(EVERY_KEY), &mut used);
    let mut known = BTreeSet::new();
    properties(&sparring_mock::schema(), &mut known);
    let snake = |key: &&String| sparring_script::casing::snake(key) == **key;
    let untried: Vec<_> = known.iter().filter(snake).filter(|key| !used.contains(*key)).collect();
    assert!(untried.is_empty(), "{untried:?}");
}

/// Each member of the script with every key is once renamed and once given a
/// value of no sense: what the one refuses by its shape, the other must too.
#[test]
fn schema_and_parser_refuse_the_same() {
    let schema = schema();
    let script = value(EVERY_KEY);
    let mut refused = 0;
    for (place, changed) in mutations(&script) {
        let by_schema = !schema.is_valid(&changed);
        let problems = load(&changed.to_string()).err();
        assert!(!by_schema || problems.is_some(), "only the schema refuses {place}");
        let told = problems.map(|problems| problems.to_string()).unwrap_or_default();
        let by_shape = told.contains("unknown key") || told.contains("is missing in a");
        assert!(!by_shape || by_schema, "only the parser refuses {place}: {told}");
        refused += usize::from(by_schema);
    }
    assert!(refused > 200, "{refused}");
}

#[test]
fn the_wires_spelling_is_known_to_both() {
    let wire =
        json!({"tools": [{"name": "a", "inputSchema": {"type": "object"}, "isError": true}]});
    assert!(schema().is_valid(&wire));
    assert!(MockServer::from_yaml(&wire.to_string(), ".").is_ok());
}

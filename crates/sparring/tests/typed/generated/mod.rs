//! Generated modules, and the check that they are up to date: those of tool lists
//! here, those of servers next to their calls. `SPAR_BLESS=1` rewrites them.

pub(crate) mod everything;
pub(crate) mod fastmcp;
pub(crate) mod instructions;
pub(crate) mod kinds;
pub(crate) mod names;
pub(crate) mod python_sdk;
pub(crate) mod recursion;
pub(crate) mod shapes;
pub(crate) mod time;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sparring_codegen::{ModuleSource, generate_module};

/// Returns the folder of these tests.
pub(crate) fn tests_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/typed")
}

/// Compares a module with the one in this folder.
#[track_caller]
pub(crate) fn check(name: &str, found: &str) {
    let path = tests_folder().join(format!("generated/{name}.rs"));
    if std::env::var_os("SPAR_BLESS").is_some() {
        fs::write(&path, found).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap();
    assert!(stored == found, "{name}.rs is outdated; SPAR_BLESS=1 rewrites it:\n{found}");
}

#[track_caller]
fn check_tools(name: &str) {
    let path = tests_folder().join(format!("tools/{name}.json"));
    let tools: Vec<Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let (server, version) = ("nasty/\"server\" */", "1.0\n");
    let source = ModuleSource { server, version, name: Some("Nasty"), flags: "", tools: &tools };
    let found = generate_module(&source).unwrap();
    check(name, &found);
    let backwards: Vec<Value> = tools.iter().rev().map(reverse_members).collect();
    assert_eq!(generate_module(&ModuleSource { tools: &backwards, ..source }).unwrap(), found);
}

/// Reverses the members of all objects.
fn reverse_members(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().rev();
            Value::Object(
                members.map(|(name, value)| (name.clone(), reverse_members(value))).collect(),
            )
        }
        Value::Array(items) => items.iter().map(reverse_members).collect(),
        other => other.clone(),
    }
}

#[test]
fn arguments_of_every_kind_have_their_types() {
    check_tools("kinds");
}

#[test]
fn types_that_contain_themselves_have_boxes() {
    check_tools("recursion");
}

#[test]
fn names_become_valid_rust_identifiers() {
    check_tools("names");
}

#[test]
fn tools_of_every_shape_have_their_methods() {
    check_tools("shapes");
}

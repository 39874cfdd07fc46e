//! The official schemas of MCP with their examples, and with broken variants of the
//! examples.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sparring_script::Schema;
use sparring_script::schema::Verdict;

/// Returns the folder with schemas and examples. Without it the tests print a message and
/// are skipped.
fn spec_dir() -> Option<PathBuf> {
    let dir = std::env::var_os("SPAR_SPEC_DIR").map(PathBuf::from);
    if dir.is_none() {
        eprintln!("SKIPPED: SPAR_SPEC_DIR is not set, so the official schemas are not tested");
    }
    dir
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Returns the schema of one type of a revision.
fn type_schema(all: &Value, keyword: &str, name: &str) -> Value {
    let mut schema = all.clone();
    schema["$ref"] = json!(format!("#/{keyword}/{name}"));
    schema
}

/// Returns the value with one member missing or replaced, for every member at every depth.
fn variants(value: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    let Value::Object(members) = value else { return all };
    for (name, member) in members {
        let mut without = members.clone();
        without.remove(name);
        all.push(Value::Object(without));
        let mut others = vec![json!(1), json!("x"), json!([1]), json!({"x": null})];
        others.extend(variants(member));
        for other in others {
            let mut with = members.clone();
            with[name] = other;
            all.push(Value::Object(with));
        }
    }
    all
}

#[test]
fn every_type_of_every_revision_compiles() {
    let Some(dir) = spec_dir() else { return };
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let all = read(&dir.join(format!("{revision}.schema.json")));
        let keyword = if all.get("$defs").is_some() { "$defs" } else { "definitions" };
        let mut schema = all.clone();
        let types = all[keyword].as_object().unwrap().keys();
        let types =
            types.map(|name| (name.clone(), json!({"$ref": format!("#/{keyword}/{name}")})));
        schema["properties"] = Value::Object(types.collect());
        let schema = Schema::new(&schema).unwrap_or_else(|error| panic!("{revision}: {error}"));
        let verdict = schema.check(&json!({"Tool": {}}), 3);
        assert!(matches!(verdict, Verdict::Invalid(_)), "{revision}: {verdict:?}");
    }
}

/// Limits and budget must not change the verdict of the library.
#[test]
fn examples_get_the_verdict_of_the_bare_library() {
    let Some(dir) = spec_dir() else { return };
    let all = read(&dir.join("2026-07-28.schema.json"));
    let mut count = 0;
    for folder in fs::read_dir(dir.join("examples-2026-07-28")).unwrap() {
        let folder = folder.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if !folder.is_dir() || all["$defs"].get(&name).is_none() {
            continue;
        }
        let schema = type_schema(&all, "$defs", &name);
        let ours = Schema::new(&schema).unwrap();
        let bare = jsonschema::options().should_validate_formats(false).build(&schema).unwrap();
        for example in fs::read_dir(&folder).unwrap() {
            let example = read(&example.unwrap().path());
            assert!(ours.check(&example, 1).is_valid(), "{name}: {example}");
            for value in variants(&example) {
                count += 1;
                assert_eq!(
                    ours.check(&value, 9).is_valid(),
                    bare.is_valid(&value),
                    "{name}: {value}"
                );
            }
        }
    }
    assert!(count > 1000, "only {count} values");
}

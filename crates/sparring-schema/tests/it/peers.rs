//! The official suite of tests of JSON Schema, as the sources of Python's
//! `jsonschema` have it, with the meta-schemas of `jsonschema-specifications`. What
//! is not installed is skipped, loudly; `cargo xtask peers` installs it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sparring_schema::Schema;

/// The drafts, by their folders, with what `$schema` says and how many tests there
/// are at least, so that none is lost unseen.
const DRAFTS: [(&str, &str, usize); 5] = [
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema", 1200),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema", 1150),
    ("draft7", "http://json-schema.org/draft-07/schema#", 850),
    ("draft6", "http://json-schema.org/draft-06/schema#", 750),
    ("draft4", "http://json-schema.org/draft-04/schema#", 550),
];

/// What is optional and about patterns.
const PATTERNS: [&str; 2] = ["ecmascript-regex.json", "non-bmp-regex.json"];

/// What of the suite does not hold, by draft, file, case and test, with the reason.
const EXCEPTIONS: [(&str, &str); 2] = [
    (
        "draft2020-12/vocabulary: schema that uses custom metaschema with with no validation \
         vocabulary: no validation: invalid number, but it still validates",
        "the vocabularies of a meta-schema of somebody's own are not looked at",
    ),
    (
        "draft2019-09/vocabulary: schema that uses custom metaschema with with no validation \
         vocabulary: no validation: invalid number, but it still validates",
        "the vocabularies of a meta-schema of somebody's own are not looked at",
    ),
];

/// A document that schemas may refer to.
struct Document {
    uri: String,
    value: Value,
}

#[test]
fn all_required_tests_of_the_official_suite_hold() {
    let (Some(suite), Some(specifications)) = (
        installed("schemas/jsonschema-4.26.0/json"),
        installed("schemas/jsonschema_specifications-2025.9.1"),
    ) else {
        return;
    };
    let mut documents = Vec::new();
    remotes(&suite.join("remotes"), &suite.join("remotes"), &mut documents);
    meta_schemas(&specifications.join("jsonschema_specifications/schemas"), &mut documents);
    let mut failed = Vec::new();
    for (draft, dialect, at_least) in DRAFTS {
        let mut count = 0;
        for file in files(&suite.join("tests").join(draft)) {
            count += run(draft, dialect, &file, &documents, &mut failed);
        }
        for file in PATTERNS {
            let file = suite.join("tests").join(draft).join("optional").join(file);
            count += run(draft, dialect, &file, &documents, &mut failed);
        }
        assert!(count >= at_least, "{draft} has only {count} tests");
    }
    let (excepted, others): (Vec<_>, Vec<_>) = failed
        .into_iter()
        .partition(|name: &String| EXCEPTIONS.iter().any(|(known, _)| name == known));
    assert!(others.is_empty(), "{} failed:\n{}", others.len(), others.join("\n"));
    for (name, reason) in EXCEPTIONS {
        let found = excepted.iter().any(|failed| failed == name);
        assert!(found, "{name} holds now, and is still excepted ({reason})");
    }
}

/// Runs the tests of a file and says how many there were.
fn run(
    draft: &str,
    dialect: &str,
    file: &Path,
    documents: &[Document],
    failed: &mut Vec<String>,
) -> usize {
    let documents: Vec<(&str, &Value)> =
        documents.iter().map(|document| (&*document.uri, &document.value)).collect();
    let mut count = 0;
    let name = file.file_stem().unwrap().to_string_lossy();
    for case in read(file).as_array().unwrap() {
        let mut schema = case["schema"].clone();
        if let Value::Object(members) = &mut schema {
            members.entry("$schema").or_insert(json!(dialect));
        }
        let schema = Schema::among(&schema, &documents);
        for test in case["tests"].as_array().unwrap() {
            count += 1;
            let holds = match &schema {
                Ok(schema) => schema.is_valid(&test["data"]) == test["valid"],
                Err(_) => false,
            };
            if let Ok(schema) = &schema {
                let told = schema.breaches(&test["data"], 100);
                assert_eq!(told.is_empty(), schema.is_valid(&test["data"]), "{case}");
            }
            if !holds {
                let (case, test) = (&case["description"], &test["description"]);
                let (case, test) = (case.as_str().unwrap(), test.as_str().unwrap());
                let why = schema.as_ref().err().map(|error| format!(" ({error})"));
                failed.push(format!("{draft}/{name}: {case}: {test}{}", why.unwrap_or_default()));
            }
        }
    }
    count
}

/// Something that `cargo xtask peers` installs.
fn installed(path: &str) -> Option<PathBuf> {
    let found = std::env::var_os("SPAR_PEERS_DIR").map(|folder| Path::new(&folder).join(path));
    let found = found.filter(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: {path} is not installed; run `cargo xtask peers`");
    }
    found
}

/// The documents that the suite says are at `localhost:1234`.
fn remotes(root: &Path, folder: &Path, documents: &mut Vec<Document>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            remotes(root, &path, documents);
        } else if path.extension().is_some_and(|it| it == "json") {
            let below: Vec<_> =
                path.strip_prefix(root).unwrap().iter().map(|it| it.to_string_lossy()).collect();
            let uri = format!("http://localhost:1234/{}", below.join("/"));
            documents.push(Document { uri, value: read(&path) });
        }
    }
}

/// The meta-schemas by what they call themselves.
fn meta_schemas(folder: &Path, documents: &mut Vec<Document>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            meta_schemas(&path, documents);
            continue;
        }
        let value = read(&path);
        let id = value.get("$id").or(value.get("id"));
        if let Some(uri) = id.and_then(Value::as_str) {
            documents.push(Document { uri: uri.to_owned(), value });
        }
    }
}

/// The files of required tests, which stand in the folder itself.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.is_file()).collect();
    files.sort();
    files
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

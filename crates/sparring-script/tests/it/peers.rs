//! The official JSON Schema test suite, from the sources of Python's `jsonschema`. `cargo
//! xtask peers` installs it; without it the test prints a message and is skipped.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sparring_script::Schema;
use sparring_script::schema::Verdict;

/// The folder of each draft, its `$schema`, and the minimum number of its tests.
const DRAFTS: [(&str, &str, usize); 5] = [
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema", 1200),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema", 1150),
    ("draft7", "http://json-schema.org/draft-07/schema#", 850),
    ("draft6", "http://json-schema.org/draft-06/schema#", 750),
    ("draft4", "http://json-schema.org/draft-04/schema#", 550),
];

/// The optional tests of patterns.
const PATTERNS: [&str; 2] = ["ecmascript-regex.json", "non-bmp-regex.json"];

#[test]
fn all_required_tests_of_the_official_suite_hold() {
    let Some(suite) = installed("schemas/jsonschema-4.26.0/json") else { return };
    let mut failed = Vec::new();
    for (draft, dialect, at_least) in DRAFTS {
        let mut count = 0;
        for file in files(&suite.join("tests").join(draft)) {
            count += run(draft, dialect, &file, &mut failed);
        }
        for file in PATTERNS {
            let file = suite.join("tests").join(draft).join("optional").join(file);
            count += run(draft, dialect, &file, &mut failed);
        }
        assert!(count >= at_least, "{draft} has only {count} tests");
    }
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}

/// Runs the tests of a file and returns their number. Schemas that refer to other documents
/// must be refused, since documents are not fetched.
fn run(draft: &str, dialect: &str, file: &Path, failed: &mut Vec<String>) -> usize {
    let mut count = 0;
    let name = file.file_stem().unwrap().to_string_lossy();
    for case in read(file).as_array().unwrap() {
        let mut schema = case["schema"].clone();
        if let Value::Object(members) = &mut schema {
            members.entry("$schema").or_insert(json!(dialect));
        }
        let compiled = Schema::new(&schema);
        if let Err(error) = &compiled
            && ["which is not fetched", "not a known draft"]
                .iter()
                .any(|it| error.message.contains(it))
            && schema.to_string().contains("localhost:1234")
        {
            continue;
        }
        for test in case["tests"].as_array().unwrap() {
            count += 1;
            let verdict = compiled.as_ref().map(|schema| schema.check(&test["data"], 100));
            let holds = match &verdict {
                Ok(Verdict::Valid) => test["valid"] == true,
                Ok(Verdict::Invalid(mismatches)) => {
                    test["valid"] == false && !mismatches.is_empty()
                }
                Ok(Verdict::Undecided(_)) | Err(_) => false,
            };
            if !holds {
                let (case, test) = (&case["description"], &test["description"]);
                let (case, test) = (case.as_str().unwrap(), test.as_str().unwrap());
                failed.push(format!("{draft}/{name}: {case}: {test} ({verdict:?})"));
            }
        }
    }
    count
}

/// Returns the path of something that `cargo xtask peers` installs.
fn installed(path: &str) -> Option<PathBuf> {
    let found = std::env::var_os("SPAR_PEERS_DIR").map(|folder| Path::new(&folder).join(path));
    let found = found.filter(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: {path} is not installed; run `cargo xtask peers`");
    }
    found
}

/// Returns the files of required tests, which are directly in the folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.is_file()).collect();
    files.sort();
    files
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

//! SARIF conforms to its JSON Schema, which the sources of a Python package have.

use serde_json::Value;
use sparring_report::{Run, render_sarif};

use super::installed;
use crate::texts::sample;

/// Returns the problems that the schema finds in a report. Returns `None` if the schema is not
/// installed.
fn problems(report: &str) -> Option<Vec<String>> {
    let path = installed("schemas/sarif_om-1.0.4/sarif-2.1.0-rtm.4.json")?;
    let mut schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    // These patterns are not regular expressions.
    for object in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][object]["properties"]["language"];
        language.as_object_mut().unwrap().remove("pattern");
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    let report: Value = serde_json::from_str(report).unwrap();
    Some(validator.iter_errors(&report).map(|error| error.to_string()).collect())
}

#[test]
fn sarif_conforms_to_its_schema() {
    let none: [String; 0] = [];
    let stopped = Run { stopped: true, ..sample::run() };
    for run in [sample::run(), sample::check(), stopped, sample::of(Vec::new())] {
        let Some(problems) = problems(&render_sarif(&run)) else { return };
        assert_eq!(problems, none);
    }
}

#[test]
fn the_schema_finds_an_unknown_level() {
    let report =
        render_sarif(&sample::check()).replace("\"level\": \"error\"", "\"level\": \"bad\"");
    let Some(problems) = problems(&report) else { return };
    assert!(!problems.is_empty());
}

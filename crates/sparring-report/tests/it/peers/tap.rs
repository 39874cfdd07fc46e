//! `tap-parser` reads the results of the run from TAP.

use std::path::Path;

use serde_json::{Value, json};
use sparring_report::{Outcome, Run, render_tap};

use super::{installed, read_by};
use crate::texts::sample;

/// Returns the output of the parser for a report, or `None` if it is not installed.
fn read(report: &str) -> Option<Value> {
    let parser = installed("node/node_modules/tap-parser/dist/commonjs/index.js")?;
    Some(read_by(Path::new("node"), "tap.cjs", &[&parser], report))
}

#[test]
fn tap_parser_reads_the_results_of_the_run() {
    let run = Run { stopped: false, ..sample::run() };
    let Some(read) = read(&render_tap(&run)) else { return };
    assert_eq!(read["unknown"], json!([]), "lines that are not TAP");
    let counts =
        json!({"ok": false, "count": 11, "pass": 5, "fail": 6, "skip": 2, "bailout": false});
    assert_eq!(read["final"], counts);
    let points = read["points"].as_array().unwrap();
    assert_eq!(points.len(), run.tests.len());
    for (point, test) in points.iter().zip(&run.tests) {
        assert_eq!(point["ok"], json!(test.outcome != Outcome::Failed), "{point}");
    }
    let failed = &points[1];
    let name = "examples/weather.spar.yaml: tells the weather [2025-06-18, http]";
    assert_eq!(failed["name"], name);
    let message = r#"text: expected "cloudy", found "sunny""#;
    assert_eq!(failed["diag"]["message"], message);
    let at = json!({"file": "examples/weather.spar.yaml", "line": 12, "column": 14});
    assert_eq!(failed["diag"]["at"], at);
    assert_eq!(failed["diag"]["diff"], json!([" It is in London", "-cloudy", "+sunny", " today"]));
    assert_eq!(points[8]["skip"], "needs a key | not here");
    assert_eq!(points[9]["skip"], "not run: the run stopped early");
    assert_eq!(points[10]["diag"]["again"], "spar test '```' --filter '\\u001b'");
}

#[test]
fn tap_parser_unescapes_names_and_reasons() {
    let odd = "a # SKIP \\ b \\# c # TODO d";
    let test = sample::test(odd, 1);
    let reason = Some("no # 1 \\ 2".to_owned());
    let skipped = sparring_report::Test { outcome: Outcome::Skipped, reason, ..test.clone() };
    let Some(read) = read(&render_tap(&sample::of(vec![test, skipped]))) else { return };
    let name = format!("examples/weather.spar.yaml: {odd}");
    let points = &read["points"];
    assert_eq!((&points[0]["name"], &points[0]["skip"]), (&json!(name), &json!(false)));
    assert_eq!((&points[1]["name"], &points[1]["skip"]), (&json!(name), &json!("no # 1 \\ 2")));
}

#[test]
fn tap_parser_reads_a_run_that_was_stopped_early_as_failed() {
    let good = sample::of(vec![sample::test("it passes", 1)]);
    let Some(read) = read(&render_tap(&good)) else { return };
    assert_eq!((&read["final"]["ok"], &read["final"]["bailout"]), (&json!(true), &json!(false)));
    let read = self::read(&render_tap(&Run { stopped: true, ..good })).unwrap();
    let why = json!("the run was stopped early");
    assert_eq!((&read["final"]["ok"], &read["final"]["bailout"]), (&json!(false), &why));
}

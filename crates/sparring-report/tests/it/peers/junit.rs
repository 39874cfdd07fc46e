//! JUnit XML conforms to Jenkins' schemas, and `junitparser` reads the results of the run.

use serde_json::{Value, json};
use sparring_report::render_junit;

use super::{installed, read_by};
use crate::texts::sample;

/// Returns the output of `junit.py` for a report: schema errors and tests. Returns `None` if
/// the tools are not installed.
fn read(report: &str) -> Option<Value> {
    let python = installed("python/bin/python")?;
    installed("python/bin/junitparser")?;
    let schemas = installed("schemas")?;
    Some(read_by(&python, "junit.py", &[&schemas], report))
}

#[test]
fn junit_conforms_to_the_schemas_of_jenkins() {
    let Some(read) = read(&render_junit(&sample::run())) else { return };
    let schemas = read["schemas"].as_object().unwrap();
    assert_eq!(schemas.len(), 2, "{schemas:?}");
    for (schema, problems) in schemas {
        assert_eq!(problems, &json!([]), "{schema}");
    }
    let empty = render_junit(&sample::of(Vec::new()));
    let read = self::read(&empty).unwrap();
    assert!(read["schemas"].as_object().unwrap().values().all(|it| it == &json!([])), "{read}");
}

#[test]
fn the_schemas_find_an_unknown_attribute() {
    let report = render_junit(&sample::run()).replace("<skipped message=", "<skipped massage=");
    let Some(read) = read(&report) else { return };
    for (schema, problems) in read["schemas"].as_object().unwrap() {
        assert_eq!(problems.as_array().unwrap().len(), 2, "{schema}: {problems}");
    }
}

#[test]
fn junitparser_reads_the_results_of_the_run() {
    let run = sample::run();
    let Some(read) = read(&render_junit(&run)) else { return };
    assert_eq!(read["counts"], json!({"tests": 11, "failures": 6, "skipped": 2, "errors": 0}));
    let tests = read["tests"].as_array().unwrap();
    let find = |name: &str| {
        let found = tests.iter().find(|it| it["name"].as_str().unwrap().starts_with(name));
        found.unwrap_or_else(|| panic!("{name}"))
    };
    let weather = "examples/weather.spar.yaml";
    let passed = json!({
        "name": "lists its tools", "classname": "examples.weather", "suite": weather,
        "file": weather, "line": "4", "time": 2.5, "results": [], "interim": [],
        "out": null, "err": null,
    });
    assert_eq!(find("lists its tools"), &passed);
    let failed = find("tells the weather [2025-06-18, http]");
    let message = r#"text: expected "cloudy", found "sunny""#;
    assert_eq!(failed["results"][0]["kind"], "Failure");
    assert_eq!(failed["results"][0]["message"], message);
    let text = failed["results"][0]["text"].as_str().unwrap();
    let expected = format!("{weather}:12:14: {message}\n  12 |     expect: {{text: cloudy}}\n");
    assert!(text.starts_with(&expected), "{text}");
    assert!(text.contains("\n-cloudy\n+sunny\n"), "{text}");
    assert!(text.ends_with(
        "rerun:\nspar test examples/weather.spar.yaml --filter '^tells the weather$'\n"
    ));
    assert_eq!(failed["err"], "starting\nwarning: no key, the weather is made up\n");
    let retried = find("is included");
    assert_eq!(retried["interim"], json!([["RerunFailure", "no answer within 1s"]]));
    assert_eq!((&retried["file"], &retried["line"]), (&json!("shared/included.yaml"), &json!("3")));
    let flaky = find("warms up");
    assert_eq!(flaky["results"], json!([]));
    let cold = r#"text: expected "warm", found "cold""#;
    assert_eq!(flaky["interim"], json!([["FlakyFailure", cold]]));
    let skipped = |name| find(name)["results"].clone();
    let because = |why| json!([{"kind": "Skipped", "message": why, "text": null}]);
    assert_eq!(skipped("asks the real one"), because("needs a key | not here"));
    assert_eq!(skipped("waits for its turn"), because("not run: the run stopped early"));
}

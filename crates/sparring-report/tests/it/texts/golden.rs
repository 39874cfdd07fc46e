//! Compares each report of the sample run with its file in `tests/golden`.

use std::path::Path;

use sparring_report::Run;

use super::sample;

/// Compares a report of a run of suites, and one of a check, with their golden files.
fn check(name: &str, report: fn(&Run) -> String) {
    check_file(name, &report(&sample::run()));
    check_file(&format!("check.{name}"), &report(&sample::check()));
}

/// Compares a report with its golden file. `SPAR_BLESS=1` rewrites the file.
fn check_file(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("SPAR_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} differs; SPAR_BLESS=1 rewrites it");
}

#[test]
fn junit_equals_its_golden_file() {
    check("junit.xml", sparring_report::render_junit);
}

#[test]
fn tap_equals_its_golden_file() {
    check("report.tap", sparring_report::render_tap);
}

#[test]
fn markdown_equals_its_golden_file() {
    check("report.md", sparring_report::render_markdown);
}

#[test]
fn github_annotations_equal_their_golden_file() {
    check("github.txt", sparring_report::render_github);
}

#[test]
fn gitlab_code_quality_equals_its_golden_file() {
    check("gitlab.json", sparring_report::render_gitlab);
}

#[test]
fn the_agent_report_equals_its_golden_file() {
    check("agent.txt", sparring_report::render_agent);
}

#[test]
fn sarif_equals_its_golden_file() {
    check("report.sarif", sparring_report::render_sarif);
}

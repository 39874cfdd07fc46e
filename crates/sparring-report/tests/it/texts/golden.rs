//! Each report of the sample run is what stands in `tests/golden`.

use std::path::Path;

use sparring_report::Run;

use super::sample;

/// `SPAR_BLESS=1` writes the file anew.
fn check(name: &str, report: fn(&Run) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let text = report(&sample::run());
    if std::env::var_os("SPAR_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} is another; SPAR_BLESS=1 writes it anew");
}

#[test]
fn junit_is_what_the_golden_file_has() {
    check("junit.xml", sparring_report::junit);
}

#[test]
fn tap_is_what_the_golden_file_has() {
    check("report.tap", sparring_report::tap);
}

#[test]
fn markdown_is_what_the_golden_file_has() {
    check("report.md", sparring_report::markdown);
}

#[test]
fn annotations_for_github_are_what_the_golden_file_has() {
    check("github.txt", sparring_report::github);
}

#[test]
fn code_quality_for_gitlab_is_what_the_golden_file_has() {
    check("gitlab.json", sparring_report::gitlab);
}

#[test]
fn what_an_agent_gets_is_what_the_golden_file_has() {
    check("agent.txt", sparring_report::agent);
}

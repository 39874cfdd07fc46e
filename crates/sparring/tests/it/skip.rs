//! Skipped tests print a reason, and fail when `CI` is set.

use crate::subprocess::{is_subprocess, subprocess};

const TEST: &str = "skip::a_skipped_test_prints_its_reason_and_fails_in_ci";

#[test]
fn a_skipped_test_prints_its_reason_and_fails_in_ci() {
    if is_subprocess() {
        sparring::skip!("no {} found", "engine")
    }
    let output = subprocess(TEST).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    let line = format!("SKIPPED: {TEST}, because no engine found\n");
    assert!(stderr.contains(&line), "{stderr}");

    // The test harness does not capture this line, even in a test that passes.
    let mut captured = subprocess(TEST);
    captured.env("RUST_TEST_NOCAPTURE", "0");
    assert!(String::from_utf8_lossy(&captured.output().unwrap().stderr).contains(&line));

    let output = subprocess(TEST).env("CI", "true").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{stderr}");
    let reason = "no engine found; tests must not be skipped when CI is set";
    assert!(stderr.contains(reason), "{stderr}");
    assert!(stderr.contains("tests/it/skip.rs:"), "{stderr}");
}

const WITH_RESULT: &str = "skip::a_test_that_returns_a_result_can_be_skipped";

#[test]
fn a_test_that_returns_a_result_can_be_skipped() -> Result<(), sparring::Error> {
    if is_subprocess() {
        sparring::skip!("no engine found")
    }
    let output = subprocess(WITH_RESULT).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains(WITH_RESULT), "{output:?}");
    Ok(())
}

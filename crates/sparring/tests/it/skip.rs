//! What cannot be tested is told, and fails where nothing may be skipped.

use crate::again::{inner, is_inner};

const TEST: &str = "skip::a_skipped_test_is_told_and_fails_in_ci";

#[test]
fn a_skipped_test_is_told_and_fails_in_ci() {
    if is_inner() {
        sparring::skip!("there is no {}", "engine")
    }
    let output = inner(TEST).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    let line = format!("SKIPPED: {TEST}, because there is no engine\n");
    assert!(told.contains(&line), "{told}");

    // A runner that keeps what passing tests print does not keep this.
    let mut captured = inner(TEST);
    captured.env("RUST_TEST_NOCAPTURE", "0");
    assert!(String::from_utf8_lossy(&captured.output().unwrap().stderr).contains(&line));

    let output = inner(TEST).env("CI", "true").output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{told}");
    let told_why = "there is no engine; with CI set no test may be skipped";
    assert!(told.contains(told_why), "{told}");
    assert!(told.contains("tests/it/skip.rs:"), "{told}");
}

const WITH_RESULT: &str = "skip::a_test_that_gives_a_result_is_skipped_too";

#[test]
fn a_test_that_gives_a_result_is_skipped_too() -> Result<(), sparring::Error> {
    if is_inner() {
        sparring::skip!("there is no engine")
    }
    let output = inner(WITH_RESULT).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains(WITH_RESULT), "{output:?}");
    Ok(())
}

//! The order of tests, and the effect of one test on the others.

use std::time::Duration;

use sparring_suite::Outcome;

use crate::fixture::{ON_MOCK, block_on, ends, outcomes};

/// Runs a suite. Returns one letter for the outcome of each test; `-` if it did not run.
fn outcome_letters(text: &str, fail_fast: bool) -> String {
    let letter = |outcome: &Option<Outcome>| match outcome {
        Some(Outcome::Passed) => 'p',
        Some(Outcome::Failed(_)) => 'f',
        Some(Outcome::Skipped(_)) => 's',
        None => '-',
    };
    block_on(outcomes(text, fail_fast)).iter().map(|(_, outcome)| letter(outcome)).collect()
}

#[test]
fn a_server_that_ends_in_a_test_is_restarted_for_the_next() {
    let tests = "tests: [{name: a, call: exit}, {name: b, call: two}, {name: c, call: two}]";
    assert_eq!(outcome_letters(&format!("{ON_MOCK}{tests}"), false), "fpp");
}

#[test]
fn fail_fast_ends_the_run_at_the_first_failure() {
    let tests = "tests: [{name: a, call: two}, {name: b, call: failing}, {name: c, call: two}]";
    assert_eq!(outcome_letters(&format!("{ON_MOCK}{tests}"), false), "pfp");
    assert_eq!(outcome_letters(&format!("{ON_MOCK}{tests}"), true), "pf-");
}

#[test]
fn a_server_that_cannot_start_fails_only_its_own_tests() {
    let text = "servers: {good: {mock: trainer.mock.yaml}, bad: {command: no-such-program}}\n\
                tests: [{name: a, call: two}, {name: b, server: bad, ping: true}, \
                {name: c, server: bad, ping: true}, {name: d, call: two}]";
    assert_eq!(outcome_letters(text, false), "pffp");
    let results = block_on(outcomes(text, false));
    let Some(Outcome::Failed(failed)) = &results[2].1 else { panic!("{results:?}") };
    let message = &failed.failures[0].message;
    assert_eq!(message, "cannot use server `bad`: command not found: no-such-program");
    assert!(failed.did_not_start);
}

#[test]
fn a_missing_prerequisite_skips_the_suite_with_the_reason() {
    for (needs, reason) in [
        ("programs: [sh, no-such-program]", "no-such-program is not installed"),
        ("env: NOBODY", "NOBODY is not set"),
        ("files: [trainer.mock.yaml, no.txt]", "no.txt does not exist"),
    ] {
        let text = format!("{ON_MOCK}needs: {{{needs}}}\ntests: [{{name: a, call: two}}]");
        match block_on(outcomes(&text, false)).pop() {
            Some((_, Some(Outcome::Skipped(found)))) => assert_eq!(found, reason),
            other => panic!("{other:?}"),
        }
    }
    let text =
        format!("{ON_MOCK}needs: {{programs: sh, env: WHO}}\ntests: [{{name: a, call: two}}]");
    assert_eq!(outcome_letters(&text, false), "p");
}

#[test]
fn a_test_with_skip_is_skipped() {
    let tests = "tests: [{name: a, skip: not yet, call: failing}, {name: b, call: two}]";
    assert_eq!(outcome_letters(&format!("{ON_MOCK}{tests}"), false), "sp");
}

#[test]
fn cases_make_one_test_for_each_row() {
    let tests = "tests: [{name: \"${message} comes back\", cases: [{message: hi}, {message: 2}], \
                 call: echo, with: {message: \"${message}\"}, expect: {text: \"hi\"}}]";
    let results = block_on(outcomes(&format!("{ON_MOCK}{tests}"), false));
    let names: Vec<&str> = results.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["hi comes back", "2 comes back"]);
    assert!(matches!(results[0].1, Some(Outcome::Passed)), "{results:?}");
    let Some(Outcome::Failed(failed)) = &results[1].1 else { panic!("{results:?}") };
    assert_eq!(failed.failures[0].message, "text: expected \"hi\", found \"2\"");
}

#[test]
fn a_test_that_times_out_fails_and_the_next_one_runs() {
    let tests = "tests: [{name: a, timeout: 100ms, call: slow}, {name: b, call: two}]";
    let results = block_on(outcomes(&format!("{ON_MOCK}{tests}"), false));
    let Some(Outcome::Failed(failed)) = &results[0].1 else { panic!("{results:?}") };
    assert_eq!(failed.failures[0].message, "the test took longer than 100ms");
    assert!(matches!(results[1].1, Some(Outcome::Passed)), "{results:?}");
}

#[test]
fn retry_repeats_a_test_that_fails() {
    let flaky = |beside: &str| format!("{ON_MOCK}tests: [{{name: a, call: flaky{beside}}}]");
    assert_eq!(outcome_letters(&flaky(""), false), "f");
    assert_eq!(outcome_letters(&flaky(", retry: 1"), false), "p");
}

#[test]
fn an_isolated_test_has_its_own_server() {
    let tests = |beside: &str| {
        let test =
            |name| format!("{{name: {name}, call: flaky, expect: {{is_error: true}}{beside}}}");
        format!("{ON_MOCK}tests: [{}, {}]", test("a"), test("b"))
    };
    assert_eq!(outcome_letters(&tests(""), false), "pf");
    assert_eq!(outcome_letters(&tests(", isolate: true"), false), "pp");
}

#[test]
fn only_excludes_all_other_tests() {
    let tests = "tests: [{name: a, call: failing}, {name: b, only: true, call: two}]";
    let results = block_on(outcomes(&format!("{ON_MOCK}{tests}"), false));
    assert!(results.len() == 1 && results[0].0 == "b", "{results:?}");
}

#[tokio::test(start_paused = true)]
async fn the_start_of_the_server_is_not_part_of_the_time_of_the_first_test() {
    let suite = "setup: [{call: half}]\ntests: [{name: a, call: two}, {name: b, call: half}]";
    let ends = ends(&format!("{ON_MOCK}{suite}")).await;
    let took: Vec<Duration> = ends.iter().map(|end| end.took).collect();
    assert_eq!(took, [Duration::ZERO, Duration::from_millis(500)]);
}

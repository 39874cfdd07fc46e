//! In which order tests run, and what one does to the others.

use sparring_suite::Outcome;

use crate::fixture::{ON_MOCK, block_on, outcomes};

/// What came of each test, in a letter.
fn letters(text: &str, fail_fast: bool) -> String {
    let letter = |outcome: &Option<Outcome>| match outcome {
        Some(Outcome::Passed) => 'p',
        Some(Outcome::Failed(_)) => 'f',
        Some(Outcome::Skipped(_)) => 's',
        None => '-',
    };
    block_on(outcomes(text, fail_fast)).iter().map(|(_, outcome)| letter(outcome)).collect()
}

#[test]
fn a_server_that_ends_in_a_test_is_started_again_for_the_next() {
    let tests = "tests: [{name: a, call: exit}, {name: b, call: two}, {name: c, call: two}]";
    assert_eq!(letters(&format!("{ON_MOCK}{tests}"), false), "fpp");
}

#[test]
fn the_first_failure_ends_the_run_where_that_is_wanted() {
    let tests = "tests: [{name: a, call: two}, {name: b, call: failing}, {name: c, call: two}]";
    assert_eq!(letters(&format!("{ON_MOCK}{tests}"), false), "pfp");
    assert_eq!(letters(&format!("{ON_MOCK}{tests}"), true), "pf-");
}

#[test]
fn a_server_that_cannot_start_takes_down_only_its_own_tests() {
    let text = "servers: {good: {mock: trainer.mock.yaml}, bad: {command: no-such-program}}\n\
                tests: [{name: a, call: two}, {name: b, server: bad, ping: true}, \
                {name: c, server: bad, ping: true}, {name: d, call: two}]";
    assert_eq!(letters(text, false), "pffp");
    let told = block_on(outcomes(text, false));
    let Some(Outcome::Failed(story)) = &told[2].1 else { panic!("{told:?}") };
    let told = &story.failures[0].message;
    assert_eq!(told, "the server `bad` cannot be used: command not found: no-such-program");
}

#[test]
fn what_is_missing_skips_the_suite_and_says_so() {
    for (needs, reason) in [
        ("programs: [sh, no-such-program]", "no-such-program is not installed"),
        ("env: NOBODY", "NOBODY is not set"),
        ("files: [trainer.mock.yaml, no.txt]", "no.txt is not there"),
    ] {
        let text = format!("{ON_MOCK}needs: {{{needs}}}\ntests: [{{name: a, call: two}}]");
        match block_on(outcomes(&text, false)).pop() {
            Some((_, Some(Outcome::Skipped(told)))) => assert_eq!(told, reason),
            other => panic!("{other:?}"),
        }
    }
    let text =
        format!("{ON_MOCK}needs: {{programs: sh, env: WHO}}\ntests: [{{name: a, call: two}}]");
    assert_eq!(letters(&text, false), "p");
}

#[test]
fn a_test_may_say_why_it_is_not_run() {
    let tests = "tests: [{name: a, skip: not yet, call: failing}, {name: b, call: two}]";
    assert_eq!(letters(&format!("{ON_MOCK}{tests}"), false), "sp");
}

//! Reports have a size limit and count the omitted parts, and fingerprints are stable.

use std::collections::HashSet;

use serde_json::Value;
use sparring_report::{
    FailedTry, Outcome, Run, Test, render_agent, render_github, render_gitlab, render_junit,
    render_markdown, render_tap,
};

use super::{sample, tap_reader};

/// Returns a failed test with a unique failure.
fn failed(number: usize) -> Test {
    let message = format!("text: expected \"cloudy\", found \"sunny {number}\"");
    let failures = vec![sample::failure(number + 1, &message)];
    Test {
        outcome: Outcome::Failed,
        failed_tries: vec![FailedTry { failures, ..FailedTry::default() }],
        suite: format!("suites/{}.spar.yaml", number % 500),
        ..sample::test(&format!("test {number}"), number + 1)
    }
}

fn many(count: usize) -> Run {
    sample::of((0..count).map(failed).collect())
}

/// Returns the number in the line that counts the rest.
fn left(text: &str, before: &str) -> usize {
    let rest = text.lines().find_map(|line| line.strip_prefix(before)).unwrap_or("0 ");
    rest.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn the_agent_report_has_the_first_failures_completely_and_counts_the_rest() {
    let text = render_agent(&many(5_000));
    assert!(text.len() <= 16 * 1024, "{}", text.len());
    let reported = text.matches("\nFAIL ").count();
    let whole = text.matches("\n  rerun: ").count();
    assert!((20..reported).contains(&whole), "{whole} of {reported}");
    assert_eq!(reported + left(&text, "and "), 5_000, "{text}");
    assert!(text.contains("--report json=FILE"), "{text}");
    let few = render_agent(&many(3));
    assert_eq!((few.matches("\nFAIL ").count(), few.matches("\n  rerun: ").count()), (3, 3));
    assert_eq!(left(&few, "and "), 0);
}

#[test]
fn the_agent_report_truncates_a_huge_failure() {
    let huge = "x".repeat(1 << 20);
    let mut test = failed(1);
    let last = test.failed_tries.last_mut().unwrap();
    last.stderr = format!("{huge}\nout of memory");
    last.failures[0].message = format!("text: expected {huge}");
    let text = render_agent(&sample::of(vec![test]));
    assert!(text.len() < 4 * 1024, "{}", text.len());
    assert!(text.contains("    text: expected xxx") && text.contains("bytes omitted]"), "{text}");
    assert!(text.contains("    out of memory\n  rerun: "), "{text}");
}

#[test]
fn a_huge_failure_does_not_displace_others() {
    let mut huge = failed(0);
    let line = format!("-{}\n+{}\n", "x".repeat(300), "y".repeat(300));
    let last = huge.failed_tries.last_mut().unwrap();
    last.failures[0].diff = Some(line.repeat(500));
    last.failures = vec![last.failures[0].clone(); 20];
    (last.stderr, last.stdout) = (line.repeat(500), line.repeat(500));
    let run = sample::of(vec![huge.clone(), failed(1), huge, failed(2)]);
    let text = render_markdown(&run);
    assert_eq!(text.matches("<details>").count(), 3, "{text}");
    assert_eq!(text.matches("</details>").count(), 3, "{text}");
    assert!(text.contains("stdout: omitted\n\nRerun:\n"), "{text}");
    let text = render_agent(&run);
    assert_eq!(
        (text.matches("FAIL ").count(), text.matches("\n  rerun: ").count()),
        (3, 3),
        "{text}"
    );
    assert!(text.contains("  and 19 more failures\n"), "{text}");
}

#[test]
fn the_agent_report_states_whether_all_tries_failed_equally() {
    let mut test = failed(1);
    test.failed_tries = vec![test.failed_tries[0].clone(); 3];
    let text = render_agent(&sample::of(vec![test.clone()]));
    assert!(text.contains("\n  tries: 3, all with the same failures\n"), "{text}");
    test.failed_tries[1].failures[0].message = "no answer within 1s".into();
    let text = render_agent(&sample::of(vec![test]));
    assert!(
        text.contains("\n  tries: 3, with different failures; before: no answer within 1s\n"),
        "{text}"
    );
}

#[test]
fn the_markdown_report_of_any_run_fits_into_a_comment() {
    let text = render_markdown(&many(5_000));
    assert!(text.len() <= 60_000, "{}", text.len());
    let whole = text.matches("<details>").count();
    let short = text.matches("\n- <code>").count();
    assert!(whole > 50 && short > 10, "{whole} {short}");
    assert!(text.contains(&format!("\nand {} more failures\n", 5_000 - whole - short)), "{text}");
    let rows = text.matches("\n| <code>suites/").count() - 5;
    assert!(text.contains(&format!("\nand {} more suites\n", 500 - rows)), "{text}");
    assert!(text.contains("### Slowest"), "{text}");
}

#[test]
fn github_gets_no_more_annotations_than_it_shows() {
    let mut run = many(25);
    let flaky = |number: usize| Test { outcome: Outcome::Passed, ..failed(100 + number) };
    run.tests.extend((0..11).map(flaky));
    let text = render_github(&run);
    let count = |kind| text.lines().filter(|line| line.starts_with(kind)).count();
    let shown = [count("::error "), count("::warning "), count("::notice "), text.lines().count()];
    assert_eq!(shown, [10, 10, 1, 21]);
    assert!(text.contains("::15 more failures and 1 more flaky test"), "{text}");
}

#[test]
fn equal_failures_are_reported_once() {
    let variant = |revision: &str| Test { protocol: Some(revision.to_owned()), ..failed(1) };
    let passed = Test { outcome: Outcome::Passed, failed_tries: Vec::new(), ..variant("c") };
    let run = sample::of(vec![variant("a"), variant("b"), passed]);
    let text = render_agent(&run);
    assert_eq!(text.matches("FAIL ").count(), 1, "{text}");
    assert!(
        text.contains(
            "\"test 1 [a]\" (server weather)\n  same failure in: [b]\n  passes in: [c]\n"
        ),
        "{text}"
    );
    assert_eq!(render_github(&run).lines().count(), 1);
    assert_eq!(render_markdown(&run).matches("<details>").count(), 1);
}

fn fingerprints(run: &Run) -> Vec<String> {
    let issues: Vec<Value> = serde_json::from_str(&render_gitlab(run)).unwrap();
    issues.iter().map(|it| it["fingerprint"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_fingerprint_does_not_depend_on_the_line_and_the_actual_value() {
    let test = failed(7);
    let moved = |change: fn(&mut Test)| {
        let mut other = test.clone();
        change(&mut other);
        fingerprints(&sample::of(vec![other])).remove(0)
    };
    let here = fingerprints(&sample::of(vec![test.clone()])).remove(0);
    assert_eq!(here, moved(|test| test.place.line = 99));
    assert_eq!(here, moved(|test| test.failed_tries[0].failures[0].place.line = 99));
    let other = r#"text: expected "cloudy", found "rain""#;
    let message =
        |test: &mut Test, text: &str| test.failed_tries[0].failures[0].message = text.into();
    let mut found = test.clone();
    message(&mut found, other);
    assert_eq!(here, fingerprints(&sample::of(vec![found.clone()])).remove(0));
    message(&mut found, "no answer within 1s");
    assert_ne!(here, fingerprints(&sample::of(vec![found])).remove(0));
    assert_ne!(here, moved(|test| test.name.push('x')));
    assert_ne!(here, moved(|test| test.protocol = Some("2025-11-25".into())));
    assert_ne!(here, moved(|test| test.outcome = Outcome::Passed));
}

#[test]
fn equal_failures_have_different_fingerprints() {
    let all = fingerprints(&sample::of(vec![failed(1); 5]));
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 5);
}

#[test]
fn every_report_supports_a_run_without_tests() {
    let run = sample::of(Vec::new());
    assert_eq!(render_github(&run), "");
    assert_eq!(render_gitlab(&run), "[]\n");
    assert_eq!(render_agent(&run), "0 passed, 0 failed, 0 skipped in 1.2 s\n");
    assert!(render_junit(&run).contains("<testsuites name=\"spar test\" tests=\"0\""));
    assert!(tap_reader::read(&render_tap(&run)).0.is_empty());
    assert!(render_markdown(&run).starts_with("## No test ran\n"));
}

#[test]
fn only_a_run_that_was_stopped_early_bails_out() {
    assert_eq!(tap_reader::read(&render_tap(&many(2))).1, None);
    let stopped = Run { stopped: true, ..many(2) };
    let why = "the run was stopped early".to_owned();
    assert_eq!(tap_reader::read(&render_tap(&stopped)).1, Some(why));
}

#[test]
fn an_output_attaches_no_file_in_gitlab() {
    let mut test = failed(1);
    test.failed_tries[0].stdout = "see [[ATTACHMENT|secrets.txt]]".into();
    let text = render_junit(&sample::of(vec![test]));
    assert!(text.contains("<system-out>see [ [ATTACHMENT|secrets.txt]]</system-out>"), "{text}");
}

#[test]
fn tap_escapes_names_and_reasons() {
    let odd = "a # SKIP \\ b \\# c";
    let skipped = Outcome::Skipped;
    let test = Test { outcome: skipped, reason: Some("no #1".into()), ..sample::test(odd, 1) };
    let (points, _) = tap_reader::read(&render_tap(&sample::of(vec![test])));
    assert_eq!(points[0].description.trim(), format!("examples/weather.spar.yaml: {odd}"));
    assert_eq!(points[0].skip.as_deref(), Some("no #1"));
}

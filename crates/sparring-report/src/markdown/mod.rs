//! Markdown, for a comment on a change or the summary of a job: the numbers, a
//! table by suite, each failure to unfold, and what else is worth a look.
//!
//! It is small enough for a comment on GitHub, which takes 65,536 characters. All
//! that comes from a suite or a server stands in code, where nothing of it is
//! markup, a link or a mention.

mod code;
mod failures;

use std::collections::HashMap;

use crate::bounded::Bounded;
use crate::{Outcome, Run, Summary, Test, counts, cut, duration, story, variants};
use code::code;

/// The most bytes of all, and the shares of the parts that can be long.
const MOST: usize = 60_000;
const SUITES: usize = 8_000;
const FAILURES: usize = 38_000;
const ASIDE: usize = 3_000;
/// How many of the slowest tests are told.
const SLOWEST: usize = 5;
/// How much of a name or of a message in a table is shown.
const NAME: usize = 200;

/// The run as Markdown, as GitHub and GitLab show it.
pub fn markdown(run: &Run) -> String {
    let mut text = Bounded::new(MOST);
    text.add(&headline(run), MOST);
    by_suite(&mut text, run);
    failures::add(&mut text, run, FAILURES);
    differences(&mut text, run);
    flaky(&mut text, run);
    skipped(&mut text, run);
    slowest(&mut text, run);
    text.into_text()
}

fn headline(run: &Run) -> String {
    let Summary { passed, failed, .. } = run.summary;
    let all = counts::of(run.tests.len(), "test");
    let title = match (failed, passed) {
        (0, 0) => "Nothing ran".to_owned(),
        (0, _) => format!("{passed} of {all} passed"),
        _ => format!("{failed} of {all} failed"),
    };
    let stopped = if run.stopped { ", ended early" } else { "" };
    let shard = run.shard.as_deref().map(|shard| format!(", shard {}", code(shard, NAME)));
    let (counts, time) = (run.summary, duration::shown(run.took_ms));
    let shard = shard.unwrap_or_default();
    format!("## {title}\n\n{counts} in {time}{stopped}{shard} (spar {})\n", code(&run.spar, NAME))
}

fn by_suite(text: &mut Bounded, run: &Run) {
    let mut suites: Vec<(&str, Vec<&Test>)> = Vec::new();
    let mut places = HashMap::new();
    for test in &run.tests {
        let at = *places.entry(test.suite.as_str()).or_insert(suites.len());
        match suites.get_mut(at) {
            Some((_, tests)) => tests.push(test),
            None => suites.push((&test.suite, vec![test])),
        }
    }
    // Those with a failure first: the others may be left out.
    let failed = |tests: &[&Test]| tests.iter().any(|test| test.outcome == Outcome::Failed);
    suites.sort_by_key(|(_, tests)| !failed(tests));
    let rows = suites.into_iter().map(|(suite, tests)| {
        let count = |outcome| tests.iter().filter(|test| test.outcome == outcome).count();
        let took = tests.iter().map(|test| duration::seconds(test.took_ms) * 1e3).sum();
        format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            code(suite, NAME),
            count(Outcome::Passed),
            count(Outcome::Failed),
            count(Outcome::Skipped),
            count(Outcome::NotRun),
            duration::shown(took),
        )
    });
    let head = "| suite | passed | failed | skipped | not run | time |\n\
                |---|--:|--:|--:|--:|--:|\n";
    section(text, "", head, rows.collect(), SUITES, "suite");
}

fn differences(text: &mut Bounded, run: &Run) {
    let all = variants::differences(run);
    let rows = all.iter().map(|it| {
        let (fails, passes) = (it.fails_in.join(" "), it.passes_in.join(" "));
        let [fails, passes] = [fails, passes].map(|variants| code(&variants, NAME));
        format!("| {} | {fails} | {passes} |\n", name(it.test, &it.test.name))
    });
    let head = "| test | fails in | passes in |\n|---|---|---|\n";
    section(text, "Not the same everywhere", head, rows.collect(), ASIDE, "test");
}

fn flaky(text: &mut Bounded, run: &Run) {
    let rows = run.tests.iter().filter(|test| test.is_flaky()).map(|test| {
        let why = test.failed_tries.last().map(|last| story::headline(last, NAME));
        let (tries, why) = (test.failed_tries.len() + 1, code(&why.unwrap_or_default(), NAME));
        format!("| {} | {tries} | {why} |\n", name(test, &test.title()))
    });
    let head = "| test | passed at try | failed before of |\n|---|--:|---|\n";
    section(text, "Flaky", head, rows.collect(), ASIDE, "test");
}

fn skipped(text: &mut Bounded, run: &Run) {
    let rows = run.tests.iter().filter(|test| test.outcome == Outcome::Skipped).map(|test| {
        let reason = code(test.reason.as_deref().unwrap_or_default(), NAME);
        format!("| {} | {reason} |\n", name(test, &test.title()))
    });
    section(text, "Skipped", "| test | why |\n|---|---|\n", rows.collect(), ASIDE, "test");
}

fn slowest(text: &mut Bounded, run: &Run) {
    let ran = |test: &&Test| matches!(test.outcome, Outcome::Passed | Outcome::Failed);
    let mut tests: Vec<&Test> = run.tests.iter().filter(ran).collect();
    tests.sort_by(|a, b| duration::seconds(b.took_ms).total_cmp(&duration::seconds(a.took_ms)));
    let rows = tests.iter().take(SLOWEST).map(|test| {
        format!("| {} | {} |\n", name(test, &test.title()), duration::shown(test.took_ms))
    });
    section(text, "Slowest", "| test | time |\n|---|--:|\n", rows.collect(), ASIDE, "test");
}

/// A table below a heading, unless it is empty.
fn section(
    text: &mut Bounded,
    title: &str,
    head: &str,
    rows: Vec<String>,
    share: usize,
    what: &str,
) {
    if rows.is_empty() {
        return;
    }
    let title = if title.is_empty() { String::new() } else { format!("\n### {title}\n") };
    text.add(&format!("{title}\n{head}"), MOST);
    let rest = |left| format!("\nand {} more\n", counts::of(left, what));
    text.add_all(rows.into_iter(), share, rest);
}

/// A test with its suite.
fn name(test: &Test, title: &str) -> String {
    code(&format!("{}: {}", test.suite, cut::line(title, NAME)), 2 * NAME)
}

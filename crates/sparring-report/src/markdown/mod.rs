//! The Markdown report, for a comment on a change or the summary of a job: counts, a table
//! of suites, foldable failures, and tables of differing, flaky, skipped and slow tests.
//!
//! It fits into a comment on GitHub, which is limited to 65,536 characters. All texts of a
//! suite or a server are rendered as code, so that they cannot contain markup, links or
//! mentions.

mod code;
mod failures;

use std::collections::HashMap;

use crate::bounded_text::BoundedText;
use crate::{Outcome, Run, Summary, Test, failure_text, format, grouping, truncate};
use code::code;

/// The maximum size of the report in bytes, and of its parts.
const MAX_BYTES: usize = 60_000;
const MAX_SUITES_BYTES: usize = 8_000;
const MAX_FAILURES_BYTES: usize = 38_000;
const MAX_TABLE_BYTES: usize = 3_000;
/// The number of slowest tests that are listed.
const MAX_SLOWEST: usize = 5;
/// The maximum length of a name, or of a message in a table, in bytes.
const MAX_NAME_BYTES: usize = 200;

/// Renders Markdown for GitHub and GitLab.
pub fn render_markdown(run: &Run) -> String {
    let mut text = BoundedText::new(MAX_BYTES);
    text.add(&render_summary(run), MAX_BYTES);
    add_suites(&mut text, run);
    failures::add(&mut text, run, MAX_FAILURES_BYTES);
    add_differences(&mut text, run);
    add_flaky(&mut text, run);
    add_notes(&mut text, run);
    add_skipped(&mut text, run);
    add_slowest(&mut text, run);
    text.into_text()
}

fn render_summary(run: &Run) -> String {
    let Summary { passed, failed, .. } = run.summary;
    let all = format::count(run.tests.len(), "test");
    let title = match (failed, passed) {
        (0, 0) => "No test ran".to_owned(),
        (0, _) => format!("{passed} of {all} passed"),
        _ => format!("{failed} of {all} failed"),
    };
    let stopped = if run.stopped { ", stopped early" } else { "" };
    let shard =
        run.shard.as_deref().map(|shard| format!(", shard {}", code(shard, MAX_NAME_BYTES)));
    let (counts, time) = (run.summary, format::duration(run.took_ms));
    let shard = shard.unwrap_or_default();
    format!(
        "## {title}\n\n{counts} in {time}{stopped}{shard} (spar {})\n",
        code(&run.spar, MAX_NAME_BYTES)
    )
}

fn add_suites(text: &mut BoundedText, run: &Run) {
    let mut suites: Vec<(&str, Vec<&Test>)> = Vec::new();
    let mut indices = HashMap::new();
    for test in &run.tests {
        let index = *indices.entry(test.suite.as_str()).or_insert(suites.len());
        match suites.get_mut(index) {
            Some((_, tests)) => tests.push(test),
            None => suites.push((&test.suite, vec![test])),
        }
    }
    // Suites with a failure come first, since the others may be omitted.
    let failed = |tests: &[&Test]| tests.iter().any(|test| test.outcome == Outcome::Failed);
    suites.sort_by_key(|(_, tests)| !failed(tests));
    let rows = suites.into_iter().map(|(suite, tests)| {
        let count = |outcome| tests.iter().filter(|test| test.outcome == outcome).count();
        let took = tests.iter().map(|test| format::seconds(test.took_ms) * 1e3).sum();
        format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            code(suite, MAX_NAME_BYTES),
            count(Outcome::Passed),
            count(Outcome::Failed),
            count(Outcome::Skipped),
            count(Outcome::NotRun),
            format::duration(took),
        )
    });
    let head = "| suite | passed | failed | skipped | not run | time |\n\
                |---|--:|--:|--:|--:|--:|\n";
    add_table(text, "", head, rows.collect(), MAX_SUITES_BYTES, "suite");
}

fn add_differences(text: &mut BoundedText, run: &Run) {
    let all = grouping::variant_differences(run);
    let rows = all.iter().map(|it| {
        let (fails, passes) = (it.fails_in.join(" "), it.passes_in.join(" "));
        let [fails, passes] = [fails, passes].map(|variants| code(&variants, MAX_NAME_BYTES));
        format!("| {} | {fails} | {passes} |\n", test_label(it.test, &it.test.name))
    });
    let head = "| test | fails in | passes in |\n|---|---|---|\n";
    add_table(text, "Different between variants", head, rows.collect(), MAX_TABLE_BYTES, "test");
}

fn add_flaky(text: &mut BoundedText, run: &Run) {
    let rows = run.tests.iter().filter(|test| test.is_flaky()).map(|test| {
        let why = test.failed_tries.last().map(|last| failure_text::headline(last, MAX_NAME_BYTES));
        let (tries, why) =
            (test.failed_tries.len() + 1, code(&why.unwrap_or_default(), MAX_NAME_BYTES));
        format!("| {} | {tries} | {why} |\n", test_label(test, &test.title()))
    });
    let head = "| test | passed on try | earlier failure |\n|---|--:|---|\n";
    add_table(text, "Flaky", head, rows.collect(), MAX_TABLE_BYTES, "test");
}

fn add_notes(text: &mut BoundedText, run: &Run) {
    let notes = run.tests.iter().flat_map(|test| test.notes.iter().map(move |note| (test, note)));
    let rows = notes.map(|(test, note)| {
        let message = code(&note.message, MAX_NAME_BYTES);
        format!("| {} | {message} |\n", test_label(test, &test.title()))
    });
    let head = "| test | note |\n|---|---|\n";
    add_table(text, "Notes", head, rows.collect(), MAX_TABLE_BYTES, "note");
}

fn add_skipped(text: &mut BoundedText, run: &Run) {
    let rows = run.tests.iter().filter(|test| test.outcome == Outcome::Skipped).map(|test| {
        let reason = code(test.reason.as_deref().unwrap_or_default(), MAX_NAME_BYTES);
        format!("| {} | {reason} |\n", test_label(test, &test.title()))
    });
    add_table(
        text,
        "Skipped",
        "| test | reason |\n|---|---|\n",
        rows.collect(),
        MAX_TABLE_BYTES,
        "test",
    );
}

fn add_slowest(text: &mut BoundedText, run: &Run) {
    let ran = |test: &&Test| matches!(test.outcome, Outcome::Passed | Outcome::Failed);
    let mut tests: Vec<&Test> = run.tests.iter().filter(ran).collect();
    tests.sort_by(|a, b| format::seconds(b.took_ms).total_cmp(&format::seconds(a.took_ms)));
    let rows = tests.iter().take(MAX_SLOWEST).map(|test| {
        format!("| {} | {} |\n", test_label(test, &test.title()), format::duration(test.took_ms))
    });
    add_table(
        text,
        "Slowest",
        "| test | time |\n|---|--:|\n",
        rows.collect(),
        MAX_TABLE_BYTES,
        "test",
    );
}

/// Adds a table below a heading, unless the table is empty.
fn add_table(
    text: &mut BoundedText,
    title: &str,
    head: &str,
    rows: Vec<String>,
    share: usize,
    noun: &str,
) {
    if rows.is_empty() {
        return;
    }
    let title = if title.is_empty() { String::new() } else { format!("\n### {title}\n") };
    text.add(&format!("{title}\n{head}"), MAX_BYTES);
    let rest = |left| format!("\nand {}\n", format::more(left, noun));
    text.add_all(rows.into_iter(), share, rest);
}

/// Renders a test with its suite.
fn test_label(test: &Test, title: &str) -> String {
    code(
        &format!("{}: {}", test.suite, truncate::one_line(title, MAX_NAME_BYTES)),
        2 * MAX_NAME_BYTES,
    )
}

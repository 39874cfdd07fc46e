//! The report for a coding agent. It is short, since an agent pays for every word: it has
//! only the facts that help to fix the failures.
//!
//! Tests with equal failures are reported once. Texts of a target are indented below a
//! label, so that they cannot be mistaken for a part of the report.

use crate::bounded_text::BoundedText;
use crate::grouping::{FailureGroup, group_failures};
use crate::{Failure, Note, Outcome, Run, Test, failure_text, format, grouping, traffic, truncate};

/// The maximum size of the report in bytes, and of its parts: complete failures, failures
/// in one line, and flaky tests.
const MAX_BYTES: usize = 16 * 1024;
const MAX_FAILURES_BYTES: usize = 12 * 1024;
const MAX_FAILURE_LINES_BYTES: usize = 2 * 1024;
const MAX_FLAKY_BYTES: usize = 1024;
/// The maximum size of one failure in bytes, and the approximate minimum.
const MAX_FAILURE_BYTES: usize = 6 * 1024;
const MIN_FAILURE_BYTES: usize = 200;
/// The maximum bytes of a message or a response, of less important texts, and of a name.
const MAX_TEXT_BYTES: usize = 800;
const MAX_DETAIL_BYTES: usize = 400;
const MAX_NAME_BYTES: usize = 200;
/// The maximum number of lines of a diff and of an output, and the bytes of each line.
const MAX_DIFF_LINES: usize = 24;
const MAX_OUTPUT_LINES: usize = 10;
const MAX_LINE_BYTES: usize = 120;
/// The maximum number of failures, tests or violations in one list.
const MAX_LISTED: usize = 4;

/// Renders the failures of a run for a coding agent, in at most 16 KiB: the first failures
/// completely, others in one line each, and the number of the rest.
pub fn render_agent(run: &Run) -> String {
    let mut text = BoundedText::new(MAX_BYTES);
    text.add(&render_summary(run), MAX_BYTES);
    let failed = group_failures(run);
    let left = text.add_fitting(&failed, MAX_FAILURES_BYTES, MIN_FAILURE_BYTES, |group| {
        render_group(run, group)
    });
    if !left.is_empty() {
        text.add("\n", MAX_BYTES);
    }
    text.add_all(left.into_iter().map(render_group_line), MAX_FAILURE_LINES_BYTES, |left| {
        let more = format::more(left, "failure");
        format!("and {more} (run one suite at a time, or use --report json=FILE)\n")
    });
    let flaky: Vec<String> =
        run.tests.iter().filter(|test| test.is_flaky()).map(render_flaky_line).collect();
    if !flaky.is_empty() {
        text.add("\n", MAX_BYTES);
    }
    let more = |left| format!("and {}\n", format::more(left, "flaky test"));
    text.add_all(flaky.into_iter(), MAX_FLAKY_BYTES, more);
    let notes: Vec<String> = run.tests.iter().flat_map(render_note_lines).collect();
    if !notes.is_empty() {
        text.add("\n", MAX_BYTES);
    }
    let more = |left| format!("and {}\n", format::more(left, "note"));
    text.add_all(notes.into_iter(), MAX_FLAKY_BYTES, more);
    text.into_text()
}

fn render_summary(run: &Run) -> String {
    let stopped = if run.stopped { "; stopped early" } else { "" };
    let shard = run
        .shard
        .as_deref()
        .map(|shard| format!("; shard {}", truncate::one_line(shard, MAX_NAME_BYTES)));
    let (counts, time) = (run.summary, format::duration(run.took_ms));
    format!("{counts} in {time}{}{stopped}\n", shard.unwrap_or_default())
}

/// Renders the failures, the last exchange, the output of the target, and the rerun command.
fn render_group(run: &Run, group: &FailureGroup<'_>) -> String {
    let test = group.first;
    let rerun = format!("  rerun: {}\n", truncate::one_line(&test.rerun_command, MAX_TEXT_BYTES));
    let max_bytes = MAX_FAILURE_BYTES - rerun.len();
    let mut text = BoundedText::new(MAX_FAILURE_BYTES);
    let header = format!("\nFAIL {}\n{}", test_label(test), render_related_tests(run, group));
    text.add(&header, max_bytes);
    text.add(&render_tries(test), max_bytes);
    let last = test.failure();
    let failures = last.map(|last| last.failures.as_slice()).unwrap_or_default();
    let rendered = failure_text::with_source(failures).take(MAX_LISTED);
    let rendered = rendered.map(|(failure, source)| render_failure(failure, source));
    let added = rendered.take_while(|it| text.add(it, max_bytes - MAX_DETAIL_BYTES)).count();
    if added < failures.len() {
        let rest = format::more(failures.len() - added, "failure");
        text.add(&format!("  and {rest}\n"), max_bytes);
    }
    for line in failure_text::render_rule(test) {
        text.add(&format!("  {line}\n"), max_bytes - MAX_DETAIL_BYTES / 2);
    }
    let outputs = last.map(|last| [("stderr", &last.stderr), ("stdout", &last.stdout)]);
    let outputs = outputs.into_iter().flatten().map(|(name, output)| {
        (
            name,
            render_block(
                &format!("end of {name}"),
                &truncate::last_lines(output, MAX_OUTPUT_LINES, MAX_LINE_BYTES),
            ),
        )
    });
    let exchange = ("the last request", render_last_exchange(test));
    for (name, part) in std::iter::once(exchange).chain(outputs) {
        if !text.add(&part, max_bytes - MAX_DETAIL_BYTES / 2) {
            text.add(&format!("  ({name} omitted)\n"), max_bytes);
        }
    }
    text.add(&rerun, MAX_FAILURE_BYTES);
    text.into_text()
}

fn render_failure(failure: &Failure, source: &str) -> String {
    let Failure { place, message, diff, .. } = failure;
    let source = truncate::one_line(source.trim(), MAX_DETAIL_BYTES);
    let source = if source.is_empty() { source } else { format!(" | {source}") };
    let mut text = match place.has_file() {
        true => format!("  at {}{source}\n", failure_text::location(place)),
        false => String::new(),
    };
    text.push_str(&format!("    {}\n", truncate::one_line(message, MAX_TEXT_BYTES)));
    let diff = diff.as_deref().unwrap_or_default();
    text.push_str(&render_block(
        "diff (- expected, + found)",
        &truncate::first_lines(diff, MAX_DIFF_LINES, MAX_LINE_BYTES),
    ));
    text
}

/// Renders the number of failed tries, and states if earlier tries failed differently.
fn render_tries(test: &Test) -> String {
    match test.failed_tries.as_slice() {
        [] | [_] => String::new(),
        [earlier @ .., last] if earlier.iter().all(|it| it.failures == last.failures) => {
            format!("  tries: {}, all with the same failures\n", earlier.len() + 1)
        }
        [earlier @ .., last] => {
            let other = earlier.iter().find(|it| it.failures != last.failures);
            let other =
                other.map(|it| failure_text::headline(it, MAX_NAME_BYTES)).unwrap_or_default();
            format!("  tries: {}, with different failures; before: {other}\n", earlier.len() + 1)
        }
    }
}

/// Renders the variants and tests with the same failures, and the variants that pass.
fn render_related_tests(run: &Run, group: &FailureGroup<'_>) -> String {
    let test = group.first;
    let is_same = |other: &&&Test| grouping::test_identity(other) == grouping::test_identity(test);
    let (same, others): (Vec<&Test>, Vec<&Test>) =
        group.others.iter().copied().partition(|other| is_same(&other));
    let passed = run.tests.iter().filter(|other| other.outcome == Outcome::Passed);
    let passed: Vec<&Test> = passed.filter(|other| is_same(&other)).collect();
    let variants =
        |tests: &[&Test]| render_list(tests.iter().map(|test| grouping::variant_label(test)));
    let mut text = String::new();
    if !same.is_empty() {
        text.push_str(&format!("  same failure in: {}\n", variants(&same)));
    }
    if !passed.is_empty() {
        text.push_str(&format!("  passes in: {}\n", variants(&passed)));
    }
    if !others.is_empty() {
        let count = format::count(others.len(), "other test");
        let names = render_list(others.iter().map(|test| format!("\"{}\"", test.title())));
        text.push_str(&format!("  same failure in {count}: {names}\n"));
    }
    text
}

fn render_list(texts: impl ExactSizeIterator<Item = String>) -> String {
    let left = texts.len().saturating_sub(MAX_LISTED);
    let listed: Vec<String> =
        texts.take(MAX_LISTED).map(|text| truncate::one_line(&text, MAX_LINE_BYTES)).collect();
    match left {
        0 => listed.join(", "),
        _ => format!("{} and {left} more", listed.join(", ")),
    }
}

/// Renders the last request, its response, and the violations of the response.
fn render_last_exchange(test: &Test) -> String {
    let Some(it) = traffic::last_exchange(test) else { return String::new() };
    let response = it.response.map(|frame| traffic::summarize_frame(frame, MAX_TEXT_BYTES));
    let response = response.unwrap_or_else(|| "none".to_owned());
    let mut text =
        format!("  request: {}\n", traffic::summarize_frame(it.request, MAX_DETAIL_BYTES));
    text.push_str(&format!("  response: {response}\n"));
    let violations = it
        .response
        .map(|frame| traffic::render_violations(frame, MAX_DETAIL_BYTES))
        .unwrap_or_default();
    text.extend(violations.iter().take(MAX_LISTED).map(|it| format!("  violation: {it}\n")));
    text
}

fn render_block(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let lines: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    format!("  {title}:\n{lines}")
}

fn render_group_line(group: &FailureGroup<'_>) -> String {
    let FailureGroup { first, others, .. } = group;
    let why = first
        .failure()
        .map(|last| failure_text::headline(last, MAX_NAME_BYTES))
        .unwrap_or_default();
    let more = match others.len() {
        0 => String::new(),
        count => format!(" (same failure in {})", format::count(count, "other test")),
    };
    format!("FAIL {}: {why}{more}\n", test_label(first))
}

fn render_flaky_line(test: &Test) -> String {
    let tries = test.failed_tries.len() + 1;
    let why = test.failed_tries.last().map(|last| failure_text::headline(last, MAX_NAME_BYTES));
    let why = why.unwrap_or_default();
    format!("FLAKY {}: passed on try {tries}; before: {why}\n", test_label(test))
}

fn render_note_lines(test: &Test) -> Vec<String> {
    let note = |note: &Note| {
        let message = truncate::one_line(&note.message, MAX_NAME_BYTES);
        format!("NOTE {}: {message}\n", test_label(test))
    };
    test.notes.iter().map(note).collect()
}

/// Renders the location, the title and the server of a test.
fn test_label(test: &Test) -> String {
    let server = test
        .server
        .as_deref()
        .map(|server| format!(" (server {})", truncate::one_line(server, MAX_NAME_BYTES)));
    let (place, title) =
        (failure_text::location(&test.place), truncate::one_line(&test.title(), MAX_NAME_BYTES));
    let gap = if place.is_empty() { "" } else { " " };
    format!("{place}{gap}\"{title}\"{}", server.unwrap_or_default())
}

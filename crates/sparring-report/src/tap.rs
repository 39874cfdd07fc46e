//! TAP 14: one line for each test, with its details in a YAML block below.
//!
//! All texts in a block are JSON strings in one line, which are valid YAML. So a text can
//! neither end the block nor begin a new line.

use serde_json::json;

use crate::{FailedTry, Failure, Outcome, Run, Test, failure_text, format, traffic, truncate};

/// The maximum bytes of a name and of a message or line, and the maximum number of lines.
const MAX_NAME_BYTES: usize = 500;
const MAX_LINE_BYTES: usize = 4_000;
const MAX_LINES: usize = 200;
/// The maximum number of frames, counted from the last one.
const MAX_FRAMES: usize = 10;

/// Renders TAP 14. A run that was stopped early ends with `Bail out!`.
pub fn render_tap(run: &Run) -> String {
    let mut text = format!("TAP version 14\n1..{}\n", run.tests.len());
    for (index, test) in run.tests.iter().enumerate() {
        text.push_str(&render_test_point(index + 1, test));
    }
    if run.stopped {
        text.push_str("Bail out! the run was stopped early\n");
    }
    text
}

fn render_test_point(number: usize, test: &Test) -> String {
    let ok = if test.outcome == Outcome::Failed { "not ok" } else { "ok" };
    let name = escape(&format!("{}: {}", test.suite, test.title()));
    let directive = match test.outcome {
        Outcome::Skipped => skip_directive(test.reason.as_deref().unwrap_or_default()),
        Outcome::NotRun => skip_directive("not run: the run stopped early"),
        Outcome::Passed | Outcome::Failed => String::new(),
    };
    let block: String = render_block(test).iter().map(|line| format!("  {line}\n")).collect();
    match block.is_empty() {
        true => format!("{ok} {number} - {name}{directive}\n"),
        false => format!("{ok} {number} - {name}{directive}\n  ---\n{block}  ...\n"),
    }
}

fn skip_directive(reason: &str) -> String {
    format!(" # SKIP {}", escape(reason)).trim_end().to_owned()
}

/// Escapes a text so that it cannot begin a directive.
fn escape(text: &str) -> String {
    truncate::one_line(text.trim(), MAX_NAME_BYTES).replace('\\', "\\\\").replace('#', "\\#")
}

/// Renders the details of a test that ran, as lines of YAML.
fn render_block(test: &Test) -> Vec<String> {
    if matches!(test.outcome, Outcome::Skipped | Outcome::NotRun) {
        return Vec::new();
    }
    let mut lines = vec![format!("duration_ms: {:.3}", format::seconds(test.took_ms) * 1e3)];
    if test.is_flaky() {
        let tries = test.failed_tries.len() + 1;
        lines.push(format!("flaky: {}", quote(&format!("passed on try {tries}"))));
    }
    if let Some(last) = test.failed_tries.last() {
        lines.extend(render_try(last));
    }
    lines.extend(render_list("notes", &failure_text::render_notes(test)));
    if test.outcome == Outcome::Failed {
        lines.extend(render_list("rule", &failure_text::render_rule(test)));
        let frames = traffic::render_last_frames(test, MAX_FRAMES, MAX_LINE_BYTES);
        lines.extend(render_list("said", &frames));
        lines.push(format!("again: {}", quote(&test.rerun_command)));
    }
    lines
}

fn render_try(last: &FailedTry) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((first, others)) = last.failures.split_first() {
        lines.extend(render_failure(first));
        if !others.is_empty() {
            lines.push("others:".to_owned());
        }
        for other in others {
            let inner = render_failure(other);
            let marks = std::iter::once("  - ").chain(std::iter::repeat("    "));
            lines.extend(inner.iter().zip(marks).map(|(line, mark)| format!("{mark}{line}")));
        }
    }
    for (name, output) in [("stdout", &last.stdout), ("stderr", &last.stderr)] {
        lines.extend(render_list(name, &truncate::last_lines(output, MAX_LINES, MAX_LINE_BYTES)));
    }
    lines
}

fn render_failure(failure: &Failure) -> Vec<String> {
    let Failure { place, source, message, diff, .. } = failure;
    let mut lines = vec![format!("message: {}", quote(message))];
    if place.has_file() {
        lines.extend([
            "at:".to_owned(),
            format!("  file: {}", quote(&place.file)),
            format!("  line: {}", place.line),
            format!("  column: {}", place.column),
            format!("source: {}", quote(source)),
        ]);
    }
    let diff = diff.as_deref().map(|diff| truncate::first_lines(diff, MAX_LINES, MAX_LINE_BYTES));
    lines.extend(diff.into_iter().flat_map(|diff| render_list("diff", &diff)));
    lines
}

/// Renders texts as a list below a key, or nothing if the list is empty.
fn render_list(key: &str, texts: &[String]) -> Vec<String> {
    let key = (!texts.is_empty()).then(|| format!("{key}:"));
    key.into_iter().chain(texts.iter().map(|text| format!("  - {}", quote(text)))).collect()
}

fn quote(text: &str) -> String {
    json!(truncate::one_line(text, MAX_LINE_BYTES)).to_string()
}

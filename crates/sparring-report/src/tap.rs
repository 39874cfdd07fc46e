//! TAP 14: a line a test, and what is to be known of it in a YAML block below.
//!
//! All texts in a block are quoted as JSON has it, one a line, which YAML reads
//! too: no text can end a block or begin another line.

use serde_json::json;

use crate::{Failure, Outcome, Run, Test, Try, cut, duration, spoken};

/// How much of a name, of a message or of a line is shown, and how many lines.
const NAME: usize = 500;
const LONGEST: usize = 4_000;
const LINES: usize = 200;
/// How many of the last frames are shown.
const FRAMES: usize = 10;

/// The run as TAP 14. One that was ended early ends with `Bail out!`.
pub fn tap(run: &Run) -> String {
    let mut text = format!("TAP version 14\n1..{}\n", run.tests.len());
    for (index, test) in run.tests.iter().enumerate() {
        text.push_str(&point(index + 1, test));
    }
    if run.stopped {
        text.push_str("Bail out! the run was ended early\n");
    }
    text
}

fn point(number: usize, test: &Test) -> String {
    let ok = if test.outcome == Outcome::Failed { "not ok" } else { "ok" };
    let name = escaped(&format!("{}: {}", test.suite, test.title()));
    let directive = match test.outcome {
        Outcome::Skipped => skip(test.reason.as_deref().unwrap_or_default()),
        Outcome::NotRun => skip("not run: the run ended first"),
        Outcome::Passed | Outcome::Failed => String::new(),
    };
    let block: String = block(test).iter().map(|line| format!("  {line}\n")).collect();
    match block.is_empty() {
        true => format!("{ok} {number} - {name}{directive}\n"),
        false => format!("{ok} {number} - {name}{directive}\n  ---\n{block}  ...\n"),
    }
}

fn skip(reason: &str) -> String {
    format!(" # SKIP {}", escaped(reason)).trim_end().to_owned()
}

/// A text in which nothing begins a directive.
fn escaped(text: &str) -> String {
    cut::line(text.trim(), NAME).replace('\\', "\\\\").replace('#', "\\#")
}

/// What is to be known of a test that was run, as lines of YAML.
fn block(test: &Test) -> Vec<String> {
    if matches!(test.outcome, Outcome::Skipped | Outcome::NotRun) {
        return Vec::new();
    }
    let mut lines = vec![format!("duration_ms: {:.3}", duration::seconds(test.took_ms) * 1e3)];
    if test.is_flaky() {
        let tries = test.failed_tries.len() + 1;
        lines.push(format!("flaky: {}", quoted(&format!("it passed at try {tries}"))));
    }
    if let Some(last) = test.failed_tries.last() {
        lines.extend(failed(last));
    }
    if test.outcome == Outcome::Failed {
        let said = spoken::conversation(test, FRAMES, LONGEST);
        lines.extend(list("said", &said));
        lines.push(format!("again: {}", quoted(&test.again)));
    }
    lines
}

fn failed(last: &Try) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((first, others)) = last.failures.split_first() {
        lines.extend(failure(first));
        if !others.is_empty() {
            lines.push("others:".to_owned());
        }
        for other in others {
            let inner = failure(other);
            let marks = std::iter::once("  - ").chain(std::iter::repeat("    "));
            lines.extend(inner.iter().zip(marks).map(|(line, mark)| format!("{mark}{line}")));
        }
    }
    for (name, output) in [("stdout", &last.stdout), ("stderr", &last.stderr)] {
        lines.extend(list(name, &cut::last_lines(output, LINES, LONGEST)));
    }
    lines
}

fn failure(failure: &Failure) -> Vec<String> {
    let Failure { place, source, message, diff } = failure;
    let mut lines = vec![
        format!("message: {}", quoted(message)),
        "at:".to_owned(),
        format!("  file: {}", quoted(&place.file)),
        format!("  line: {}", place.line),
        format!("  column: {}", place.column),
        format!("source: {}", quoted(source)),
    ];
    let diff = diff.as_deref().map(|diff| cut::first_lines(diff, LINES, LONGEST));
    lines.extend(diff.into_iter().flat_map(|diff| list("diff", &diff)));
    lines
}

/// Texts below a key; nothing where there are none.
fn list(key: &str, texts: &[String]) -> Vec<String> {
    let key = (!texts.is_empty()).then(|| format!("{key}:"));
    key.into_iter().chain(texts.iter().map(|text| format!("  - {}", quoted(text)))).collect()
}

fn quoted(text: &str) -> String {
    json!(cut::line(text, LONGEST)).to_string()
}

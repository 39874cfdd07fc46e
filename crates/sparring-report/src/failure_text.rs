//! Renders a failed try as plain text: its failures and their locations, the traffic, and
//! the command that reruns the test.

use crate::{FailedTry, Failure, Note, SourceLocation, Test, traffic, truncate};

/// The maximum length of a message or a line, in bytes, and the maximum lines of a diff.
const MAX_LINE_BYTES: usize = 4_000;
const MAX_DIFF_LINES: usize = 200;
/// The maximum number of frames, counted from the last one.
const MAX_FRAMES: usize = 10;

/// Formats a location as compilers do; empty if there is no file.
pub(crate) fn location(place: &SourceLocation) -> String {
    if !place.has_file() {
        return String::new();
    }
    format!("{}:{}:{}", truncate::one_line(&place.file, 500), place.line, place.column)
}

/// Puts the location before a text, if there is a file.
pub(crate) fn with_location(place: &SourceLocation, text: &str) -> String {
    match place.has_file() {
        true => format!("{}: {text}", location(place)),
        false => text.to_owned(),
    }
}

/// Renders the rule that a test checks, in one line for each of its parts.
pub(crate) fn render_rule(test: &Test) -> Vec<String> {
    let Some(rule) = &test.rule else { return Vec::new() };
    let section = rule.section.as_deref().unwrap_or_default();
    [("rule", rule.summary.as_str()), ("section", section), ("change", &rule.advice)]
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| format!("{name}: {}", truncate::one_line(text, MAX_LINE_BYTES)))
        .collect()
}

/// Summarizes the failures of a try in one line.
pub(crate) fn headline(failed: &FailedTry, max_bytes: usize) -> String {
    match failed.failures.as_slice() {
        [] => "failed without a message".to_owned(),
        [only] => truncate::one_line(&only.message, max_bytes),
        [first, others @ ..] => {
            format!("{} (and {} more)", truncate::one_line(&first.message, max_bytes), others.len())
        }
    }
}

/// Returns each failure with the text of its source line. The text is empty if the failure
/// before is in the same line.
pub(crate) fn with_source(failures: &[Failure]) -> impl Iterator<Item = (&Failure, &str)> {
    let line = |failure: &Failure| (failure.place.file.clone(), failure.place.line);
    failures.iter().enumerate().map(move |(index, failure)| {
        let before = index.checked_sub(1).map(|before| line(&failures[before]));
        let source = if before == Some(line(failure)) { "" } else { failure.source.trim_end() };
        (failure, source)
    })
}

/// Renders the notes of a test with their locations, in one line each.
pub(crate) fn render_notes(test: &Test) -> Vec<String> {
    let note = |note: &Note| {
        with_location(&note.place, &truncate::one_line(&note.message, MAX_LINE_BYTES))
    };
    test.notes.iter().map(note).collect()
}

/// Renders the failures of a try.
pub(crate) fn render_failures(failed: &FailedTry) -> String {
    let rendered =
        with_source(&failed.failures).map(|(failure, source)| render_failure(failure, source));
    rendered.collect::<Vec<_>>().join("\n")
}

/// Renders the failures of a test's last try, the traffic and the rerun command.
pub(crate) fn render_failed_test(test: &Test, failed: &FailedTry) -> String {
    let mut text = render_failures(failed);
    for line in render_rule(test) {
        text.push_str(&format!("{line}\n"));
    }
    let frames = traffic::render_last_frames(test, MAX_FRAMES, MAX_LINE_BYTES);
    if !frames.is_empty() {
        text.push_str(&format!("\ntraffic:\n{}\n", frames.join("\n")));
    }
    text.push_str(&format!(
        "\nrerun:\n{}\n",
        truncate::one_line(&test.rerun_command, MAX_LINE_BYTES)
    ));
    text
}

fn render_failure(failure: &Failure, source: &str) -> String {
    let Failure { place, message, diff, .. } = failure;
    let message = truncate::one_line(message, MAX_LINE_BYTES);
    let mut text = format!("{}\n", with_location(place, &message));
    if !source.is_empty() {
        let source = truncate::one_line(source, MAX_LINE_BYTES);
        text.push_str(&format!("{:>4} | {source}\n", place.line));
    }
    if let Some(diff) = diff {
        text.push_str("difference (- expected, + found):\n");
        for line in truncate::first_lines(diff, MAX_DIFF_LINES, MAX_LINE_BYTES) {
            text.push_str(&format!("{line}\n"));
        }
    }
    text
}

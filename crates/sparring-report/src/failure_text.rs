//! Renders a failed try as plain text: its failures and their locations, the traffic, and
//! the command that reruns the test.

use crate::{FailedTry, Failure, Note, SourceLocation, Test, traffic, truncate};

/// The maximum length of a message or a line, in bytes, and the maximum lines of a diff.
const MAX_LINE_BYTES: usize = 4_000;
const MAX_DIFF_LINES: usize = 200;
/// The maximum number of frames, counted from the last one.
const MAX_FRAMES: usize = 10;

/// Formats a location as compilers do.
pub(crate) fn location(place: &SourceLocation) -> String {
    format!("{}:{}:{}", truncate::one_line(&place.file, 500), place.line, place.column)
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
        format!("{}: {}", location(&note.place), truncate::one_line(&note.message, MAX_LINE_BYTES))
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
    let mut text = format!("{}: {message}\n", location(place));
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

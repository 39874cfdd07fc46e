//! Annotations for GitHub: workflow commands that show each failure at its line of the suite.
//!
//! Paths are those of the run. GitHub expects them relative to the root of the repository.

use crate::grouping::{FailureGroup, group_failures};
use crate::{Note, Run, SourceLocation, Test, failure_text, format, truncate};

/// The maximum number of annotations of one kind that GitHub shows for a step.
const MAX_ANNOTATIONS: usize = 10;
/// The maximum bytes of a title and of a message, and the maximum lines of a diff.
const MAX_TITLE_BYTES: usize = 200;
const MAX_MESSAGE_BYTES: usize = 1_000;
const MAX_DIFF_LINES: usize = 20;

/// Renders an error for each group of failures, a warning for each flaky test and a notice for
/// each note, in one line each. A notice counts those that GitHub would not show.
pub fn render_github(run: &Run) -> String {
    let failed = group_failures(run);
    let flaky: Vec<&Test> = run.tests.iter().filter(|test| test.is_flaky()).collect();
    let errors = failed.iter().take(MAX_ANNOTATIONS).map(render_error);
    let warnings = flaky.iter().take(MAX_ANNOTATIONS).map(|test| render_warning(test));
    let notes = run.tests.iter().flat_map(|test| test.notes.iter().map(move |note| (test, note)));
    let shown = notes.clone().take(MAX_ANNOTATIONS).map(|(test, note)| render_note(test, note));
    let mut text: String = errors.chain(warnings).chain(shown).collect();
    let rest = [(failed.len(), "failure"), (flaky.len(), "flaky test"), (notes.count(), "note")];
    let rest = rest.map(|(all, noun)| (all.saturating_sub(MAX_ANNOTATIONS), noun));
    let rest: Vec<String> = rest
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| format::more(*count, noun))
        .collect();
    if !rest.is_empty() {
        let notice = format!("{}, see the log", rest.join(" and "));
        text.push_str(&format!("::notice title={}::{}\n", run.verb(), escape_data(&notice)));
    }
    text
}

fn render_error(group: &FailureGroup<'_>) -> String {
    let FailureGroup { first, others, .. } = group;
    let more = match others.len() {
        0 => String::new(),
        count => format!(" (same failure in {})", format::count(count, "other test")),
    };
    let title = format!("{}{more}", truncate::one_line(&first.title(), MAX_TITLE_BYTES));
    let failures = first.failure().map(|last| last.failures.as_slice()).unwrap_or_default();
    let mut lines = Vec::new();
    for failure in failures {
        let line = failure.place.line;
        let message = truncate::one_line(&failure.message, MAX_MESSAGE_BYTES);
        let has_lines = failures.len() > 1 && failure.place.has_file();
        lines.push(if has_lines { format!("line {line}: {message}") } else { message });
        let diff = failure.diff.as_deref().unwrap_or_default();
        lines.extend(truncate::first_lines(diff, MAX_DIFF_LINES, MAX_MESSAGE_BYTES));
    }
    if lines.is_empty() {
        lines.push("failed without a message".to_owned());
    }
    lines.truncate(2 * MAX_DIFF_LINES);
    lines.extend(failure_text::render_rule(first));
    lines.push(format!("rerun: {}", truncate::one_line(&first.rerun_command, MAX_MESSAGE_BYTES)));
    let place = failures.first().map(|failure| &failure.place);
    let place = place.filter(|place| place.has_file()).unwrap_or(&first.place);
    render_command("error", place, &title, &lines.join("\n"))
}

fn render_warning(test: &Test) -> String {
    let why = test.failed_tries.last().map(|last| failure_text::headline(last, MAX_MESSAGE_BYTES));
    let tries = test.failed_tries.len() + 1;
    let message = format!("passed on try {tries}; before: {}", why.unwrap_or_default());
    let title = format!("flaky: {}", truncate::one_line(&test.title(), MAX_TITLE_BYTES));
    render_command("warning", &test.place, &title, &message)
}

fn render_note(test: &Test, note: &Note) -> String {
    let title = truncate::one_line(&test.title(), MAX_TITLE_BYTES);
    let message = truncate::one_line(&note.message, MAX_MESSAGE_BYTES);
    let place = if note.place.has_file() { &note.place } else { &test.place };
    render_command("notice", place, &title, &message)
}

fn render_command(kind: &str, place: &SourceLocation, title: &str, message: &str) -> String {
    let (title, message) = (escape_property(title), escape_data(message));
    if !place.has_file() {
        return format!("::{kind} title={title}::{message}\n");
    }
    let file = escape_property(&truncate::one_line(&place.file, MAX_MESSAGE_BYTES));
    let (line, column) = (place.line.max(1), place.column.max(1));
    format!("::{kind} file={file},line={line},col={column},title={title}::{message}\n")
}

/// Escapes the message of a workflow command. `##[` begins a command anywhere in a line.
fn escape_data(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    text.replace("##[", "## [")
}

/// Escapes the value of a property, in which more characters are special.
fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_escaped() {
        assert_eq!(escape_data("100%, a:b\r\n%0A"), "100%25, a:b%0D%0A%250A");
        assert_eq!(escape_data("a ##[error]b"), "a ## [error]b");
        assert_eq!(escape_property("100%, a:b\n"), "100%25%2C a%3Ab%0A");
    }
}

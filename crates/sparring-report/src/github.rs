//! Annotations for GitHub: workflow commands that put each failure at its line
//! of the suite.
//!
//! Files are named as the run has them; GitHub finds those that are told from
//! the root of the repository.

use crate::alike::{self, Alike};
use crate::{Place, Run, Test, counts, cut, story};

/// How many annotations of one kind GitHub shows of a step.
const SHOWN: usize = 10;
/// How much of a title and of a message is told.
const TITLE: usize = 200;
const LONGEST: usize = 1_000;
const LINES: usize = 20;

/// An error for each thing that tests failed of and a warning for each flaky
/// test, a line each. Of more than GitHub shows, the rest is counted in a notice.
pub fn github(run: &Run) -> String {
    let failed = alike::failed(run);
    let flaky: Vec<&Test> = run.tests.iter().filter(|test| test.is_flaky()).collect();
    let errors = failed.iter().take(SHOWN).map(error);
    let warnings = flaky.iter().take(SHOWN).map(|test| warning(test));
    let mut text: String = errors.chain(warnings).collect();
    let rest = [(failed.len(), "failure"), (flaky.len(), "flaky test")];
    let rest = rest.map(|(all, what)| (all.saturating_sub(SHOWN), what));
    let rest: Vec<String> = rest
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counts::of(*count, what))
        .collect();
    if !rest.is_empty() {
        let told = format!("{} more, not shown here; the log has them all", rest.join(" and "));
        text.push_str(&format!("::notice title=spar test::{}\n", data(&told)));
    }
    text
}

fn error(alike: &Alike<'_>) -> String {
    let Alike { first, others } = alike;
    let more = match others.len() {
        0 => String::new(),
        count => format!(" (and {} that failed of the same)", counts::of(count, "test")),
    };
    let title = format!("{}{more}", cut::line(&first.title(), TITLE));
    let failures = first.failure().map(|last| last.failures.as_slice()).unwrap_or_default();
    let mut lines = Vec::new();
    for failure in failures {
        let line = failure.place.line;
        let message = cut::line(&failure.message, LONGEST);
        lines.push(if failures.len() > 1 { format!("line {line}: {message}") } else { message });
        let diff = failure.diff.as_deref().unwrap_or_default();
        lines.extend(cut::first_lines(diff, LINES, LONGEST));
    }
    if lines.is_empty() {
        lines.push("it failed".to_owned());
    }
    lines.truncate(2 * LINES);
    lines.push(format!("again: {}", cut::line(&first.again, LONGEST)));
    let place = failures.first().map_or(&first.place, |failure| &failure.place);
    command("error", place, &title, &lines.join("\n"))
}

fn warning(test: &Test) -> String {
    let why = test.failed_tries.last().map(|last| story::headline(last, LONGEST));
    let tries = test.failed_tries.len() + 1;
    let message = format!("it passed at try {tries}; before: {}", why.unwrap_or_default());
    let title = format!("flaky: {}", cut::line(&test.title(), TITLE));
    command("warning", &test.place, &title, &message)
}

fn command(kind: &str, place: &Place, title: &str, message: &str) -> String {
    let (file, title) = (property(&cut::line(&place.file, LONGEST)), property(title));
    let (line, column) = (place.line.max(1), place.column.max(1));
    format!("::{kind} file={file},line={line},col={column},title={title}::{}\n", data(message))
}

/// A text after the second `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A text of a property, where other characters have a meaning too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_meaning_is_escaped_where_it_has_one() {
        assert_eq!(data("100%, a:b\r\n%0A"), "100%25, a:b%0D%0A%250A");
        assert_eq!(property("100%, a:b\n"), "100%25%2C a%3Ab%0A");
    }
}

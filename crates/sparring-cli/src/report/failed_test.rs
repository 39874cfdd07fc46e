//! Renders failed tests: the failures with their lines in the suite, the traffic of the
//! failed step, and the command that reruns the test. Tests with equal failures are one.

use sparring_report::{FailedTry, Failure, FailureGroup, Test, TranscriptEntry, fold_frames};
use sparring_script::{Problems, Span};
use sparring_suite::PlannedTest;

use crate::output::{Paint, line};

/// Maximum length of one line.
const MAX_LINE_COLUMNS: usize = 1_000;

/// The indent of the lines of a block.
const INDENT: &str = "  ";

/// The columns if stdout is not a terminal, and the fewest.
const DEFAULT_COLUMNS: usize = 100;
const MIN_COLUMNS: usize = 40;

/// The maximum number of tests with the same failure that are listed.
const MAX_LISTED_TESTS: usize = 5;

/// Renders failed tests for a terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct FailureRenderer {
    paint: Paint,
    columns: usize,
}

impl FailureRenderer {
    /// Makes a renderer for a terminal with this number of columns, if known.
    pub(super) fn new(paint: Paint, columns: Option<usize>) -> Self {
        let columns = columns.unwrap_or(DEFAULT_COLUMNS).max(MIN_COLUMNS);
        FailureRenderer { paint, columns }
    }

    /// Renders tests with equal failures. `planned` is the first of them.
    pub(super) fn render_group(
        self,
        planned: PlannedTest<'_>,
        group: &FailureGroup<'_>,
        failed: &FailedTry,
    ) -> String {
        let FailureGroup { first, others, .. } = group;
        let mut text = format!("\n{} {}\n", self.paint.error("FAIL"), title(group, failed));
        let failures = failed.failures.iter().map(|failure| self.render_failure(planned, failure));
        text.push_str(&failures.collect::<Vec<_>>().join("\n"));
        if !others.is_empty() && !failed.did_not_start {
            text.push_str(&self.render_block("same failure in", &render_titles(first, others)));
        }
        let columns = self.columns - INDENT.len();
        let frames = fold_frames(&failed.step_frames, failed.step_frames_left_out, columns);
        let frames = frames.iter().flat_map(|text| line::wrap(&line::clean(text), columns));
        text.push_str(&self.render_block("traffic", &frames.collect::<Vec<_>>().join("\n")));
        text.push_str(&self.render_block("transcript", &render_transcript(failed)));
        text.push_str(&self.render_block("stdout", &failed.stdout));
        text.push_str(&self.render_block("stderr", &failed.stderr));
        text.push_str(&self.render_block("rerun", &first.rerun_command));
        text
    }

    /// Renders a failure with its line in the suite and a caret.
    fn render_failure(self, planned: PlannedTest<'_>, failure: &Failure) -> String {
        let mut sources = planned.suite.sources();
        let is_file =
            |name: &str| name.replace(std::path::MAIN_SEPARATOR, "/") == failure.place.file;
        let source = sources.find(|source| is_file(source.name())).unwrap_or(&planned.suite.source);
        let span = Span { start: failure.span.start, end: failure.span.end };
        let mut problems = Problems::new(source);
        problems.add(span, one_line(&failure.message));
        let diff = failure.diff.as_deref().map(|diff| self.render_diff(diff)).unwrap_or_default();
        format!("{}\n{diff}", problems.render(self.paint.is_enabled()))
    }

    fn render_diff(self, diff: &str) -> String {
        let painted = |text: &str| match text.as_bytes().first() {
            Some(b'-') => self.paint.success(text),
            Some(b'+') => self.paint.error(text),
            _ => text.to_owned(),
        };
        let lines = diff.lines().map(|text| format!("{INDENT}{}\n", painted(&one_line(text))));
        let head = self.paint.dim("difference (- expected, + found):");
        std::iter::once(format!("{head}\n")).chain(lines).collect()
    }

    fn render_block(self, name: &str, text: &str) -> String {
        if text.trim().is_empty() {
            return String::new();
        }
        let lines = text.lines().map(|text| format!("{INDENT}{}\n", one_line(text).trim_end()));
        let head = self.paint.dim(&format!("{name}:"));
        std::iter::once(format!("{head}\n")).chain(lines).collect()
    }
}

/// The title of a group: its first test, or the number of tests whose server did not start.
fn title(group: &FailureGroup<'_>, failed: &FailedTry) -> String {
    let FailureGroup { first, others, .. } = group;
    let suite = &first.suite;
    if !failed.did_not_start {
        return format!("{suite}: {}", one_line(&first.title()));
    }
    let tests = match others.len() + 1 {
        1 => "1 test".to_owned(),
        count => format!("{count} tests"),
    };
    let server = first.server.as_ref().map(|name| format!(" of server `{name}`"));
    format!("{suite}: {tests}{} could not start", server.unwrap_or_default())
}

/// Renders the titles of other tests, with their suite if it is not that of the first.
fn render_titles(first: &Test, others: &[&Test]) -> String {
    let title = |test: &&Test| match test.suite == first.suite {
        true => test.title(),
        false => format!("{}: {}", test.suite, test.title()),
    };
    let mut titles: Vec<String> = others.iter().take(MAX_LISTED_TESTS).map(title).collect();
    match others.len().saturating_sub(MAX_LISTED_TESTS) {
        0 => {}
        1 => titles.push("and 1 more test".to_owned()),
        left => titles.push(format!("and {left} more tests")),
    }
    titles.join("\n")
}

/// Renders what the agent, the model and the MCP servers said, in one time line.
fn render_transcript(failed: &FailedTry) -> String {
    let (entries, left_out) = (&failed.step_transcript, failed.step_transcript_left_out);
    let render_entry = |it: &TranscriptEntry| {
        let at = it.at_ms / 1e3;
        format!("{at:8.3}s -> {}: {}\n{:9} <- {}\n", it.mock, it.request, "", it.answer)
    };
    let mut lines: Vec<String> = entries.iter().map(render_entry).collect();
    if left_out > 0 {
        lines.insert(entries.len() / 2, format!("   ({left_out} more)\n"));
    }
    lines.concat()
}

fn one_line(text: &str) -> String {
    line::truncate(&line::clean(text), MAX_LINE_COLUMNS)
}

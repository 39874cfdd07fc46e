//! Renders a failed test: the failures with their lines in the suite, the traffic, and
//! the command that reruns it.

use sparring_report::{FailedTry, Failure, Sender, StepFrame, Test, TranscriptEntry};
use sparring_script::{Problems, Span};
use sparring_suite::PlannedTest;

use crate::output::{Paint, line};

/// Maximum length of one line.
const MAX_LINE_COLUMNS: usize = 1_000;

pub(super) fn render_failed_test(
    planned: PlannedTest<'_>,
    test: &Test,
    failed: &FailedTry,
    paint: Paint,
) -> String {
    let (label, name) = (paint.error("FAIL"), line::clean(&test.name));
    let (suite, variant) = (planned.suite.name(), planned.variant);
    let mut text = format!("\n{label} {suite}: {name}{variant}\n");
    let failures = failed.failures.iter().map(|failure| render_failure(planned, failure, paint));
    text.push_str(&failures.collect::<Vec<_>>().join("\n"));
    text.push_str(&render_traffic(&failed.step_frames, failed.step_frames_left_out, paint));
    text.push_str(&render_transcript(failed, paint));
    text.push_str(&render_block("stdout", &failed.stdout, paint));
    text.push_str(&render_block("stderr", &failed.stderr, paint));
    text.push_str(&render_block("rerun", &test.rerun_command, paint));
    text
}

/// Renders a failure with its line in the suite and a caret.
fn render_failure(planned: PlannedTest<'_>, failure: &Failure, paint: Paint) -> String {
    let mut sources = planned.suite.sources();
    let is_file = |name: &str| name.replace(std::path::MAIN_SEPARATOR, "/") == failure.place.file;
    let source = sources.find(|source| is_file(source.name())).unwrap_or(&planned.suite.source);
    let span = Span { start: failure.span.start, end: failure.span.end };
    let mut problems = Problems::new(source);
    problems.add(span, line::truncate(&line::clean(&failure.message), MAX_LINE_COLUMNS));
    let diff = failure.diff.as_deref().map(|diff| render_diff(diff, paint)).unwrap_or_default();
    format!("{}\n{diff}", problems.render(paint.is_enabled()))
}

fn render_diff(diff: &str, paint: Paint) -> String {
    let painted = |text: &str| match text.as_bytes().first() {
        Some(b'-') => paint.success(text),
        Some(b'+') => paint.error(text),
        _ => text.to_owned(),
    };
    let lines = diff.lines().map(|text| format!("  {}\n", painted(&one_line(text))));
    let head = paint.dim("difference (- expected, + found):");
    std::iter::once(format!("{head}\n")).chain(lines).collect()
}

fn render_traffic(frames: &[StepFrame], left_out: usize, paint: Paint) -> String {
    if frames.is_empty() {
        return String::new();
    }
    let render_frame = |it: &StepFrame| {
        let who = if it.from == Sender::Server { "<-" } else { "->" };
        format!("{who} {}\n", one_line(&it.text))
    };
    let mut lines: Vec<String> = frames.iter().map(render_frame).collect();
    if left_out > 0 {
        lines.insert(frames.len() / 2, format!("   ({left_out} more)\n"));
    }
    render_block("traffic", &lines.concat(), paint)
}

/// Renders what the agent, the model and the MCP servers said, in one time line.
fn render_transcript(failed: &FailedTry, paint: Paint) -> String {
    let (entries, left_out) = (&failed.step_transcript, failed.step_transcript_left_out);
    let render_entry = |it: &TranscriptEntry| {
        let at = it.at_ms / 1e3;
        format!("{at:8.3}s -> {}: {}\n{:9} <- {}\n", it.mock, it.request, "", it.answer)
    };
    let mut lines: Vec<String> = entries.iter().map(render_entry).collect();
    if left_out > 0 {
        lines.insert(entries.len() / 2, format!("   ({left_out} more)\n"));
    }
    render_block("transcript", &lines.concat(), paint)
}

fn render_block(name: &str, text: &str, paint: Paint) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let lines = text.lines().map(|text| format!("  {}\n", one_line(text).trim_end()));
    std::iter::once(format!("{}\n", paint.dim(&format!("{name}:")))).chain(lines).collect()
}

fn one_line(text: &str) -> String {
    line::truncate(&line::clean(text), MAX_LINE_COLUMNS)
}

//! Folds the events of a run into a [`Run`], the one model that every report reads.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use sparring_report::{
    AnsweredBy, Build, FailedTry, Failure, Frame, Note, Outcome, Run, Sender, SourceLocation,
    StepFrame, Summary, Test, Timing, TranscriptEntry, VERSION, Violation,
};
use sparring_script::{Source, Span};
use sparring_transport::Secrets;

use crate::event::{self, TestEnd, TrafficFrame};
use crate::plan::{Plan, PlannedTest};

/// A run so far. Tests that are not over have the outcome `NotRun`.
pub struct RunRecord<'a> {
    plan: &'a Plan,
    secrets: &'a Secrets,
    begun: Instant,
    line_starts: LineStarts,
    run: Run,
}

impl<'a> RunRecord<'a> {
    /// Begins a record with all tests of a plan.
    pub fn new(
        plan: &'a Plan,
        shard: Option<String>,
        build: Option<Build>,
        secrets: &'a Secrets,
    ) -> Self {
        let mut line_starts = LineStarts::default();
        let tests = plan.tests().map(|planned| new_test(planned, &mut line_starts)).collect();
        let run = Run {
            version: VERSION,
            spar: env!("CARGO_PKG_VERSION").to_owned(),
            // Always three digits, so that times sort as strings too.
            began: format!("{:.3}", Timestamp::now()),
            took_ms: 0.0,
            shard,
            build,
            stopped: false,
            summary: Summary::default(),
            tests,
        };
        RunRecord { plan, secrets, begun: Instant::now(), line_starts, run }
    }

    /// The run so far.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Records the end of a test, by its position in the plan.
    pub fn finish_test(&mut self, number: usize, end: TestEnd) {
        let Some(planned) = self.plan.test(number) else { return };
        let mut tries = end.earlier;
        let (outcome, reason) = match end.outcome {
            event::Outcome::Passed => (Outcome::Passed, None),
            event::Outcome::Skipped(reason) => (Outcome::Skipped, Some(reason)),
            event::Outcome::Failed(failed) => {
                tries.push(*failed);
                (Outcome::Failed, None)
            }
        };
        let tries = tries.into_iter().map(|failed| self.failed_try(planned, failed)).collect();
        let timing =
            |it: event::Timing| Timing { request: it.asked, took_ms: milliseconds(it.took) };
        let notes = end.notes.into_iter().map(|it| self.note(planned, it)).collect();
        let test = &mut self.run.tests[number];
        test.outcome = outcome;
        test.notes = notes;
        test.reason = reason;
        test.took_ms = milliseconds(end.took);
        test.failed_tries = tries;
        test.timings = end.timings.into_iter().map(timing).collect();
        test.frames = end.traffic.frames.into_iter().map(traffic_frame).collect();
        test.frames_left_out = end.traffic.left_out;
        test.frames_shared = end.traffic.shared;
        test.transcript = transcript_entries(end.transcript.entries);
        test.transcript_left_out = end.transcript.left_out;
    }

    /// Records the end of the run.
    pub fn finish(mut self, stopped: bool) -> Run {
        self.run.took_ms = milliseconds(self.begun.elapsed());
        self.run.summary = Summary::from_tests(&self.run.tests);
        self.run.stopped = stopped || self.run.summary.not_run > 0;
        self.run
    }

    fn note(&mut self, planned: PlannedTest<'_>, note: event::Note) -> Note {
        let (source, span) = planned.suite.place(note.span);
        Note::new(self.line_starts.place(source, span).0, note.message)
    }

    fn failed_try(&mut self, planned: PlannedTest<'_>, failed: event::FailedTry) -> FailedTry {
        let failure = |failure: event::Failure| {
            let (source, span) = planned.suite.place(failure.span);
            let (place, line) = self.line_starts.place(source, span);
            Failure {
                place,
                span: span.start..span.end,
                source: self.secrets.mask(line).into_owned(),
                message: failure.message,
                diff: failure.diff,
            }
        };
        let frame = |frame: event::StepFrame| StepFrame {
            from: side(frame.by_server),
            is_complete: frame.is_complete,
            text: frame.text,
        };
        FailedTry {
            failures: failed.failures.into_iter().map(failure).collect(),
            step_frames: failed.frames.into_iter().map(frame).collect(),
            step_frames_left_out: failed.frames_left_out,
            stderr: failed.stderr,
            stdout: failed.stdout,
            step_transcript: transcript_entries(failed.transcript.entries),
            step_transcript_left_out: failed.transcript.left_out,
            did_not_start: failed.did_not_start,
        }
    }
}

/// The command that runs only one test.
fn rerun_command(planned: PlannedTest<'_>) -> String {
    let name = format!("^{}$", sparring_script::escape_pattern(&planned.test.name));
    let mut words = vec!["spar", "test", planned.suite.name(), "--filter", &name];
    if let Some(revision) = planned.variant.protocol {
        words.extend(["--protocol", revision.name()]);
    }
    if let Some(transport) = planned.variant.transport {
        words.extend(["--transport", transport.name()]);
    }
    words.into_iter().map(quote_word).collect::<Vec<_>>().join(" ")
}

/// Quotes a word for a POSIX shell, in single quotes if it needs any.
fn quote_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=/,.+:@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// A test that has not run.
fn new_test(planned: PlannedTest<'_>, line_starts: &mut LineStarts) -> Test {
    let PlannedTest { suite, test, variant, .. } = planned;
    let (source, span) = suite.place(test.span);
    Test {
        suite: slash_path(suite.name()),
        name: test.name.clone(),
        place: line_starts.place(source, span).0,
        server: planned.server().map(str::to_owned),
        protocol: variant.protocol.map(|revision| revision.name().to_owned()),
        transport: variant.transport.map(|transport| transport.name().to_owned()),
        tags: test.tags.clone(),
        rule: None,
        outcome: Outcome::NotRun,
        reason: None,
        took_ms: 0.0,
        rerun_command: rerun_command(planned),
        failed_tries: Vec::new(),
        notes: Vec::new(),
        timings: Vec::new(),
        frames: Vec::new(),
        frames_left_out: 0,
        frames_shared: false,
        transcript: Vec::new(),
        transcript_left_out: 0,
    }
}

fn traffic_frame(frame: TrafficFrame) -> Frame {
    let violation = |it: sparring_wire::Violation| Violation {
        level: it.rule.level().name().to_owned(),
        rule: it.rule.id().to_owned(),
        path: it.path,
        message: it.message,
        section: it.section.into_owned(),
    };
    Frame {
        at_ms: milliseconds(frame.at),
        from: side(frame.by_server),
        text: frame.text,
        bytes: frame.bytes,
        status: frame.status,
        violations: frame.violations.into_iter().map(violation).collect(),
    }
}

fn transcript_entries(entries: Vec<event::TranscriptEntry>) -> Vec<TranscriptEntry> {
    let entry = |it: event::TranscriptEntry| TranscriptEntry {
        at_ms: milliseconds(it.at),
        by: match it.by {
            event::AnsweredBy::Model => AnsweredBy::Model,
            event::AnsweredBy::Server => AnsweredBy::Server,
        },
        mock: it.mock,
        request: it.request,
        answer: it.answer,
    };
    entries.into_iter().map(entry).collect()
}

fn side(by_server: bool) -> Sender {
    if by_server { Sender::Server } else { Sender::Client }
}

/// Milliseconds, rounded to microseconds.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn slash_path(path: &str) -> String {
    path.replace(std::path::MAIN_SEPARATOR, "/")
}

/// The offsets of the lines of each file, to find the position of a failure in a long file
/// without counting lines again.
#[derive(Default)]
struct LineStarts(HashMap<String, Vec<usize>>);

impl LineStarts {
    /// Returns the position of the start of a span, and the text of that line.
    fn place<'s>(&mut self, source: &'s Source, span: Span) -> (SourceLocation, &'s str) {
        let text = source.text();
        let starts = self.0.entry(source.name().to_owned()).or_insert_with(|| {
            let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect()
        });
        let line = starts.partition_point(|start| *start <= span.start);
        let begin = starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let end = (begin..=span.start.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let before = end.and_then(|end| text.get(begin..end)).unwrap_or_default();
        let (file, column) = (slash_path(source.name()), before.chars().count() + 1);
        (SourceLocation { file, line, column }, text[begin..].lines().next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_words_readably_for_a_shell() {
        let name = |name: &str| quote_word(&format!("^{}$", sparring_script::escape_pattern(name)));
        assert_eq!(name("get-resource-links answers"), "'^get-resource-links answers$'");
        assert_eq!(name("it's #1 (or 2)"), r"'^it'\''s #1 \(or 2\)$'");
        assert_eq!(quote_word("tests/a.spar.yaml"), "tests/a.spar.yaml");
        for word in ["", "a b", "it's", "!x", "~", "$HOME", "a\nb", "^x-y$"] {
            assert_eq!(shlex::split(&quote_word(word)).unwrap(), [word]);
        }
    }

    #[test]
    fn finds_the_same_positions_as_the_source() {
        let source = Source::new("a.yaml", "one\r\nzwölf: x\n\nlast");
        let mut line_starts = LineStarts::default();
        for start in 0..=source.text().len() {
            let (place, line) = line_starts.place(&source, Span { start, end: start });
            let expected = source.position(start);
            assert_eq!((place.line, place.column), (expected.line, expected.column), "at {start}");
            assert_eq!(Some(line), source.text().lines().nth(expected.line - 1).or(Some("")));
        }
    }
}

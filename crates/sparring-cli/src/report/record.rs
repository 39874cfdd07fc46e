//! From the events of a run to the run as data.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use sparring_report::{
    Failure, Frame, Outcome, Place, Run, Side, Summary, Test, Timing, Try, VERSION, Violation,
};
use sparring_script::{Source, Span};
use sparring_suite::{End, Plan, Planned, Said, Story};
use sparring_transport::Secrets;

use super::again;

/// A run as far as it has come.
pub(super) struct Record<'a> {
    plan: &'a Plan,
    secrets: &'a Secrets,
    begun: Instant,
    lines: Lines,
    /// Tests that are not over have not run.
    pub(super) run: Run,
}

impl<'a> Record<'a> {
    /// Begins, with all tests that are to run.
    pub(super) fn new(plan: &'a Plan, shard: Option<String>, secrets: &'a Secrets) -> Self {
        let mut lines = Lines::default();
        let tests = plan.tests().map(|planned| test(planned, &mut lines)).collect();
        let run = Run {
            version: VERSION,
            spar: env!("CARGO_PKG_VERSION").to_owned(),
            // As many digits each time, so that they are in order as texts too.
            began: format!("{:.3}", Timestamp::now()),
            took_ms: 0.0,
            shard,
            stopped: false,
            summary: Summary::default(),
            tests,
        };
        Record { plan, secrets, begun: Instant::now(), lines, run }
    }

    /// A test is over; what was said in it is taken out.
    pub(super) fn finish(&mut self, number: usize, end: &mut End) {
        let Some(planned) = self.plan.test(number) else { return };
        let traffic = std::mem::take(&mut end.traffic);
        let mut tries: Vec<&Story> = end.earlier.iter().collect();
        let (outcome, reason) = match &end.outcome {
            sparring_suite::Outcome::Passed => (Outcome::Passed, None),
            sparring_suite::Outcome::Skipped(reason) => (Outcome::Skipped, Some(reason.clone())),
            sparring_suite::Outcome::Failed(story) => {
                tries.push(story);
                (Outcome::Failed, None)
            }
        };
        let failed_tries = tries.into_iter().map(|story| self.failed(planned, story)).collect();
        let timing = |it: &sparring_suite::Timing| Timing {
            asked: it.asked.clone(),
            took_ms: milliseconds(it.took),
        };
        let test = &mut self.run.tests[number];
        test.outcome = outcome;
        test.reason = reason;
        test.took_ms = milliseconds(end.took);
        test.failed_tries = failed_tries;
        test.timings = end.timings.iter().map(timing).collect();
        test.frames = traffic.frames.into_iter().map(frame).collect();
        test.frames_left_out = traffic.left_out;
        test.frames_shared = traffic.shared;
    }

    /// The run is over.
    pub(super) fn end(&mut self, stopped: bool) {
        self.run.took_ms = milliseconds(self.begun.elapsed());
        self.run.summary = Summary::of(&self.run.tests);
        self.run.stopped = stopped || self.run.summary.not_run > 0;
    }

    fn failed(&mut self, planned: Planned<'_>, story: &Story) -> Try {
        let failure = |failure: &sparring_suite::Failure| {
            let (source, span) = planned.suite.place(failure.span);
            let (place, line) = self.lines.place(source, span);
            Failure {
                place,
                source: self.secrets.mask(line).into_owned(),
                message: failure.message.clone(),
                diff: failure.diff.clone(),
            }
        };
        Try {
            failures: story.failures.iter().map(failure).collect(),
            stderr: story.stderr.clone(),
            stdout: story.stdout.clone(),
        }
    }
}

/// A test that has not run.
fn test(planned: Planned<'_>, lines: &mut Lines) -> Test {
    let Planned { suite, test, variant, .. } = planned;
    let (source, span) = suite.place(test.span);
    Test {
        suite: path(suite.name()),
        name: test.name.clone(),
        place: lines.place(source, span).0,
        server: planned.server().map(str::to_owned),
        protocol: variant.protocol.map(|revision| revision.name().to_owned()),
        transport: variant.transport.map(|transport| transport.name().to_owned()),
        tags: test.tags.clone(),
        outcome: Outcome::NotRun,
        reason: None,
        took_ms: 0.0,
        again: again::command(planned),
        failed_tries: Vec::new(),
        timings: Vec::new(),
        frames: Vec::new(),
        frames_left_out: 0,
        frames_shared: false,
    }
}

fn frame(said: Said) -> Frame {
    let violation = |it: sparring_wire::Violation| Violation {
        rule: it.rule.name().to_owned(),
        path: it.path,
        message: it.message,
        section: it.section.into_owned(),
    };
    Frame {
        at_ms: milliseconds(said.at),
        from: if said.by_server { Side::Server } else { Side::Client },
        text: said.text,
        bytes: said.bytes,
        status: said.status,
        violations: said.violations.into_iter().map(violation).collect(),
    }
}

/// Milliseconds, to the microsecond.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn path(path: &str) -> String {
    path.replace(std::path::MAIN_SEPARATOR, "/")
}

/// Where the lines of files begin, so that a place in a long one is found
/// without counting from its beginning.
#[derive(Default)]
struct Lines(HashMap<String, Vec<usize>>);

impl Lines {
    /// Where a span begins, and the text of that line.
    fn place<'s>(&mut self, source: &'s Source, span: Span) -> (Place, &'s str) {
        let text = source.text();
        let starts = self.0.entry(source.name().to_owned()).or_insert_with(|| {
            let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect()
        });
        let line = starts.partition_point(|start| *start <= span.start);
        let begin = starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let end = (begin..=span.start.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let before = end.and_then(|end| text.get(begin..end)).unwrap_or_default();
        let (file, column) = (path(source.name()), before.chars().count() + 1);
        (Place { file, line, column }, text[begin..].lines().next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_that_a_source_tells() {
        let source = Source::new("a.yaml", "one\r\nzwölf: x\n\nlast");
        let mut lines = Lines::default();
        for start in 0..=source.text().len() {
            let (place, line) = lines.place(&source, Span { start, end: start });
            let told = source.position(start);
            assert_eq!((place.line, place.column), (told.line, told.column), "at {start}");
            assert_eq!(Some(line), source.text().lines().nth(told.line - 1).or(Some("")));
        }
    }
}

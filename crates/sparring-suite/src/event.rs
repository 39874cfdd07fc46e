//! The events of a run.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use sparring_script::Span;
use sparring_transport::Secrets;
use sparring_wire::Violation;

use crate::step_result::{violation_lines, violation_value};

/// An event of a run. Tests are identified by their position in the plan.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A test started.
    Started {
        /// The test's position in the plan.
        test: usize,
    },
    /// A test finished.
    Finished {
        /// The test's position in the plan.
        test: usize,
        /// The result of the test.
        end: TestEnd,
    },
    /// The snapshots of a suite changed and were written.
    SnapshotsWritten {
        /// The snapshot file.
        file: PathBuf,
        /// The number of changes, or the error of writing the file.
        changes: Result<SnapshotChanges, String>,
    },
}

/// The numbers of new, changed and removed snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SnapshotChanges {
    /// Snapshots that did not exist before.
    pub new: usize,
    /// Snapshots with another answer than before.
    pub changed: usize,
    /// Snapshots that no step has any more.
    pub removed: usize,
}

/// The result of a test.
#[derive(Debug)]
pub struct TestEnd {
    /// The outcome of the last try.
    pub outcome: Outcome,
    /// The duration of all tries together.
    pub took: Duration,
    /// The failures of the tries before the last.
    pub earlier: Vec<FailedTry>,
    /// Remarks that are no failures: about the suite, and warnings about the server.
    pub notes: Vec<Note>,
    /// The response times of all tries.
    pub timings: Vec<Timing>,
    /// The traffic of all tries, if the run records it.
    pub traffic: Traffic,
    /// The transcript of the agents in all tries.
    pub transcript: Transcript,
}

/// The response time of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// The request, such as `call echo` or `list tools`.
    pub asked: String,
    /// The time until the answer.
    pub took: Duration,
}

/// The outcome of a test.
#[derive(Debug)]
pub enum Outcome {
    /// Every expectation held.
    Passed,
    /// An expectation did not hold.
    Failed(Box<FailedTry>),
    /// The test did not run, for this reason.
    Skipped(String),
}

/// The details of a failed try.
#[derive(Debug, Clone, Default)]
pub struct FailedTry {
    /// Every expectation that did not hold in the step that failed.
    pub failures: Vec<Failure>,
    /// The frames of the step that failed, in order.
    pub frames: Vec<StepFrame>,
    /// The number of omitted frames of the step.
    pub frames_left_out: usize,
    /// The last lines of the stderr of the server or the agent during the test.
    pub stderr: String,
    /// The last lines of the stdout of an agent.
    pub stdout: String,
    /// True if the server or a mock could not be started, so that no step ran.
    pub did_not_start: bool,
    /// The last exchanges of agents with the mocks in this try.
    pub transcript: Box<Transcript>,
}

/// The exchanges of agents with the mocks.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    /// The exchanges by time.
    pub entries: Vec<TranscriptEntry>,
    /// The number of exchanges omitted from the middle.
    pub left_out: usize,
}

/// One exchange of an agent with a mock, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptEntry {
    /// The time of the request since the start of the test.
    pub at: Duration,
    /// The name of the mock.
    pub mock: String,
    /// The kind of the mock.
    pub by: AnsweredBy,
    /// The request of the agent.
    pub request: String,
    /// The answer of the mock.
    pub answer: String,
}

/// The kind of a mock with which an agent talks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnsweredBy {
    /// A model.
    Model,
    /// An MCP server.
    Server,
}

/// One expectation that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The position of the expectation in the suite.
    pub span: Span,
    /// The expected and the actual value.
    pub message: String,
    /// The diff, if the values are long: `-` expected, `+` found.
    pub diff: Option<String>,
}

/// A remark that is no failure: about the suite, or a warning about the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The position that the remark is about.
    pub span: Span,
    /// The remark.
    pub message: String,
}

/// Findings that belong to a test that is over.
#[derive(Debug, Default)]
pub(crate) struct LateFindings {
    pub(crate) failed: Option<FailedTry>,
    pub(crate) notes: Vec<Note>,
}

/// One frame of the step that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepFrame {
    /// True if the server sent the frame; false if the client did.
    pub by_server: bool,
    /// True if the frame is shown with the metadata that all frames have: it breaks a rule, or
    /// belongs to a finding about metadata.
    pub is_complete: bool,
    /// The text of the frame.
    pub text: String,
}

/// The recorded traffic of a test.
#[derive(Debug, Clone, Default)]
pub struct Traffic {
    /// The frames in order.
    pub frames: Vec<TrafficFrame>,
    /// The number of frames omitted from the middle.
    pub left_out: usize,
    /// True if other tests ran on the same server at the same time. Their frames are included.
    pub shared: bool,
}

/// One recorded frame, without its secrets.
#[derive(Debug, Clone)]
pub struct TrafficFrame {
    /// The time since the start of the test; zero for frames from before it.
    pub at: Duration,
    /// True if the server sent the frame; false if the client did.
    pub by_server: bool,
    /// The text of the frame, cut if it is long.
    pub text: String,
    /// The size of the frame in bytes.
    pub bytes: usize,
    /// The status of the HTTP response that carried it.
    pub status: Option<u16>,
    /// The violations of the frame.
    pub violations: Vec<Violation>,
}

impl Failure {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Failure { span, message: message.into(), diff: None }
    }
}

impl Outcome {
    /// Adds the failures of a later phase.
    pub(crate) fn and(self, later: Option<FailedTry>) -> Self {
        match (self, later) {
            (outcome, None) => outcome,
            (Outcome::Failed(failed), later) => Outcome::Failed(Box::new(failed.and(later))),
            (_, Some(failed)) => Outcome::Failed(Box::new(failed)),
        }
    }
}

impl TestEnd {
    /// The end of a test that did not run.
    pub(crate) fn skipped(reason: String) -> Self {
        let outcome = Outcome::Skipped(reason);
        TestEnd {
            outcome,
            took: Duration::ZERO,
            earlier: Vec::new(),
            notes: Vec::new(),
            timings: Vec::new(),
            traffic: Traffic::default(),
            transcript: Transcript::default(),
        }
    }

    /// Adds findings that came after the last step.
    pub(crate) fn and(mut self, late: LateFindings) -> Self {
        self.outcome = self.outcome.and(late.failed);
        self.notes.extend(late.notes);
        self
    }

    /// Masks secrets.
    pub(crate) fn without(mut self, secrets: &Secrets) -> Self {
        match &mut self.outcome {
            Outcome::Failed(failed) => failed.hide(secrets),
            Outcome::Skipped(reason) => hide(reason, secrets),
            Outcome::Passed => {}
        }
        self.earlier.iter_mut().for_each(|failed| failed.hide(secrets));
        self.notes.iter_mut().for_each(|note| hide(&mut note.message, secrets));
        self.timings.iter_mut().for_each(|timing| hide(&mut timing.asked, secrets));
        self.transcript.hide(secrets);
        self
    }
}

impl LateFindings {
    /// Adds more findings.
    pub(crate) fn extend(&mut self, more: LateFindings) {
        self.failed = match (self.failed.take(), more.failed) {
            (Some(failed), more) => Some(failed.and(more)),
            (None, more) => more,
        };
        self.notes.extend(more.notes);
    }

    /// Adds broken rules. A warning is a note, unless the run is strict.
    pub(crate) fn add_violations(
        &mut self,
        violations: impl IntoIterator<Item = Violation>,
        when: &str,
        span: Span,
        strict: bool,
    ) {
        let is_warning = |violation: &Violation| violation.is_warning() && !strict;
        let (warnings, broken): (Vec<_>, Vec<_>) = violations.into_iter().partition(is_warning);
        let messages = |violations: Vec<Violation>| {
            let values: Vec<_> = violations.iter().map(violation_value).collect();
            violation_lines(values.iter()).into_iter().map(move |line| format!("{when}: {line}"))
        };
        self.notes.extend(messages(warnings).map(|message| Note { span, message }));
        for message in messages(broken) {
            self.add_failure(span, message);
        }
    }

    /// Adds a failure.
    pub(crate) fn add_failure(&mut self, span: Span, message: String) {
        let failed = Some(FailedTry::new(Failure::new(span, message)));
        self.extend(LateFindings { failed, notes: Vec::new() });
    }
}

impl FailedTry {
    /// A failed try with one failure.
    pub(crate) fn new(failure: Failure) -> Self {
        FailedTry { failures: vec![failure], ..FailedTry::default() }
    }

    /// Adds the phase to each message.
    pub(crate) fn during(mut self, what: &str) -> Self {
        for failure in &mut self.failures {
            failure.message = format!("in {what}: {}", failure.message);
        }
        self
    }

    /// Moves the failures to another position.
    pub(crate) fn at(mut self, span: Span) -> Self {
        self.failures.iter_mut().for_each(|failure| failure.span = span);
        self
    }

    /// Masks secrets. The frames are masked already.
    fn hide(&mut self, secrets: &Secrets) {
        for failure in &mut self.failures {
            hide(&mut failure.message, secrets);
            failure.diff.iter_mut().for_each(|diff| hide(diff, secrets));
        }
        hide(&mut self.stderr, secrets);
        hide(&mut self.stdout, secrets);
        self.transcript.hide(secrets);
    }

    /// Adds the failures of a later phase.
    pub(crate) fn and(mut self, later: Option<FailedTry>) -> Self {
        let Some(later) = later else { return self };
        self.failures.extend(later.failures);
        if self.frames.is_empty() {
            self.frames = later.frames;
            self.frames_left_out = later.frames_left_out;
        }
        self
    }
}

impl Transcript {
    /// The maximum number of exchanges of a test, and of a failure.
    pub(crate) const MAX_ENTRIES: usize = 500;
    pub(crate) const MAX_SHOWN: usize = 30;

    /// Makes a transcript of exchanges by time, with at most `max` of them.
    pub(crate) fn new(mut entries: Vec<TranscriptEntry>, max: usize) -> Transcript {
        let left_out = entries.len().saturating_sub(max);
        let middle = max / 2;
        entries.drain(middle.min(entries.len())..(middle + left_out).min(entries.len()));
        Transcript { entries, left_out }
    }

    fn hide(&mut self, secrets: &Secrets) {
        for entry in &mut self.entries {
            hide(&mut entry.request, secrets);
            hide(&mut entry.answer, secrets);
        }
    }
}

fn hide(text: &mut String, secrets: &Secrets) {
    if let Cow::Owned(hidden) = secrets.mask(text) {
        *text = hidden;
    }
}

#[cfg(test)]
mod tests {
    use sparring_wire::Rule;

    use super::*;

    #[test]
    fn late_violations_are_listed_once_with_their_number() {
        let mut late = LateFindings::default();
        let violation = |rule| Violation::new(rule, "$", "wrong", "");
        let found = [Rule::NotJson, Rule::NotJson, Rule::IdNull, Rule::NotJson].map(violation);
        late.add_violations(found, "late", Span { start: 0, end: 0 }, false);
        let failures = late.failed.unwrap_or_default().failures;
        let messages: Vec<&str> = failures.iter().map(|failure| &*failure.message).collect();
        assert_eq!(messages, ["late: wire/not-json: wrong (3 times)", "late: wire/id-null: wrong"]);
    }
}

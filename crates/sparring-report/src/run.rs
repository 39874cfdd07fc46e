//! The data of a run: the content of the JSON report, and the input of every report.
//!
//! Secrets are masked before a [`Run`] is made.

use std::fmt;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the JSON format. It changes when a field is removed or changes its
/// meaning. New fields do not change it.
pub const VERSION: u32 = 1;

/// A run of suites, one shard of it, or a check of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The version of this format.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The version of spar that ran it.
    pub spar: String,
    /// The start time, as RFC 3339 in UTC.
    pub began: String,
    /// The duration in milliseconds.
    pub took_ms: f64,
    /// The shard, such as `2/5`; absent for a whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// The project and the commit that it ran for, as a CI system describes them; absent
    /// elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Build>,
    /// True if the run was stopped early, so that some tests did not run.
    #[serde(default)]
    pub stopped: bool,
    /// The number of tests by outcome.
    pub summary: Summary,
    /// The tests, in the order of the plan.
    pub tests: Vec<Test>,
}

/// The project and the commit that a run is for, and its page in a CI system.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Build {
    /// The name of the project, such as `owner/name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The id of the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The branch, or the tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The URL of the run in the CI system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// The number of tests by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Tests whose expectations were all met.
    pub passed: usize,
    /// Tests with a failure.
    pub failed: usize,
    /// Tests that were skipped.
    pub skipped: usize,
    /// Tests that did not run because the run stopped early.
    pub not_run: usize,
    /// Tests that passed only when they were retried; they also count as passed.
    pub flaky: usize,
}

/// A test in one variant: one revision over one transport.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    /// The path of the suite as the user gave it, with `/`; in `spar check` the name of the
    /// server.
    pub suite: String,
    /// The name of the test; in `spar check` the id of the rule.
    pub name: String,
    /// The location of the test; in another file than the suite if it is included.
    pub place: SourceLocation,
    /// The server under test; absent if the test only runs an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The protocol revision, if the plan sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The transport, if the plan sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// The tags of the test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The rule that the test checks, if it is a test of `spar check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<CheckedRule>,
    /// The outcome.
    pub outcome: Outcome,
    /// The reason why it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The duration of all tries in milliseconds.
    pub took_ms: f64,
    /// The command that runs only this test.
    #[serde(rename = "again")]
    pub rerun_command: String,
    /// The failed tries. The last one of a failed test is the reason of its failure; the
    /// tries before it were retried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_tries: Vec<FailedTry>,
    /// Remarks that are no failures, such as an argument that the input schema of a tool does
    /// not have, or a broken rule that is only a recommendation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// The response times of the server, in all tries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timings: Vec<Timing>,
    /// The recorded frames of all tries, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
    /// The number of frames that are omitted from the middle.
    #[serde(default)]
    pub frames_left_out: usize,
    /// True if `frames` also contains frames of other tests, which ran at the same time on
    /// the same server and cannot be distinguished.
    #[serde(default)]
    pub frames_shared: bool,
    /// The exchanges of agents with the mocks in all tries, by time: what the agent, the model
    /// and the MCP servers said.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transcript: Vec<TranscriptEntry>,
    /// The number of exchanges that are omitted from the middle.
    #[serde(default)]
    pub transcript_left_out: usize,
}

/// The rule that a test of `spar check` checks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedRule {
    /// The id, such as `tools/list-invalid-cursor`.
    pub id: String,
    /// The level: `must`, `should` or `lint`.
    pub level: String,
    /// The rule in one sentence.
    pub summary: String,
    /// The address of the section of the specification; absent if only spar has the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The change that mends a server that breaks the rule, in one sentence.
    pub advice: String,
}

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All expectations were met.
    Passed,
    /// The test has a failure.
    Failed,
    /// The test was skipped.
    Skipped,
    /// The test did not run, or was aborted while it ran.
    NotRun,
}

/// A location in a file. Lines and columns are counted from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceLocation {
    /// The path, with `/`; empty if there is no file, as in `spar check`.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A failed try of a test.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct FailedTry {
    /// The failures of the step at which the test stopped.
    pub failures: Vec<Failure>,
    /// The frames of the step that failed, in order, cut if they are long. Known only in
    /// the program that ran the test; [`Test::frames`] has all frames.
    #[serde(skip)]
    pub step_frames: Vec<StepFrame>,
    /// The number of frames of that step that are omitted from the middle.
    #[serde(skip)]
    pub step_frames_left_out: usize,
    /// The end of the stderr of the server or the agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// The end of the stdout of an agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
    /// True if the server or a mock could not be started, so that no step ran.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub did_not_start: bool,
    /// The first and the last exchanges of agents in this try. Known only in the program that
    /// ran the test; [`Test::transcript`] has all exchanges.
    #[serde(skip)]
    pub step_transcript: Vec<TranscriptEntry>,
    /// The number of exchanges of the try that are omitted from the middle.
    #[serde(skip)]
    pub step_transcript_left_out: usize,
}

/// One exchange of an agent with a mock, in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TranscriptEntry {
    /// The time of the request since the start of the test in milliseconds.
    pub at_ms: f64,
    /// The name of the mock.
    pub mock: String,
    /// The kind of the mock.
    pub by: AnsweredBy,
    /// The request of the agent; a long one is truncated.
    pub request: String,
    /// The answer of the mock; a long one is truncated.
    pub answer: String,
}

/// The kind of a mock that answers an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    /// A model.
    Model,
    /// An MCP server.
    Server,
}

/// One frame of the step that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepFrame {
    /// The side that sent the frame.
    pub from: Sender,
    /// True if the frame is shown with the metadata that all frames have: it breaks a rule, or
    /// belongs to a finding about metadata.
    pub is_complete: bool,
    /// The text of the frame.
    pub text: String,
}

/// One expectation that was not met.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The location of the expectation.
    pub place: SourceLocation,
    /// The byte range of the expectation in the file. Known only in the program that ran
    /// the test.
    #[serde(skip)]
    pub span: Range<usize>,
    /// The text of that line.
    pub source: String,
    /// The expected and the actual value.
    pub message: String,
    /// The difference line by line, if the values are long: `-` expected, `+` actual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// A remark that is no failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    /// The location that the remark is about.
    pub place: SourceLocation,
    /// The remark.
    pub message: String,
    /// The reason of the user for accepting it, which may be empty, if it is an accepted
    /// finding of `spar check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
}

impl Note {
    /// Creates a remark.
    pub fn new(place: SourceLocation, message: impl Into<String>) -> Note {
        Note { place, message: message.into(), accepted: None }
    }
}

/// The response time of one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// The request, such as `call echo` or `list tools`.
    #[serde(rename = "asked")]
    pub request: String,
    /// The time until the response in milliseconds.
    pub took_ms: f64,
}

/// The sender of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sender {
    /// The client, which is spar.
    Client,
    /// The server.
    Server,
}

/// One frame, or a text that is not a valid frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    /// The time since the start of the test in milliseconds.
    pub at_ms: f64,
    /// The sender.
    pub from: Sender,
    /// The text on the wire, which may be malformed; a long one is truncated.
    pub text: String,
    /// The original size in bytes.
    pub bytes: usize,
    /// The status of the HTTP response that contained the frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The protocol rules that the frame breaks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
}

/// A broken rule of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// The rule that was broken.
    pub rule: String,
    /// The level of the rule: `must` or `should`.
    #[serde(default)]
    pub level: String,
    /// The path in the frame, such as `$.params.name`.
    pub path: String,
    /// The actual value and the expected one.
    pub message: String,
    /// The page and section of the specification.
    pub section: String,
}

impl Summary {
    /// Counts tests by outcome.
    pub fn from_tests(tests: &[Test]) -> Summary {
        let mut summary = Summary::default();
        tests.iter().for_each(|test| summary.add(test.outcome, test.is_flaky()));
        summary
    }

    /// Counts one more test. A flaky test passed only when it was retried.
    pub fn add(&mut self, outcome: Outcome, flaky: bool) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Skipped => self.skipped += 1,
            Outcome::NotRun => self.not_run += 1,
        }
        self.flaky += usize::from(flaky);
    }
}

/// Renders `12 passed, 0 failed, 3 skipped`, with `not run` and `flaky` if there are any.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { passed, failed, skipped, not_run, flaky } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")?;
        let others = [(not_run, "not run"), (flaky, "flaky")];
        let mut others = others.into_iter().filter(|(count, _)| **count > 0);
        others.try_for_each(|(count, outcome)| write!(f, ", {count} {outcome}"))
    }
}

impl SourceLocation {
    /// Returns the location of something that is in no file.
    pub fn none() -> SourceLocation {
        SourceLocation { file: String::new(), line: 1, column: 1 }
    }

    /// Returns true if there is a file.
    pub fn has_file(&self) -> bool {
        !self.file.is_empty()
    }
}

impl Run {
    /// Returns the verb that ran it: `spar check` or `spar test`.
    pub(crate) fn verb(&self) -> &'static str {
        match self.tests.iter().any(|test| test.rule.is_some()) {
            true => "spar check",
            false => "spar test",
        }
    }
}

impl Test {
    /// Returns the name with the variant: `echoes [2025-11-25, http]`.
    pub fn title(&self) -> String {
        let variant: Vec<&str> =
            [&self.protocol, &self.transport].into_iter().flatten().map(String::as_str).collect();
        match variant.is_empty() {
            true => self.name.clone(),
            false => format!("{} [{}]", self.name, variant.join(", ")),
        }
    }

    /// Returns true if the test passed only when it was retried.
    pub fn is_flaky(&self) -> bool {
        self.outcome == Outcome::Passed && !self.failed_tries.is_empty()
    }

    /// Returns the last try of a failed test.
    pub fn failure(&self) -> Option<&FailedTry> {
        self.failed_tries.last().filter(|_| self.outcome == Outcome::Failed)
    }
}

//! A run as data: what the JSON report is, and all that any report knows.
//!
//! What is hidden as a secret is hidden before it comes here.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the JSON form. It changes when something that is there
/// changes its meaning or goes; what is added does not change it.
pub const VERSION: u32 = 1;

/// A run of suites, whole or one shard of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The version of this form.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The version of the program that ran it.
    pub spar: String,
    /// When it began, as RFC 3339 in UTC.
    pub began: String,
    /// How long it took.
    pub took_ms: f64,
    /// Which part of a run it is, as `2/5`; a whole one does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Whether it was ended early, so that tests did not get their turn.
    #[serde(default)]
    pub stopped: bool,
    /// How many tests came to what.
    pub summary: Summary,
    /// Its tests, in the order of the plan.
    pub tests: Vec<Test>,
}

/// How many tests came to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// All that was expected held.
    pub passed: usize,
    /// Something did not hold.
    pub failed: usize,
    /// They were not to be run.
    pub skipped: usize,
    /// They did not get their turn.
    pub not_run: usize,
    /// Those that passed, but not at once.
    pub flaky: usize,
}

/// A test, in one revision and over one transport.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    /// Its suite: the path as the user gave or found it, with `/`.
    pub suite: String,
    /// What it shows.
    pub name: String,
    /// Where it stands; another file than the suite where it is included.
    pub place: Place,
    /// The server that it is about; none where it only runs an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The revision that it was run in, where the plan says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// The transport that it was run over, where the plan says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// The words to choose it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What came of it.
    pub outcome: Outcome,
    /// Why it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long it took, with all tries.
    pub took_ms: f64,
    /// The command that runs just this test.
    pub again: String,
    /// What did not hold, try by try: the last one is what a failed test failed
    /// of; those before it were tried again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_tries: Vec<Try>,
    /// How long the server took for each answer, in all tries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timings: Vec<Timing>,
    /// What was said, in all tries, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
    /// How many frames more there were, which are not kept; they would stand in
    /// the middle.
    #[serde(default)]
    pub frames_left_out: usize,
    /// Whether frames of other tests are among them, which ran at the same time
    /// on the same server, and which nobody can tell apart.
    #[serde(default)]
    pub frames_shared: bool,
}

/// What came of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// All that was expected held.
    Passed,
    /// Something did not hold.
    Failed,
    /// It was not to be run.
    Skipped,
    /// It did not get its turn, or was given up in the midst of it.
    NotRun,
}

/// A place in a file; lines and columns are counted from 1, columns in
/// characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The path, with `/`.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A try that failed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Try {
    /// All that did not hold, where the test stopped.
    pub failures: Vec<Failure>,
    /// The end of what the server or the agent wrote to its stderr.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// The end of what an agent wrote to its stdout.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
}

/// One thing that did not hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// Where that stands which did not hold.
    pub place: Place,
    /// The text of that line.
    pub source: String,
    /// What was expected and what was found.
    pub message: String,
    /// Both beside each other, line by line, where they are long: `-` expected,
    /// `+` found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// How long one answer took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// What was asked, as `call echo` or `list tools`.
    pub asked: String,
    /// How long it took.
    pub took_ms: f64,
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The client, which is us.
    Client,
    /// The server.
    Server,
}

/// One frame of a conversation, or something that is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    /// When, from the start of the test.
    pub at_ms: f64,
    /// Who sent it.
    pub from: Side,
    /// The frame as it went over the wire, which may be anything; a long one is
    /// cut.
    pub text: String,
    /// How many bytes it has.
    pub bytes: usize,
    /// The status of the HTTP response it came in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What is wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
}

/// A breach of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// The rule that was broken.
    pub rule: String,
    /// Where in the frame, as `$.params.name`.
    pub path: String,
    /// What was found and what should be there.
    pub message: String,
    /// The page and section of the specification.
    pub section: String,
}

impl Summary {
    /// Counts tests.
    pub fn of(tests: &[Test]) -> Summary {
        let mut summary = Summary::default();
        tests.iter().for_each(|test| summary.add(test.outcome, test.is_flaky()));
        summary
    }

    /// Counts one more; a flaky one passed, but not at once.
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

/// The last line of a run: `12 passed, 0 failed, 3 skipped`, and what else there
/// is.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Summary { passed, failed, skipped, not_run, flaky } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")?;
        let beside = [(not_run, "not run"), (flaky, "flaky")];
        let mut beside = beside.into_iter().filter(|(count, _)| **count > 0);
        beside.try_for_each(|(count, what)| write!(f, ", {count} {what}"))
    }
}

impl Test {
    /// Its name with the variant that it was run in, as `echoes [2025-11-25, http]`.
    pub fn title(&self) -> String {
        let said: Vec<&str> =
            [&self.protocol, &self.transport].into_iter().flatten().map(String::as_str).collect();
        match said.is_empty() {
            true => self.name.clone(),
            false => format!("{} [{}]", self.name, said.join(", ")),
        }
    }

    /// Whether it passed, but not at once.
    pub fn is_flaky(&self) -> bool {
        self.outcome == Outcome::Passed && !self.failed_tries.is_empty()
    }

    /// Why it failed, where it did.
    pub fn failure(&self) -> Option<&Try> {
        self.failed_tries.last().filter(|_| self.outcome == Outcome::Failed)
    }
}

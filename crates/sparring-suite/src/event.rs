//! What happens in a run, as whoever tells of it gets to know it.

use std::time::Duration;

use sparring_script::Span;

/// Something that happened. Tests are named by their place in the plan.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A test begins.
    Started {
        /// Which.
        test: usize,
    },
    /// A test is over.
    Finished {
        /// Which.
        test: usize,
        /// What came of it.
        outcome: Outcome,
        /// How long it took.
        took: Duration,
    },
}

/// What came of a test.
#[derive(Debug)]
pub enum Outcome {
    /// All that was expected held.
    Passed,
    /// Something did not hold.
    Failed(Box<Story>),
    /// It was not run, and why.
    Skipped(String),
}

/// What is to be known of a test that failed.
#[derive(Debug, Default)]
pub struct Story {
    /// All that did not hold, where the test stopped.
    pub failures: Vec<Failure>,
    /// What was said in the step that failed, in its order.
    pub spoken: Vec<Spoken>,
    /// How many frames of it are not kept.
    pub unheard: usize,
    /// The end of what the server wrote to its stderr during the test, or the agent.
    pub stderr: String,
    /// The end of what an agent wrote to its stdout.
    pub stdout: String,
}

/// One thing that did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Where in the suite that stands which did not hold.
    pub span: Span,
    /// What was expected and what was found.
    pub message: String,
    /// Both beside each other, where they are long: `-` expected, `+` found.
    pub diff: Option<String>,
}

/// One frame of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// Whether the server said it, and not the client.
    pub by_server: bool,
    /// What was said.
    pub text: String,
}

impl Failure {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Failure { span, message: message.into(), diff: None }
    }
}

impl Story {
    /// One that has only a reason.
    pub(crate) fn of(failure: Failure) -> Self {
        Story { failures: vec![failure], ..Story::default() }
    }
}

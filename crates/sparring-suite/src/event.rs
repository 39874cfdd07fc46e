//! What happens in a run, as whoever tells of it gets to know it.

use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

use sparring_script::Span;
use sparring_transport::Secrets;
use sparring_wire::Violation;

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
        /// What is to be known of it.
        end: End,
    },
    /// Answers were kept for snapshots, as was asked.
    Kept {
        /// In which file.
        file: PathBuf,
        /// How many, or why not.
        kept: Result<Kept, String>,
    },
}

/// How many answers were kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept {
    /// For which there was none.
    pub new: usize,
    /// For which there was another one.
    pub changed: usize,
    /// That no test has any more.
    pub removed: usize,
}

/// How a test ended.
#[derive(Debug)]
pub struct End {
    /// What came of it.
    pub outcome: Outcome,
    /// How long it took, with all tries.
    pub took: Duration,
    /// Why it did not pass in the tries before the last.
    pub earlier: Vec<Story>,
    /// How long the server took for each answer, in all tries.
    pub timings: Vec<Timing>,
    /// All that was said, in all tries, where that was asked for.
    pub traffic: Traffic,
}

/// How long one answer took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// What was asked, as `call echo` or `list tools`.
    pub asked: String,
    /// How long it took.
    pub took: Duration,
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
#[derive(Debug, Clone, Default)]
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

/// All that was said in a test, within bounds.
#[derive(Debug, Clone, Default)]
pub struct Traffic {
    /// The frames, in their order.
    pub frames: Vec<Said>,
    /// How many more there were in the middle.
    pub left_out: usize,
    /// Whether other tests ran on the same server meanwhile, so that frames of
    /// theirs are among them.
    pub shared: bool,
}

/// One frame of all that was said. Secrets in it are hidden.
#[derive(Debug, Clone)]
pub struct Said {
    /// When, from the start of the test; at its start what was said before.
    pub at: Duration,
    /// Whether the server said it, and not the client.
    pub by_server: bool,
    /// What was said, or something that is no text; a long one is cut.
    pub text: String,
    /// How many bytes it has.
    pub bytes: usize,
    /// The status of the HTTP response that it came in.
    pub status: Option<u16>,
    /// What is wrong with it.
    pub violations: Vec<Violation>,
}

impl Failure {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Failure { span, message: message.into(), diff: None }
    }
}

impl Outcome {
    /// It is not good if something did not hold afterwards.
    pub(crate) fn and(self, later: Option<Story>) -> Self {
        match (self, later) {
            (outcome, None) => outcome,
            (Outcome::Failed(story), later) => Outcome::Failed(Box::new(story.and(later))),
            (_, Some(story)) => Outcome::Failed(Box::new(story)),
        }
    }
}

impl End {
    /// That of a test that was not run.
    pub(crate) fn skipped(reason: String) -> Self {
        let outcome = Outcome::Skipped(reason);
        End {
            outcome,
            took: Duration::ZERO,
            earlier: Vec::new(),
            timings: Vec::new(),
            traffic: Traffic::default(),
        }
    }

    /// The same without secrets.
    pub(crate) fn without(mut self, secrets: &Secrets) -> Self {
        match &mut self.outcome {
            Outcome::Failed(story) => story.hide(secrets),
            Outcome::Skipped(reason) => hide(reason, secrets),
            Outcome::Passed => {}
        }
        self.earlier.iter_mut().for_each(|story| story.hide(secrets));
        self.timings.iter_mut().for_each(|timing| hide(&mut timing.asked, secrets));
        self
    }
}

impl Story {
    /// One that has only a reason.
    pub(crate) fn of(failure: Failure) -> Self {
        Story { failures: vec![failure], ..Story::default() }
    }

    /// The same, told with where in the course of things it was.
    pub(crate) fn during(mut self, what: &str) -> Self {
        for failure in &mut self.failures {
            failure.message = format!("in {what}: {}", failure.message);
        }
        self
    }

    /// The same, told at another place.
    pub(crate) fn at(mut self, span: Span) -> Self {
        self.failures.iter_mut().for_each(|failure| failure.span = span);
        self
    }

    /// Hides secrets in all of it; in what was said they are hidden already.
    fn hide(&mut self, secrets: &Secrets) {
        for failure in &mut self.failures {
            hide(&mut failure.message, secrets);
            failure.diff.iter_mut().for_each(|diff| hide(diff, secrets));
        }
        hide(&mut self.stderr, secrets);
        hide(&mut self.stdout, secrets);
    }

    /// The same with what did not hold afterwards.
    pub(crate) fn and(mut self, later: Option<Story>) -> Self {
        self.failures.extend(later.into_iter().flat_map(|later| later.failures));
        self
    }
}

fn hide(text: &mut String, secrets: &Secrets) {
    if let Cow::Owned(hidden) = secrets.mask(text) {
        *text = hidden;
    }
}

//! Runs the step `check`: checks the server against the rules of the specification, on
//! connections of its own.

use std::sync::Arc;

use sparring_check::{
    CheckError, CheckOptions, CheckReport, CheckTarget, LinkTarget, Problem, Status, check,
    is_about_metadata,
};
use sparring_mock::MockServer;
use sparring_script::Span;
use sparring_transport::Target;
use sparring_wire::Side;

use super::connect::DEFAULT_TIMEOUT;
use super::server_runner::TestedServer;
use crate::call_arguments;
use crate::event::{FailedTry, Failure, Note, StepFrame};

/// The maximum number of failures that a check reports, and of their frames.
const MAX_FAILURES: usize = 50;
const MAX_FRAMES: usize = 12;

/// A server that checks connect to.
#[derive(Clone)]
pub(super) struct CheckedServer {
    target: Arc<dyn CheckTarget>,
    /// The arguments of `spar` that name the server.
    arguments: String,
}

/// The outcome of a check.
pub(super) struct Checked {
    pub(super) failed: Option<FailedTry>,
    /// The warnings, unless they are failures.
    pub(super) notes: Vec<Note>,
}

impl CheckedServer {
    /// A server that is started for each connection, or that listens.
    pub(super) fn of_target(target: &Target) -> CheckedServer {
        let arguments = match target {
            Target::Child(child) => format!("-- {}", child.command_line()),
            Target::Http(http) => format!("--url {}", http.redacted_url()),
            _ => String::new(),
        };
        CheckedServer { target: Arc::new(target.clone()), arguments }
    }

    /// A mock in this process.
    pub(super) fn of_mock(server: &Arc<MockServer>) -> CheckedServer {
        let server = Arc::clone(server);
        let target = LinkTarget(move || server.connect());
        CheckedServer { target: Arc::new(target), arguments: String::new() }
    }
}

/// Checks the server in the revision of the test, or in all of them.
pub(super) async fn run(
    span: Span,
    options: &CheckOptions,
    server: &CheckedServer,
    tested: TestedServer<'_>,
) -> Checked {
    let mut options = options.clone();
    if let Some(revision) = tested.variant.protocol {
        options.revisions = vec![revision];
    }
    options.connect_timeout = tested.server.timeout.unwrap_or(DEFAULT_TIMEOUT);
    options.suggested_arguments = call_arguments::of_suite(&tested.suite.source).arguments;
    options.target_arguments.clone_from(&server.arguments);
    let report = check(Arc::clone(&server.target), options).await;
    match report.and_then(CheckReport::require_connection) {
        Ok(report) => judge(span, &report, tested),
        Err(error) => not_checked(span, &error),
    }
}

fn not_checked(span: Span, error: &CheckError) -> Checked {
    let failed = FailedTry::new(Failure::new(span, format!("the server was not checked: {error}")));
    Checked { failed: Some(failed), notes: Vec::new() }
}

/// Makes failures of broken requirements, and notes of warnings.
fn judge(span: Span, report: &CheckReport, tested: TestedServer<'_>) -> Checked {
    let problems = report.problems();
    let (failures, warnings): (Vec<&Problem>, Vec<&Problem>) =
        problems.iter().partition(|it| tested.strict || it.status == Status::Failed);
    let notes = warnings.iter().map(|it| Note { span, message: it.to_string() }).collect();
    if failures.is_empty() {
        return Checked { failed: None, notes };
    }
    let mut all: Vec<Failure> = failures
        .iter()
        .take(MAX_FAILURES)
        .map(|problem| Failure::new(span, render(problem)))
        .collect();
    if let Some(more @ 1..) = failures.len().checked_sub(MAX_FAILURES) {
        all.push(Failure::new(span, format!("and {more} more broken rules")));
    }
    let secrets = &tested.context.secrets;
    let frames = failures.iter().flat_map(|problem| {
        let is_complete = is_about_metadata(problem.rule);
        problem.frames.iter().map(move |frame| (frame, is_complete))
    });
    let frames = frames.take(MAX_FRAMES).map(|(frame, is_complete)| StepFrame {
        by_server: frame.from == Side::Server,
        is_complete,
        text: secrets.mask(&frame.text).into_owned(),
    });
    let failed = FailedTry { failures: all, frames: frames.collect(), ..FailedTry::default() };
    Checked { failed: Some(failed), notes }
}

/// Renders a problem with the command that repeats it, if it has one.
fn render(problem: &Problem) -> String {
    match &problem.command {
        Some(command) => format!("{problem}; repeat: {command}"),
        None => problem.to_string(),
    }
}

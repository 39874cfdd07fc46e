//! Runs suites from text, and returns their outcomes.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use sparring_script::Source;
use sparring_suite::{
    Event, FailedTry, Options, Outcome, Plan, RunContext, Stop, Suite, TestEnd, TestSelection, run,
};
use tokio::sync::mpsc;

/// The timeout of a run.
const RUN_TIMEOUT: Duration = Duration::from_secs(20);

/// The script of a mock with a tool for each behaviour that the tests check.
pub(crate) const MOCK: &str = include_str!("../trainer.mock.yaml");

/// The beginning of a suite that tests this mock.
pub(crate) const ON_MOCK: &str = "servers: {it: {mock: trainer.mock.yaml, timeout: 2s}}\n";

/// The context of the runs.
pub(crate) fn run_context() -> RunContext {
    let path = std::env::var("PATH").unwrap();
    let variables = [("PATH", &*path), ("WHO", "Ada")];
    RunContext {
        program: "spar".into(),
        variables: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        ..RunContext::default()
    }
}

/// Parses a suite in the folder of the mock.
pub(crate) fn read(text: &str) -> Result<Suite, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let source = Source::new("a.spar.yaml", text);
    Suite::parse(&source, &folder).map_err(|problems| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
    })
}

/// Runs a suite. Returns the outcome of each test in order; `None` if the test did not run.
pub(crate) async fn outcomes(text: &str, fail_fast: bool) -> Vec<(String, Option<Outcome>)> {
    outcomes_of(read(text).unwrap_or_else(|problems| panic!("{problems}")), fail_fast).await
}

/// Runs a parsed suite, like [`outcomes`].
pub(crate) async fn outcomes_of(suite: Suite, fail_fast: bool) -> Vec<(String, Option<Outcome>)> {
    let plan = Plan::new(vec![suite], &TestSelection::default()).unwrap();
    let (event_sender, mut events) = mpsc::unbounded_channel();
    let options = Options {
        jobs: NonZeroUsize::MIN,
        fail_fast,
        retry: 0,
        update: false,
        traffic: false,
        strict: false,
    };
    let (context, stop) = (run_context(), Stop::default());
    let running = run(&plan, options, &context, &stop, event_sender);
    tokio::time::timeout(RUN_TIMEOUT, running).await.expect("it hangs");
    let mut all: Vec<(String, Option<Outcome>)> =
        plan.tests().map(|planned| (planned.test.name.clone(), None)).collect();
    while let Some(event) = events.recv().await {
        if let Event::Finished { test, end } = event {
            all[test].1 = Some(end.outcome);
        }
    }
    all
}

/// Runs a suite. Returns the ends of its tests in the order in which they finished.
pub(crate) async fn ends(text: &str) -> Vec<TestEnd> {
    let suite = read(text).unwrap_or_else(|problems| panic!("{problems}"));
    let plan = Plan::new(vec![suite], &TestSelection::default()).unwrap();
    let (sender, mut events) = mpsc::unbounded_channel();
    let options = Options {
        jobs: NonZeroUsize::MIN,
        fail_fast: false,
        retry: 0,
        update: false,
        traffic: false,
        strict: false,
    };
    let (context, stop) = (run_context(), Stop::default());
    let running = run(&plan, options, &context, &stop, sender);
    tokio::time::timeout(RUN_TIMEOUT, running).await.expect("it hangs");
    let mut ends = Vec::new();
    while let Some(event) = events.recv().await {
        if let Event::Finished { end, .. } = event {
            ends.push(end);
        }
    }
    ends
}

/// Runs one test on the mock. Returns its failed try; `None` if the test passed.
pub(crate) async fn failed(test: &str) -> Option<Box<FailedTry>> {
    let text = format!("{ON_MOCK}tests: [{{name: the test, {test}}}]\n");
    let (_, outcome) = outcomes(&text, false).await.pop().unwrap();
    match outcome.unwrap() {
        Outcome::Passed => None,
        Outcome::Failed(failed) => Some(failed),
        Outcome::Skipped(reason) => panic!("skipped: {reason}"),
    }
}

/// Runs one test on the mock. Returns its failure messages, each on its own line.
pub(crate) async fn failures(test: &str) -> String {
    let failures = failed(test).await.map(|failed| failed.failures).unwrap_or_default();
    failures.into_iter().map(|failure| format!("{}\n", failure.message)).collect()
}

/// Checks that each test passes on the mock.
#[track_caller]
pub(crate) fn pass(tests: &[&str]) {
    for test in tests {
        let messages = block_on(failures(test));
        assert!(messages.is_empty(), "{test}\n{messages}");
    }
}

/// Checks that a test fails on the mock, and that its messages contain `expected`.
#[track_caller]
pub(crate) fn fail(test: &str, expected: &str) {
    let messages = block_on(failures(test));
    assert!(messages.contains(expected), "{test}\nexpected {expected:?} in:\n{messages}");
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(work)
}

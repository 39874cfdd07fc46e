//! Runs suites from their text, and gives what was told of them.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use sparring_script::Source;
use sparring_suite::{
    Event, FailedTry, Options, Outcome, Plan, RunContext, Stop, Suite, TestSelection, run,
};
use tokio::sync::mpsc;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A mock that has a tool for everything that the tests look at.
pub(crate) const MOCK: &str = include_str!("../trainer.mock.yaml");

/// The beginning of a suite on that mock.
pub(crate) const ON_MOCK: &str = "servers: {it: {mock: trainer.mock.yaml, timeout: 2s}}\n";

/// What the environment is in these tests.
pub(crate) fn world() -> RunContext {
    let path = std::env::var("PATH").unwrap();
    let variables = [("PATH", &*path), ("WHO", "Ada")];
    RunContext {
        program: "spar".into(),
        variables: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        ..RunContext::default()
    }
}

/// Reads a suite that lies beside the mock.
pub(crate) fn read(text: &str) -> Result<Suite, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let source = Source::new("a.spar.yaml", text);
    Suite::parse(&source, &folder).map_err(|problems| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
    })
}

/// What came of each test of a suite, in their order; none of those that were
/// not run.
pub(crate) async fn outcomes(text: &str, fail_fast: bool) -> Vec<(String, Option<Outcome>)> {
    outcomes_of(read(text).unwrap_or_else(|told| panic!("{told}")), fail_fast).await
}

/// The same of a suite that was read.
pub(crate) async fn outcomes_of(suite: Suite, fail_fast: bool) -> Vec<(String, Option<Outcome>)> {
    let plan = Plan::new(vec![suite], &TestSelection::default()).unwrap();
    let (tell, mut events) = mpsc::unbounded_channel();
    let options =
        Options { jobs: NonZeroUsize::MIN, fail_fast, retry: 0, update: false, traffic: false };
    let (world, stop) = (world(), Stop::default());
    let running = run(&plan, options, &world, &stop, tell);
    tokio::time::timeout(PATIENCE, running).await.expect("it hangs");
    let mut all: Vec<(String, Option<Outcome>)> =
        plan.tests().map(|planned| (planned.test.name.clone(), None)).collect();
    while let Some(event) = events.recv().await {
        if let Event::Finished { test, end } = event {
            all[test].1 = Some(end.outcome);
        }
    }
    all
}

/// The failed of the only test of a suite on the mock; none where it passed.
pub(crate) async fn failed(test: &str) -> Option<Box<FailedTry>> {
    let text = format!("{ON_MOCK}tests: [{{name: the test, {test}}}]\n");
    let (_, outcome) = outcomes(&text, false).await.pop().unwrap();
    match outcome.unwrap() {
        Outcome::Passed => None,
        Outcome::Failed(failed) => Some(failed),
        Outcome::Skipped(reason) => panic!("skipped: {reason}"),
    }
}

/// All that did not hold in a test, a line each.
pub(crate) async fn failures(test: &str) -> String {
    let failures = failed(test).await.map(|failed| failed.failures).unwrap_or_default();
    failures.into_iter().map(|failure| format!("{}\n", failure.message)).collect()
}

/// Checks that a test passes.
#[track_caller]
pub(crate) fn pass(tests: &[&str]) {
    for test in tests {
        let told = block_on(failures(test));
        assert!(told.is_empty(), "{test}\n{told}");
    }
}

/// Checks that a test fails, and that all that is told contains this.
#[track_caller]
pub(crate) fn fail(test: &str, expected: &str) {
    let told = block_on(failures(test));
    assert!(told.contains(expected), "{test}\nmust tell {expected:?}, and tells:\n{told}");
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(work)
}

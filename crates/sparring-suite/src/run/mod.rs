//! Runs a plan: several files at once, all servers of a file at once, and the tests of a
//! server one after the other, or several at once if the server has `concurrency`.
//!
//! The flow is runner → server → step → verdict → event. A [`ServerRunner`] owns each
//! server; tests talk to it through a [`ServerHandle`].

mod action;
mod agent;
mod change_notifications;
mod check_step;
mod connect;
mod connection;
mod listed_tools;
mod mocks;
mod prepared_answers;
mod prerequisites;
mod scope;
mod server_handle;
mod server_runner;
mod snapshot_store;
mod step;
mod step_runner;
mod step_traffic;
mod stop;
mod test_runner;
mod traffic_recorder;
mod wait_for;

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream;
use tokio::sync::mpsc::UnboundedSender;

use crate::context::RunContext;
use crate::event::{Event, Outcome, TestEnd};
use crate::model::{Suite, Variant};
use crate::plan::{Plan, PlannedTest};
use server_handle::ServerHandle;
use server_runner::{ServerRunner, TestedServer};
use snapshot_store::{SnapshotStore, TestSnapshots};
use test_runner::TestRunner;
use traffic_recorder::TrafficRecorder;

pub use stop::Stop;

/// Options of a run.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The maximum number of files that run at once.
    pub jobs: NonZeroUsize,
    /// If true, the first failure ends the run.
    pub fail_fast: bool,
    /// The maximum number of retries of a test that fails, unless the test sets its own.
    pub retry: u64,
    /// If true, the run writes snapshots instead of checking them.
    pub update: bool,
    /// If true, the end of each test has its traffic.
    pub traffic: bool,
    /// If true, a warning fails its test: a broken rule of the level `should`.
    pub strict: bool,
}

/// Runs all tests of a plan and sends an event for each. When `stop` is requested,
/// gives up the running tests, stops the servers and starts nothing more.
pub async fn run(
    plan: &Plan,
    options: Options,
    context: &RunContext,
    stop: &Stop,
    events: UnboundedSender<Event>,
) {
    let traffic_budget = Arc::new(AtomicUsize::new(traffic_recorder::MAX_BYTES_PER_RUN));
    let runner = Runner { options, context, stop, events, traffic_budget };
    stream::iter(plan.by_suite())
        .for_each_concurrent(options.jobs.get(), |(suite, tests)| runner.run_suite(suite, tests))
        .await;
}

struct Runner<'a> {
    options: Options,
    context: &'a RunContext,
    stop: &'a Stop,
    events: UnboundedSender<Event>,
    /// The number of bytes of traffic that the run may still record.
    traffic_budget: Arc<AtomicUsize>,
}

/// The tests of one server, and the number of unfinished ones.
struct ServerTests<'a> {
    tested: TestedServer<'a>,
    server: ServerHandle,
    snapshots: &'a SnapshotStore,
    left: Cell<usize>,
    /// The name of the previous test.
    previous: Cell<Option<&'a str>>,
}

impl Runner<'_> {
    async fn run_suite(&self, suite: &Suite, tests: Vec<PlannedTest<'_>>) {
        if let Some(missing) = prerequisites::missing(suite, self.context) {
            return tests.iter().for_each(|test| self.skip(test, &missing));
        }
        let mut by_server: Vec<(usize, Variant, Vec<PlannedTest<'_>>)> = Vec::new();
        for planned in tests {
            let (server, variant) = (planned.test.server, planned.variant);
            match by_server.iter_mut().find(|group| (group.0, group.1) == (server, variant)) {
                Some((_, _, tests)) => tests.push(planned),
                None => by_server.push((server, variant, vec![planned])),
            }
        }
        let snapshots = SnapshotStore::load(suite, self.options.update);
        let servers = by_server.into_iter().map(|(server, variant, tests)| {
            self.run_server(suite, server, variant, &snapshots, tests)
        });
        join_all(servers).await;
        if let Some(event) = snapshots.write(suite) {
            self.send(event);
        }
    }

    /// Runs the tests of one server, and stops the server after the last.
    async fn run_server(
        &self,
        suite: &Suite,
        index: usize,
        variant: Variant,
        snapshots: &SnapshotStore,
        tests: Vec<PlannedTest<'_>>,
    ) {
        let recorder = self.recorder();
        let (context, recorder) = (self.context, recorder.as_ref());
        let server = &suite.servers[index];
        let strict = self.options.strict;
        let tested = TestedServer { suite, server, index, variant, context, recorder, strict };
        let (handle, server_runner) = ServerRunner::new(tested, self.stop);
        let left = Cell::new(tests.iter().filter(|it| it.test.skip.is_none()).count());
        let previous = Cell::default();
        let group = ServerTests { tested, server: handle, snapshots, left, previous };
        let run_tests = async move {
            let run_test = |index| self.run_test(&group, &tests, index);
            stream::iter(0..tests.len()).for_each_concurrent(server.concurrency, run_test).await;
            // After an early end of the run no test is left that could report a failure.
            let _ = group.server.stop().await;
        };
        tokio::join!(server_runner.run(), run_tests);
    }

    fn recorder(&self) -> Option<TrafficRecorder> {
        let secrets = || self.context.secrets.clone();
        let new = || TrafficRecorder::new(secrets(), Arc::clone(&self.traffic_budget));
        self.options.traffic.then(new)
    }

    async fn run_test<'a>(&self, group: &ServerTests<'a>, tests: &[PlannedTest<'a>], index: usize) {
        let planned = &tests[index];
        if self.stop.is_requested() {
            return;
        }
        if let Some(reason) = &planned.test.skip {
            return self.skip(planned, reason);
        }
        self.send(Event::Started { test: planned.number });
        let recorder = group.tested.recorder;
        if let Some(recorder) = recorder {
            recorder.begin_test(planned.number);
        }
        group.server.begin_test();
        let (test, variant) = (planned.test, planned.variant);
        let runner = TestRunner {
            test,
            number: planned.number,
            tested: group.tested,
            server: &group.server,
            snapshots: TestSnapshots { store: group.snapshots, test: &test.name, variant },
            stop: self.stop,
        };
        let end = runner.run(1 + test.retry.unwrap_or(self.options.retry)).await;
        group.left.set(group.left.get() - 1);
        let end = match end {
            Some(end) => Some(self.with_late_findings(group, &tests[index + 1..], end).await),
            None => None,
        };
        group.previous.set(Some(&test.name));
        let traffic = recorder.map(|it| it.end_test(planned.number)).unwrap_or_default();
        let Some(end) = end else { return };
        let failed = matches!(end.outcome, Outcome::Failed(_));
        self.finish(planned, TestEnd { traffic, ..end });
        if failed && self.options.fail_fast {
            self.stop.request();
        }
    }

    /// Adds what the server did wrong since the last step of the previous test, outside of the
    /// steps of this one. Stops the server after its last test, and before a test with
    /// `isolate`: what it sends until then belongs to this test.
    async fn with_late_findings(
        &self,
        group: &ServerTests<'_>,
        later: &[PlannedTest<'_>],
        end: TestEnd,
    ) -> TestEnd {
        let end = match group.previous.get() {
            Some(previous) => {
                let when = format!("after the last step of the previous test, `{previous}`");
                end.and(group.server.take_findings_of_previous_test(when).await)
            }
            None => end,
        };
        let next = later.iter().find(|planned| planned.test.skip.is_none());
        let is_followed_by_fresh_server = next.is_some_and(|planned| planned.test.isolate);
        let ends_run = self.options.fail_fast && matches!(end.outcome, Outcome::Failed(_));
        let is_alone = group.tested.server.concurrency == 1;
        match group.left.get() == 0 || is_alone && (is_followed_by_fresh_server || ends_run) {
            true => end.and(group.server.stop().await),
            false => end,
        }
    }

    fn skip(&self, planned: &PlannedTest<'_>, reason: &str) {
        self.finish(planned, TestEnd::skipped(reason.to_owned()));
    }

    fn finish(&self, planned: &PlannedTest<'_>, end: TestEnd) {
        let end = end.without(&self.context.secrets);
        self.send(Event::Finished { test: planned.number, end });
    }

    fn send(&self, event: Event) {
        // The tests continue even if nothing receives the events.
        let _ = self.events.send(event);
    }
}

//! Runs one server for the tests of a suite: starts it before the first test, starts
//! it again after a crash, and stops it after the last test.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use sparring_peer::Cause;
use sparring_script::Span;
use sparring_wire::Violation;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::connect;
use super::connection::ServerConnection;
use super::mocks::RunningMocks;
use super::scope::TempFolder;
use super::server_handle::{Observations, ReadyServer, ServerHandle, ServerRequest};
use super::step_runner::StepRunner;
use super::stop::Stop;
use super::traffic_recorder::TrafficRecorder;
use crate::context::RunContext;
use crate::event::{FailedTry, Failure, LateFindings, StepFrame};
use crate::model::{Expectation, Server, ServerKind, Suite, Variant};

/// The maximum wait for a server to end after an unusable answer. Without it, the server
/// could end during the next test.
const EXIT_TIMEOUT: Duration = Duration::from_millis(200);

/// A server of a suite in one variant.
#[derive(Clone, Copy)]
pub(super) struct TestedServer<'a> {
    pub(super) suite: &'a Suite,
    pub(super) server: &'a Server,
    /// The server's position in the suite.
    pub(super) index: usize,
    pub(super) variant: Variant,
    pub(super) context: &'a RunContext,
    /// Records all traffic, if reports need it.
    pub(super) recorder: Option<&'a TrafficRecorder>,
    /// If true, a warning is a failure.
    pub(super) strict: bool,
}

/// Owns a server and handles the requests of its tests one after the other.
pub(super) struct ServerRunner<'a> {
    tested: TestedServer<'a>,
    stop: &'a Stop,
    requests: mpsc::UnboundedReceiver<ServerRequest>,
    /// The server's folder for `${tmp}`.
    folder: TempFolder,
    /// The suite's mocks, once they are started.
    mocks: Option<Arc<RunningMocks>>,
    state: ServerState,
    /// The runner of the suite's setup, once that has begun. It runs the teardown too.
    suite_steps: Option<StepRunner<'a>>,
    /// Violations of connections that are closed, until a test reports them.
    unreported: Vec<Violation>,
    /// The number of violations of closed connections that were too many to keep.
    dropped_violations: usize,
    /// The last frames of a connection that is closed, and the number of omitted ones, if it has
    /// violations that no test has reported.
    last_frames: (Vec<StepFrame>, usize),
    /// Violations of the previous test on a connection that is closed.
    of_previous_test: Vec<Violation>,
    /// The reason why a server that was stopped ended with an error, until a test reports it.
    failed_exit: Option<String>,
    /// The failure of the last reset of the mocks, until a test reports it.
    failed_reset: Option<FailedTry>,
}

/// The state of a server.
enum ServerState {
    /// Not started yet, or stopped.
    Stopped,
    Running(RunningServer),
    /// The server or its setup failed. The runner does not try again.
    Unusable {
        failure: FailedTry,
        running: Option<RunningServer>,
    },
}

struct RunningServer {
    connection: Arc<ServerConnection>,
    /// True if the suite's setup ran on this connection.
    is_set_up: bool,
    is_used: bool,
    /// True if a test reported that the server ended.
    is_end_reported: bool,
    condition: Condition,
}

/// The condition of a running server, by the observations of earlier steps.
#[derive(PartialEq)]
enum Condition {
    Good,
    /// The last answer was unusable.
    MayBeEnding,
    /// A step or a test timed out.
    MayHang,
}

/// The error of a server or a mock that could not be started.
#[derive(Debug, Clone)]
pub(super) struct StartError {
    pub(super) span: Span,
    pub(super) message: String,
    pub(super) stderr: String,
}

impl<'a> ServerRunner<'a> {
    /// Makes a runner of a server that is not started yet, and the handle for its tests.
    pub(super) fn new(tested: TestedServer<'a>, stop: &'a Stop) -> (ServerHandle, Self) {
        let (handle, requests) = ServerHandle::new();
        let runner = ServerRunner {
            tested,
            stop,
            requests,
            folder: TempFolder::default(),
            mocks: None,
            state: ServerState::Stopped,
            suite_steps: None,
            unreported: Vec::new(),
            dropped_violations: 0,
            last_frames: (Vec::new(), 0),
            of_previous_test: Vec::new(),
            failed_exit: None,
            failed_reset: None,
        };
        (handle, runner)
    }

    /// Handles requests until every handle is dropped.
    pub(super) async fn run(mut self) {
        while let Some(request) = self.requests.recv().await {
            match request {
                ServerRequest::Acquire(reply) => answer(reply, self.acquire()).await,
                ServerRequest::Restart(reply) => answer(reply, self.restart()).await,
                ServerRequest::TakeUnreportedEnd(reply) => {
                    answer(reply, self.take_unreported_end()).await;
                }
                ServerRequest::Stop(reply) => answer(reply, self.stop()).await,
                ServerRequest::BeginTest => {
                    if let Some(running) = self.state.running() {
                        running.connection.traffic.begin_test();
                    }
                }
                ServerRequest::TakeFindingsOfPreviousTest(when, reply) => {
                    // The test may have been abandoned just now.
                    let _ = reply.send(self.take_findings_of_previous_test(&when));
                }
                ServerRequest::ResetMocks => self.reset_mocks().await,
                ServerRequest::Observe(connection, seen) => self.observe(&connection, seen),
            }
        }
    }

    async fn acquire(&mut self) -> Result<ReadyServer, FailedTry> {
        let mocks = self.start_mocks().await?;
        if let Some(failed) = self.failed_reset.take() {
            return Err(failed);
        }
        if let ServerKind::NoServer = self.tested.server.kind {
            let saved = Map::new();
            return Ok(ReadyServer { connection: None, mocks, saved, is_used: false });
        }
        if let Some(cause) = self.take_unreported_end().await {
            self.close().await;
            let name = &self.tested.server.name;
            let message = format!("server `{name}` ended before this test: {cause}");
            return Err(FailedTry::new(Failure::new(self.tested.server.span, message)));
        }
        // A test restarted the server without the suite's setup, and its steps may have
        // changed state that the setup relies on.
        if !self.is_set_up() && !self.tested.suite.setup.is_empty() {
            self.close().await;
        }
        let connection = self.connection().await?;
        if !self.is_set_up() {
            self.set_up(&connection, &mocks).await?;
        }
        let saved = self.suite_steps.as_ref().map(|it| it.saved().clone()).unwrap_or_default();
        let is_used = self.state.running().is_some_and(|running| running.is_used);
        Ok(ReadyServer { connection: Some(connection), mocks, saved, is_used })
    }

    /// Runs the suite's setup on a new connection.
    async fn set_up(
        &mut self,
        connection: &Arc<ServerConnection>,
        mocks: &Arc<RunningMocks>,
    ) -> Result<(), FailedTry> {
        if let Some(running) = self.state.running_mut() {
            running.is_set_up = true;
        }
        let ready = ReadyServer {
            connection: Some(Arc::clone(connection)),
            mocks: Arc::clone(mocks),
            saved: Map::new(),
            is_used: false,
        };
        // Stored before it runs, so that the teardown also runs after an abandoned setup.
        let steps = self.suite_steps.insert(StepRunner::new(self.tested, ready, None));
        let done = steps.run_until_failure(&self.tested.suite.setup, None).await;
        let seen = steps.take_observations();
        self.observe(connection, seen);
        done.map_err(|failed| self.give_up(failed.during("the suite's setup")))
    }

    async fn restart(&mut self) -> Result<Arc<ServerConnection>, FailedTry> {
        self.close().await;
        self.connection().await
    }

    async fn take_unreported_end(&mut self) -> Option<String> {
        if let Some(failed) = self.failed_exit.take() {
            return Some(failed);
        }
        let running = self.state.running_mut()?;
        if !running.connection.is_ended() || std::mem::replace(&mut running.is_end_reported, true) {
            return None;
        }
        Some(running.connection.end_cause().await)
    }

    fn take_findings_of_previous_test(&mut self, when: &str) -> LateFindings {
        let mut violations = std::mem::take(&mut self.of_previous_test);
        if let Some(running) = self.state.running() {
            violations.extend(running.connection.traffic.take_violations_of_previous_test());
        }
        let (mut late, span) = (LateFindings::default(), self.tested.server.span);
        late.add_violations(violations, when, span, self.tested.strict);
        late
    }

    async fn stop(&mut self) -> LateFindings {
        let ended = self.take_unreported_end().await;
        let stop = self.stop;
        let torn_down = stop.finish(self.tear_down()).await.flatten();
        let torn_down = torn_down.map(|failed| failed.during("the suite's teardown"));
        self.close().await;
        let ended = ended.or(self.failed_exit.take());
        let ended = ended.map(|cause| format!("the server ended after the last step: {cause}"));
        let when = match self.tested.server.concurrency {
            1 => "after the last step",
            // A test reports the violations of the answers to its own requests.
            _ => "while several tests ran, but not in an answer to one of them",
        };
        let span = self.tested.server.span;
        let ended = ended.map(|it| FailedTry::new(Failure::new(span, it)));
        let mut late = LateFindings { failed: torn_down, notes: Vec::new() };
        late.extend(LateFindings { failed: ended, notes: Vec::new() });
        late.add_violations(self.unreported.drain(..), when, span, self.tested.strict);
        let (frames, left_out) = std::mem::take(&mut self.last_frames);
        if let Some(failed) = late.failed.as_mut().filter(|failed| failed.frames.is_empty()) {
            (failed.frames, failed.frames_left_out) = (frames, left_out);
        }
        let dropped = std::mem::take(&mut self.dropped_violations);
        if dropped > 0 {
            let message = format!("{dropped} violations were not checked: there are too many");
            late.add_failure(span, message);
        }
        late
    }

    /// Runs the suite's teardown if its setup has begun. Starts the server again if it
    /// has ended.
    async fn tear_down(&mut self) -> Option<FailedTry> {
        let mut steps = self.suite_steps.take()?;
        let failed = matches!(self.state, ServerState::Unusable { .. });
        if self.tested.suite.teardown.is_empty() {
            return None;
        }
        if !self.is_set_up() || !steps.is_connected() {
            match self.connection().await {
                Ok(connection) => steps.continue_on(connection),
                // The tests have reported the reason.
                Err(_) if failed => return None,
                Err(failed) => return Some(failed),
            }
        }
        let torn_down = steps.run_all(&self.tested.suite.teardown, failed).await;
        steps.close_subscriptions().await;
        torn_down
    }

    /// The connection to the server. Starts the server if it is not running.
    async fn connection(&mut self) -> Result<Arc<ServerConnection>, FailedTry> {
        if let ServerState::Unusable { failure, .. } = &self.state {
            return Err(failure.clone());
        }
        if let Some(running) = self.state.running_mut()
            && running.condition == Condition::MayBeEnding
        {
            running.condition = Condition::Good;
            let _ = timeout(EXIT_TIMEOUT, running.connection.ended()).await;
        }
        let running = self.state.running();
        let hangs = running.is_some_and(|it| self.should_restart(it));
        if hangs || running.is_some_and(|it| it.connection.is_ended()) {
            self.close().await;
            // A test has reported that the server hangs, which explains more.
            self.failed_exit = self.failed_exit.take().filter(|_| !hangs);
        }
        if let Some(running) = self.state.running() {
            return Ok(Arc::clone(&running.connection));
        }
        let connected = connect::connect(&self.tested, &self.folder, self.mocks()).await;
        let connection = match connected {
            Ok(connection) => Arc::new(connection),
            Err(error) => return Err(self.give_up(error.into_failed_try())),
        };
        connection.traffic.add_violations(std::mem::take(&mut self.unreported));
        self.last_frames = (Vec::new(), 0);
        self.state = ServerState::Running(RunningServer {
            connection: Arc::clone(&connection),
            is_set_up: false,
            is_used: false,
            is_end_reported: false,
            condition: Condition::Good,
        });
        Ok(connection)
    }

    /// Returns true if the server may hang and must be restarted, so that the next tests do not
    /// time out too. A server with `concurrency` is not restarted: other tests may still use it.
    fn should_restart(&self, running: &RunningServer) -> bool {
        let server = self.tested.server;
        let is_ours = !matches!(server.kind, ServerKind::Http(_)) && server.concurrency == 1;
        is_ours && running.condition == Condition::MayHang
    }

    /// Starts the suite's mocks, unless they run already.
    async fn start_mocks(&mut self) -> Result<Arc<RunningMocks>, FailedTry> {
        if let ServerState::Unusable { failure, .. } = &self.state {
            return Err(failure.clone());
        }
        if let Some(mocks) = &self.mocks {
            return Ok(Arc::clone(mocks));
        }
        match RunningMocks::start(&self.tested, &self.folder).await {
            Ok(started) => Ok(Arc::clone(self.mocks.insert(Arc::new(started)))),
            Err(error) => Err(self.give_up(error.into_failed_try())),
        }
    }

    async fn reset_mocks(&mut self) {
        let shared = self.tested.server.concurrency > 1;
        let Some(mocks) = self.mocks.as_ref().filter(|_| !shared) else { return };
        self.failed_reset = mocks.reset().await.err().map(StartError::into_failed_try);
    }

    /// The values of the mocks that templates can use.
    fn mocks(&self) -> &Value {
        self.mocks.as_ref().map_or(&Value::Null, |mocks| mocks.values())
    }

    fn observe(&mut self, connection: &Arc<ServerConnection>, seen: Observations) {
        let running = self.state.running_mut();
        let same = |running: &&mut RunningServer| Arc::ptr_eq(&running.connection, connection);
        let Some(running) = running.filter(same) else { return };
        running.is_used |= seen.used;
        running.is_end_reported |= seen.end_reported;
        running.condition = match (&running.condition, seen) {
            (_, Observations { timed_out: true, .. }) | (Condition::MayHang, _) => {
                Condition::MayHang
            }
            (_, Observations { last_unusable: true, .. }) => Condition::MayBeEnding,
            _ => Condition::Good,
        };
    }

    fn is_set_up(&self) -> bool {
        self.state.running().is_some_and(|running| running.is_set_up)
    }

    /// Marks the server as unusable for all its tests.
    fn give_up(&mut self, failure: FailedTry) -> FailedTry {
        let running = std::mem::replace(&mut self.state, ServerState::Stopped).into_running();
        self.state = ServerState::Unusable { failure: failure.clone(), running };
        failure
    }

    /// Stops the server, and waits until it has ended.
    async fn close(&mut self) {
        if let Some(running) = self.state.take_running() {
            let is_known = running.is_end_reported || running.connection.is_ended();
            let cause = running.connection.client.close().await;
            // The link reads until the server is gone, so this has everything that it sent.
            let traffic = &running.connection.traffic;
            self.of_previous_test.extend(traffic.take_violations_of_previous_test());
            let unreported = traffic.take_remaining_violations();
            if !unreported.is_empty() {
                self.last_frames = traffic.shown();
            }
            self.unreported.extend(unreported);
            self.dropped_violations += traffic.take_dropped_violations();
            if let Cause::ProcessEnded { .. } = cause
                && !is_known
                && !self.tested.server.ignores_exit_status
            {
                self.failed_exit = Some(cause.to_string());
            }
        }
    }
}

impl TestedServer<'_> {
    /// The file for the journal of a mock in another process, if a test checks that
    /// journal.
    pub(super) fn journal_file(&self, folder: &TempFolder) -> Option<PathBuf> {
        let steps = self.suite.tests.iter().flat_map(|test| test.all_steps());
        let is_checked = steps.flat_map(|step| &step.expect.0).any(
            |(_, expectation)| matches!(expectation, Expectation::Journal { name, .. } if *name == self.server.name),
        );
        if !is_checked {
            return None;
        }
        let folder = folder.path().ok()?;
        Some(PathBuf::from(folder.as_str()?).join("journal.jsonl"))
    }
}

impl ServerState {
    fn running(&self) -> Option<&RunningServer> {
        match self {
            ServerState::Stopped => None,
            ServerState::Running(running) => Some(running),
            ServerState::Unusable { running, .. } => running.as_ref(),
        }
    }

    fn running_mut(&mut self) -> Option<&mut RunningServer> {
        match self {
            ServerState::Stopped => None,
            ServerState::Running(running) => Some(running),
            ServerState::Unusable { running, .. } => running.as_mut(),
        }
    }

    fn into_running(self) -> Option<RunningServer> {
        match self {
            ServerState::Stopped => None,
            ServerState::Running(running) => Some(running),
            ServerState::Unusable { running, .. } => running,
        }
    }

    /// Takes the running server out. An unusable server stays unusable.
    fn take_running(&mut self) -> Option<RunningServer> {
        match self {
            ServerState::Unusable { running, .. } => running.take(),
            other => std::mem::replace(other, ServerState::Stopped).into_running(),
        }
    }
}

impl StartError {
    fn into_failed_try(self) -> FailedTry {
        let failure = Failure::new(self.span, self.message);
        FailedTry { stderr: self.stderr, did_not_start: true, ..FailedTry::new(failure) }
    }
}

/// Sends the result of some work, or abandons the work if nothing waits for the result.
async fn answer<T>(mut reply: oneshot::Sender<T>, work: impl Future<Output = T>) {
    let done = tokio::select! {
        biased;
        done = work => done,
        () = reply.closed() => return,
    };
    // The test may have been abandoned just now.
    let _ = reply.send(done);
}

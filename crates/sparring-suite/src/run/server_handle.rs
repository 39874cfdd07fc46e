//! The messages that tests send to the task that owns their server.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use super::connection::ServerConnection;
use super::mocks::RunningMocks;
use crate::event::{FailedTry, LateFindings};

/// Sends requests to a [`ServerRunner`](super::server_runner::ServerRunner). Cheap to
/// clone.
#[derive(Clone)]
pub(super) struct ServerHandle(mpsc::UnboundedSender<ServerRequest>);

/// A request to the task that owns a server. The task abandons a request if its sender no
/// longer waits for the reply.
pub(super) enum ServerRequest {
    Acquire(oneshot::Sender<Result<ReadyServer, FailedTry>>),
    Restart(oneshot::Sender<Result<Arc<ServerConnection>, FailedTry>>),
    TakeUnreportedEnd(oneshot::Sender<Option<String>>),
    Stop(oneshot::Sender<LateFindings>),
    BeginTest,
    TakeFindingsOfPreviousTest(String, oneshot::Sender<LateFindings>),
    ResetMocks,
    Observe(Arc<ServerConnection>, Observations),
}

/// A server that is started and set up.
pub(super) struct ReadyServer {
    /// `None` if the suite only runs agents.
    pub(super) connection: Option<Arc<ServerConnection>>,
    pub(super) mocks: Arc<RunningMocks>,
    /// The values that the suite's setup saved.
    pub(super) saved: Map<String, Value>,
    /// True if a step ran on this connection before.
    pub(super) is_used: bool,
}

/// Observations of steps about the condition of a server.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Observations {
    /// A step ran.
    pub(super) used: bool,
    /// The last step got no usable answer, so the server may be about to end.
    pub(super) last_unusable: bool,
    /// A step already reported that the server ended.
    pub(super) end_reported: bool,
    /// A step or a test timed out, so the server may hang.
    pub(super) timed_out: bool,
}

impl ServerHandle {
    /// Makes a handle and the receiver of its requests.
    pub(super) fn new() -> (ServerHandle, mpsc::UnboundedReceiver<ServerRequest>) {
        let (requests, receiver) = mpsc::unbounded_channel();
        (ServerHandle(requests), receiver)
    }

    /// Starts the server and runs the suite's setup on it, unless both were done
    /// before.
    ///
    /// # Errors
    /// When the start or the setup fails, or failed earlier.
    pub(super) async fn acquire(&self) -> Result<ReadyServer, FailedTry> {
        self.request(ServerRequest::Acquire).await
    }

    /// Stops the server and starts it again, without the suite's setup.
    ///
    /// # Errors
    /// When it does not start.
    pub(super) async fn restart(&self) -> Result<Arc<ServerConnection>, FailedTry> {
        self.request(ServerRequest::Restart).await
    }

    /// Returns the reason why the server has ended, if no step has reported it. Later calls
    /// return `None`.
    pub(super) async fn take_unreported_end(&self) -> Option<String> {
        self.request(ServerRequest::TakeUnreportedEnd).await
    }

    /// Runs the suite's teardown and stops the server. Returns the failures of the
    /// teardown, and violations that no test reported.
    pub(super) async fn stop(&self) -> LateFindings {
        self.request(ServerRequest::Stop).await
    }

    /// Begins a test. What the server breaks before the test's first request belongs to the
    /// previous test.
    pub(super) fn begin_test(&self) {
        self.send(ServerRequest::BeginTest);
    }

    /// Returns the violations that followed the requests of the previous test and came after
    /// its end. Each begins with `when`.
    pub(super) async fn take_findings_of_previous_test(&self, when: String) -> LateFindings {
        self.request(|reply| ServerRequest::TakeFindingsOfPreviousTest(when, reply)).await
    }

    /// Resets the suite's mocks, unless tests run at once.
    pub(super) fn reset_mocks(&self) {
        self.send(ServerRequest::ResetMocks);
    }

    /// Sends the observations of steps about a connection.
    pub(super) fn observe(&self, connection: &Arc<ServerConnection>, seen: Observations) {
        self.send(ServerRequest::Observe(Arc::clone(connection), seen));
    }

    async fn request<T>(&self, request: impl FnOnce(oneshot::Sender<T>) -> ServerRequest) -> T {
        let (reply, answer) = oneshot::channel();
        self.send(request(reply));
        answer.await.expect("the server's task answers every request")
    }

    fn send(&self, request: ServerRequest) {
        let sent = self.0.send(request);
        sent.unwrap_or_else(|_| unreachable!("the server's task outlives its tests"));
    }
}

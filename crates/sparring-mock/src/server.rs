//! A scripted server on memory links and other links. `http_serving` serves it over HTTP.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sparring_peer::server::ServerTask;
use sparring_peer::task;
use sparring_peer::{Cause, Link, LinkKind, MemoryLink, Server, memory};
use sparring_wire::RawJson;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::builder::{MockBuilder, Reply, ToolMock};
use crate::journal::{Expectation, ReceivedRequest};
use crate::model::{Model, ProcessFault};
use crate::scheduler::{self, Action};
use crate::serve::{ChangeError, ChangeSource, MockHandler};

/// The maximum number of process faults in the queue.
const MAX_PROCESS_FAULTS: usize = 16;

/// A scripted server. Dropping it stops its background tasks.
#[derive(Debug)]
pub struct MockServer {
    server: Server<MockHandler>,
    restart_only: [(&'static str, u64); 3],
    /// Actions for the scheduler, until it starts.
    scheduled: Mutex<Option<mpsc::UnboundedReceiver<Vec<Action>>>>,
    scheduler: OnceLock<JoinHandle<()>>,
    /// Faults of the process that the script requests.
    process_faults: Mutex<Option<mpsc::Receiver<ProcessFault>>>,
    /// Sessions on memory links.
    sessions: Mutex<Vec<ServerTask>>,
}

impl MockServer {
    /// Builds a mock in Rust.
    pub fn builder() -> MockBuilder {
        MockBuilder::default()
    }

    pub(crate) fn from_model(model: Model) -> Self {
        let (revisions, restart_only) = (model.revisions.clone(), model.restart_only);
        let (sender, scheduled) = mpsc::unbounded_channel();
        let (process, faults) = mpsc::channel(MAX_PROCESS_FAULTS);
        let server = Server::with_revisions(MockHandler::new(model, sender, process), &revisions);
        server.handler().set_server(server.downgrade());
        MockServer {
            server,
            restart_only,
            scheduled: Mutex::new(Some(scheduled)),
            scheduler: OnceLock::new(),
            process_faults: Mutex::new(Some(faults)),
            sessions: Mutex::default(),
        }
    }

    /// Returns the process faults that the script requests, for the owner of the process. Only
    /// the first call returns them.
    pub fn process_faults(&self) -> Option<mpsc::Receiver<ProcessFault>> {
        self.process_faults.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Switches to the script of another mock, which was not served itself. Requests in flight
    /// finish with their script, and clients are notified of changed lists. The journal,
    /// registered tools and enqueued replies stay; counters and visibility of the script start
    /// again.
    ///
    /// Returns the changed keys that take effect only on a restart: `protocol`, `paths` or
    /// `auth`.
    pub fn reload(&self, script: MockServer) -> Vec<&'static str> {
        let model = Arc::clone(&script.server.handler().script().model);
        let digests = model.restart_only.into_iter().zip(self.restart_only);
        let changed = digests.filter(|(new, old)| new != old).map(|((key, _), _)| key).collect();
        self.server.handler().reload(model);
        changed
    }

    /// Adds a tool while it serves, or replaces the one with its name, and notifies clients.
    ///
    /// # Errors
    /// If the tool has problems.
    pub fn register(&self, tool: ToolMock) -> Result<(), ChangeError> {
        self.server.handler().register(&tool.into(), ChangeSource::Owner)
    }

    /// Removes a tool while it serves, and notifies clients.
    ///
    /// # Errors
    /// If there is no such tool.
    pub fn remove(&self, tool: &str) -> Result<(), ChangeError> {
        self.server.handler().remove(tool)
    }

    /// Enqueues a reply for the next call of a tool, before all others.
    ///
    /// # Errors
    /// If there is no such tool, or the reply has problems.
    pub fn enqueue(&self, tool: &str, reply: Reply) -> Result<(), ChangeError> {
        self.server.handler().enqueue(tool, &reply.into(), ChangeSource::Owner)
    }

    /// Sends a notification to all subscribed clients.
    pub fn notify(&self, method: &str, params: Option<RawJson>) {
        self.server.notify(method, params);
    }

    /// Restores the initial state and clears the journal.
    pub fn reset(&self) {
        self.server.handler().reset();
    }

    /// Returns the recorded requests: the last ten thousand, or sixteen megabytes of them.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.server.handler().journal.all()
    }

    /// Returns the number of requests, including dropped ones.
    pub fn total(&self) -> u64 {
        self.server.handler().journal.total()
    }

    /// Returns the requests for one tool or prompt name, or for one URI.
    pub fn received_for(&self, name: &str) -> Vec<ReceivedRequest> {
        let mut received = self.received();
        received.retain(|it| it.name().as_deref() == Some(name));
        received
    }

    /// Returns the number of dropped requests.
    pub fn dropped_requests(&self) -> u64 {
        self.server.handler().journal.dropped()
    }

    /// Expects that a tool was called; see [`Expectation`].
    pub fn expect_called(&self, tool: &str) -> Expectation {
        Expectation::new(tool, self.received())
    }

    /// Calls `observer` for every request from now on, when it is answered. Only the first
    /// observer is used.
    pub fn on_received(&self, observer: impl Fn(&ReceivedRequest) + Send + Sync + 'static) {
        self.server.handler().journal.set_observer(Box::new(observer));
    }

    /// Summarizes the mock in one line.
    pub fn summary(&self) -> String {
        let script = self.server.handler().script();
        let model = &script.model;
        let lists = [
            (model.tools.len(), "tool"),
            (model.resources.len(), "resource"),
            (model.templates.len(), "template"),
            (model.prompts.len(), "prompt"),
        ];
        let counted = lists
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}{}", if count == 1 { "" } else { "s" }));
        let counted: Vec<String> = counted.collect();
        let has = if counted.is_empty() { "nothing".to_owned() } else { counted.join(", ") };
        format!("{} {} with {has}", model.info.name, model.info.version)
    }

    /// Returns the protocol server.
    pub fn server(&self) -> &Server<MockHandler> {
        &self.server
    }

    /// Returns the client end of a new memory link.
    ///
    /// # Panics
    /// If called outside of a tokio runtime.
    pub fn connect(&self) -> MemoryLink {
        let (here, there) = memory(LinkKind::Shared);
        let running = self.spawn(there);
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(ServerTask::is_running);
        sessions.push(running);
        here
    }

    /// Serves a link in the background, until the end of input or until it is stopped.
    ///
    /// # Panics
    /// If called outside of a tokio runtime.
    pub fn spawn(&self, link: impl Link) -> ServerTask {
        self.start_scheduler();
        self.server.spawn(link)
    }

    /// Serves a link in the foreground, until the end of input.
    pub async fn serve(&self, link: impl Link) -> Cause {
        self.start_scheduler();
        self.server.serve(link).await
    }

    /// Starts the scheduler, if it does not run yet.
    pub(crate) fn start_scheduler(&self) {
        self.scheduler.get_or_init(|| {
            let mut scheduled = self.scheduled.lock().unwrap_or_else(PoisonError::into_inner);
            let scheduled = scheduled.take().expect("the scheduler starts once");
            task::spawn(scheduler::run(self.server.downgrade(), scheduled))
        });
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        if let Some(scheduler) = self.scheduler.get() {
            scheduler.abort();
        }
    }
}

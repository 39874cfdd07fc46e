//! A mock as a server: read from a script, on memory links and on any other link.
//! Over HTTP it is served in `over_http`.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sparring_peer::server::Running;
use sparring_peer::task;
use sparring_peer::{Cause, Link, LinkKind, MemoryLink, Server, memory};
use sparring_wire::RawJson;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::builder::{MockBuilder, Reply, ToolMock};
use crate::journal::{Expectation, Received};
use crate::model::{Model, ProcessFault};
use crate::serve::{ChangeError, Giver, Mock};
use crate::stage::{self, Happening};

/// How many things may wait to be done to the process.
const PROCESS_FAULTS: usize = 16;

/// A scripted server. Dropped, it stops what it serves in the background.
#[derive(Debug)]
pub struct MockServer {
    server: Server<Mock>,
    fixed: [(&'static str, u64); 3],
    /// What waits for the stage until it runs.
    happenings: Mutex<Option<mpsc::UnboundedReceiver<Vec<Happening>>>>,
    stage: OnceLock<JoinHandle<()>>,
    /// What the script wants to be done to the process.
    process: Mutex<Option<mpsc::Receiver<ProcessFault>>>,
    /// The sessions on memory links.
    sessions: Mutex<Vec<Running>>,
}

impl MockServer {
    /// A mock written in Rust.
    pub fn builder() -> MockBuilder {
        MockBuilder::default()
    }

    pub(crate) fn of(model: Model) -> Self {
        let (revisions, fixed) = (model.revisions.clone(), model.fixed);
        let (later, happenings) = mpsc::unbounded_channel();
        let (process, faults) = mpsc::channel(PROCESS_FAULTS);
        let server = Server::speaking(Mock::new(model, later, process), &revisions);
        server.handler().belongs_to(server.downgrade());
        MockServer {
            server,
            fixed,
            happenings: Mutex::new(Some(happenings)),
            stage: OnceLock::new(),
            process: Mutex::new(Some(faults)),
            sessions: Mutex::default(),
        }
    }

    /// What the script wants to be done to the process that serves it: for
    /// whoever owns that, and only once.
    pub fn process_faults(&self) -> Option<mpsc::Receiver<ProcessFault>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Serves the script of another mock from now on, which was not served
    /// itself. Requests in flight are answered by the script they came to, and
    /// clients are told of lists that are others now. The journal, tools that
    /// were registered and replies that were enqueued stay; all that a script
    /// counts, shows or hides begins anew.
    ///
    /// Gives the keys whose change takes effect only when a mock starts: of
    /// `protocol`, `paths` and `auth`.
    pub fn reload(&self, script: MockServer) -> Vec<&'static str> {
        let model = Arc::clone(&script.server.handler().scene().model);
        let fixed = model.fixed.into_iter().zip(self.fixed);
        let changed = fixed.filter(|(new, old)| new != old).map(|((key, _), _)| key).collect();
        self.server.handler().reload(model);
        changed
    }

    /// Adds a tool while it serves, or puts it in the place of one that has its
    /// name; clients are told that the list has changed.
    ///
    /// # Errors
    /// When something of it is wrong.
    pub fn register(&self, tool: ToolMock) -> Result<(), ChangeError> {
        self.server.handler().register(&tool.into(), Giver::Owner)
    }

    /// Takes a tool away while it serves; clients are told.
    ///
    /// # Errors
    /// When there is no such tool.
    pub fn remove(&self, tool: &str) -> Result<(), ChangeError> {
        self.server.handler().remove(tool)
    }

    /// Gives a tool a reply for its next call, before all others.
    ///
    /// # Errors
    /// When there is no such tool, or something of the reply is wrong.
    pub fn enqueue(&self, tool: &str, reply: Reply) -> Result<(), ChangeError> {
        self.server.handler().enqueue(tool, &reply.into(), Giver::Owner)
    }

    /// Tells all clients that want to know.
    pub fn notify(&self, method: &str, params: Option<RawJson>) {
        self.server.notify(method, params);
    }

    /// Makes everything as it was at first, and forgets what came in.
    pub fn reset(&self) {
        self.server.handler().reset();
    }

    /// Every request that came in and was served, as far as it is kept: the
    /// last ten thousand, or sixteen megabytes of them.
    pub fn received(&self) -> Vec<Received> {
        self.server.handler().journal.all()
    }

    /// How many requests came in, kept or not.
    pub fn total(&self) -> u64 {
        self.server.handler().journal.total()
    }

    /// Those that asked for one tool or prompt by its name, or for a URI.
    pub fn received_for(&self, name: &str) -> Vec<Received> {
        let mut received = self.received();
        received.retain(|it| it.name().as_deref() == Some(name));
        received
    }

    /// How many requests are not kept any more.
    pub fn forgotten(&self) -> u64 {
        self.server.handler().journal.dropped()
    }

    /// Expects a tool to have been called; see [`Expectation`].
    pub fn expect_called(&self, tool: &str) -> Expectation {
        Expectation::new(tool, self.received())
    }

    /// Tells somebody of every request from now on, as it is answered; only the
    /// first who wants to know.
    pub fn on_received(&self, tell: impl Fn(&Received) + Send + Sync + 'static) {
        self.server.handler().journal.tell(Box::new(tell));
    }

    /// What it is and has, in one line.
    pub fn summary(&self) -> String {
        let scene = self.server.handler().scene();
        let model = &scene.model;
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

    /// The server behind it.
    pub fn server(&self) -> &Server<Mock> {
        &self.server
    }

    /// Connects a client in this process: gives its end of a memory link.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn connect(&self) -> MemoryLink {
        let (here, there) = memory(LinkKind::Shared);
        let running = self.spawn(there);
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(Running::is_running);
        sessions.push(running);
        here
    }

    /// Serves a link in the background, until the end of input or until it is
    /// stopped.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn spawn(&self, link: impl Link) -> Running {
        self.start();
        self.server.spawn(link)
    }

    /// Serves a link in the foreground, until the end of input.
    pub async fn serve(&self, link: impl Link) -> Cause {
        self.start();
        self.server.serve(link).await
    }

    /// Lets happen what happens by itself; the first to serve begins it.
    pub(crate) fn start(&self) {
        self.stage.get_or_init(|| {
            let mut waiting = self.happenings.lock().unwrap_or_else(PoisonError::into_inner);
            let happenings = waiting.take().expect("the stage begins once");
            task::spawn(stage::run(self.server.downgrade(), happenings))
        });
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        if let Some(stage) = self.stage.get() {
            stage.abort();
        }
    }
}

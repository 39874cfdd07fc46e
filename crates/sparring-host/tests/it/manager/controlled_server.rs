//! A server in this process that a test controls: it waits at a gate, fails, or
//! disappears.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sparring_peer::server::{Context, Handler, HandlerResult, Page, ServerTask};
use sparring_peer::{LinkKind, Server, memory};
use sparring_wire::types::{CallToolResult, ServerCapabilities, Tool};
use sparring_wire::{ErrorObject, Json, RawJson, Revision};
use tokio::sync::{Notify, watch};

use super::fixture::TestConnector;

/// The test's handle of the server. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ControlledServer {
    pub(crate) server: Server<ControlledHandler>,
    running: Arc<Mutex<Vec<ServerTask>>>,
    opened: Arc<AtomicUsize>,
    /// True if connecting fails.
    absent: Arc<AtomicBool>,
}

/// The behaviour of the server. The name of its only tool contains the number
/// of list requests.
pub(crate) struct ControlledHandler {
    pub(crate) listed: watch::Sender<usize>,
    pub(crate) called: watch::Sender<usize>,
    /// Lists are answered only while it is open.
    pub(crate) gate: watch::Sender<bool>,
    pub(crate) failing: AtomicBool,
    pub(crate) endless: AtomicBool,
    /// True if the list has two malformed tools before the valid one.
    pub(crate) malformed: AtomicBool,
    /// Calls of the tool `wait` are answered after this.
    pub(crate) answer: Notify,
}

impl Handler for ControlledHandler {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        self.listed.send_modify(|listed| *listed += 1);
        let number = *self.listed.borrow();
        let _ = self.gate.subscribe().wait_for(|open| *open).await;
        if self.failing.load(Ordering::Relaxed) {
            return Err(ErrorObject::internal("the list is lost".to_owned()).into());
        }
        if self.malformed.load(Ordering::Relaxed) {
            let good = format!(r#"{{"name":"{number}","inputSchema":{{"type":"object"}}}}"#);
            let tools = format!(r#"{{"tools":[{{"name":"a","name":"b"}},["c"],{good}]}}"#);
            return Ok(RawJson::parse(&tools).unwrap().into());
        }
        let next_cursor = self.endless.load(Ordering::Relaxed).then(|| "again".to_owned());
        Ok(Page { items: vec![Tool::new(number.to_string())], next_cursor }.into())
    }

    async fn call_tool(&self, _: &str, _: Json<'_>, _: &Context) -> HandlerResult {
        self.called.send_modify(|called| *called += 1);
        self.answer.notified().await;
        Ok(CallToolResult::text("answered").into())
    }
}

impl ControlledServer {
    /// A server of this name with these revisions.
    pub(crate) fn new(
        connector: &TestConnector,
        name: &str,
        revisions: &[Revision],
    ) -> ControlledServer {
        let handler = ControlledHandler {
            listed: watch::channel(0).0,
            called: watch::channel(0).0,
            gate: watch::channel(true).0,
            failing: AtomicBool::new(false),
            endless: AtomicBool::new(false),
            malformed: AtomicBool::new(false),
            answer: Notify::new(),
        };
        let server = Server::with_revisions(handler, revisions);
        let (running, opened, absent) = Default::default();
        let controlled = ControlledServer { server, running, opened, absent };
        let opened_server = controlled.clone();
        connector.put(name, move || {
            opened_server.opened.fetch_add(1, Ordering::Relaxed);
            let (here, there) = memory(LinkKind::Shared);
            if !opened_server.absent.load(Ordering::Relaxed) {
                let running = opened_server.server.spawn(there);
                opened_server.running.lock().unwrap().push(running);
            }
            here
        });
        controlled
    }

    pub(crate) fn handler(&self) -> &ControlledHandler {
        self.server.handler()
    }

    /// Closes every connection without a message.
    pub(crate) fn drop_connections(&self) {
        self.running.lock().unwrap().clear();
    }

    /// Makes connecting succeed or fail.
    pub(crate) fn set_available(&self, available: bool) {
        self.absent.store(!available, Ordering::Relaxed);
    }

    /// The number of connections so far.
    pub(crate) fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }
}

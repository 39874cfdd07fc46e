//! The server: serves a handler on any number of links, or without a link.

mod change_queue;
mod context;
pub mod core;
mod dispatch;
mod handler;
mod incoming_queue;
mod log_levels;
mod message_queue;
mod request_observer;
mod server_task;
mod session;
mod shared;
mod single_request;
mod subscribed_uris;

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use serde_json::json;
use sparring_wire::types::LogLevel;
use sparring_wire::{Frame, RawJson, Revision};
use tokio::sync::watch;

use self::core::{CurrentLists, Profile, ServerDescription};
use crate::client::ListKind;
use crate::link::{Cause, Envelope, Link};
use change_queue::{ChangeNotification, SessionList};
use session::Connection;
use shared::{CurrentDescription, Shared};

pub use context::Context;
pub use core::ClientDescription;
pub use handler::{Handler, HandlerError, HandlerResult, InputRequired, ListItem, Page, Reply};
pub use server_task::ServerTask;
pub use session::{Session, client_stopped_reading};
pub use shared::Counts;
pub use single_request::{AnySingleRequest, SingleRequest};

/// A server with a handler. Cheap to clone; all clones are the same server.
#[derive(Debug)]
pub struct Server<H> {
    shared: Arc<Shared>,
    handler: PhantomData<Arc<H>>,
}

/// The session has no link, and the operation needs one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the session has no link")]
pub struct NoLink;

impl<H: Handler> Server<H> {
    /// Creates a server with all revisions.
    pub fn new(handler: H) -> Self {
        Server::with_revisions(handler, &Revision::ALL)
    }

    /// Creates a server with these revisions.
    pub fn with_revisions(handler: H, revisions: &[Revision]) -> Self {
        let description = ServerDescription::new(build_profile(&handler, revisions));
        let shared = Shared {
            handler: Arc::new(handler),
            revisions: revisions.to_vec(),
            description: CurrentDescription::new(description),
            counters: Arc::default(),
            sessions: SessionList::default(),
            subscribed_uris: Arc::default(),
            log_levels: Arc::default(),
            unread_bytes: Arc::default(),
            write_timeout: OnceLock::new(),
            observer: Arc::default(),
            mask: None,
        };
        Server { shared: Arc::new(shared), handler: PhantomData }
    }

    /// Masks parts of all frames that this server sends, for example secrets. Returns the
    /// server.
    ///
    /// # Panics
    /// If the server is in use already.
    #[must_use]
    pub fn mask_output(
        mut self,
        mask: impl Fn(&[u8]) -> Cow<'_, [u8]> + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::get_mut(&mut self.shared).expect("the server is not in use yet");
        shared.mask = Some(Box::new(mask));
        self
    }

    /// Calls `observer` for every request from now on, also for those that the server answers
    /// without its handler. The returned closure gets the response; it is dropped if there is
    /// none, for example after a cancellation. Both must be fast. Only the first observer is
    /// used.
    pub fn on_request<R>(&self, observer: impl Fn(&Frame) -> R + Send + Sync + 'static)
    where
        R: FnOnce(&Frame) + Send + 'static,
    {
        self.shared.observer.set(observer);
    }

    /// Sets how long a client may read nothing before its session ends, while more bytes wait for
    /// it than a session keeps (default: 5 seconds). Only the first call has an effect.
    pub fn set_write_timeout(&self, timeout: Duration) {
        let _ = self.shared.write_timeout.set(timeout);
    }

    /// Returns the time that [`set_write_timeout`](Self::set_write_timeout) has set.
    pub fn write_timeout(&self) -> Option<Duration> {
        self.shared.write_timeout.get().copied()
    }

    /// Returns the handler.
    pub fn handler(&self) -> &H {
        let handler: &dyn Any = &*self.shared.handler;
        handler.downcast_ref().expect("a server has the handler that it was made with")
    }

    /// Returns the server's revisions.
    pub fn revisions(&self) -> &[Revision] {
        &self.shared.revisions
    }

    /// Reads info, capabilities and instructions from the handler again. Open
    /// sessions use them from their next request on. What a handshake has agreed
    /// on does not change.
    pub fn refresh_description(&self) {
        let profile = build_profile(self.handler(), self.revisions());
        self.shared.description.set(ServerDescription::new(profile));
    }

    /// Returns the counts of requests and responses on all links.
    pub fn counts(&self) -> Counts {
        self.shared.counters.snapshot()
    }

    /// Creates a session without a link. The caller passes requests to it, or
    /// sets a link later.
    pub fn session(&self) -> Session<H> {
        Session::new(Arc::clone(&self.shared), None)
    }

    /// Creates a session on a link.
    pub fn session_on(&self, link: impl Link) -> Session<H> {
        Session::new(Arc::clone(&self.shared), Some(Box::new(link)))
    }

    /// Serves one request without a session, for requests that carry their own
    /// metadata (since 2026-07-28).
    pub fn serve_request(&self, frame: Frame, envelope: Option<Envelope>) -> SingleRequest<H> {
        SingleRequest::new(AnySingleRequest::new(&self.shared, frame, envelope))
    }

    /// Serves a link until the end of input.
    ///
    /// The session runs on its own task, which ends with this future, because
    /// tokio wakes a task faster than the future that a program blocks on.
    pub async fn serve(&self, link: impl Link) -> Cause {
        self.spawn(link).wait().await
    }

    /// Serves a link in the background, until the end of input or until it is
    /// stopped.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn spawn(&self, link: impl Link) -> ServerTask {
        self.session_on(link).spawn()
    }

    /// Notifies clients that the list of tools has changed, if the server has
    /// declared tools to them.
    pub fn tools_changed(&self) {
        self.broadcast("tools", "notifications/tools/list_changed", None);
    }

    /// Notifies clients that the list of resources has changed, if the server has
    /// declared resources to them.
    pub fn resources_changed(&self) {
        self.broadcast("resources", "notifications/resources/list_changed", None);
    }

    /// Notifies clients that the list of prompts has changed, if the server has
    /// declared prompts to them.
    pub fn prompts_changed(&self) {
        self.broadcast("prompts", "notifications/prompts/list_changed", None);
    }

    /// Announces the current lists, each as the whole result of its method.
    /// Clients with a handshake are notified of a list that differs from the one
    /// that they have read last. Clients with a subscription are notified in any
    /// case, if `to_subscriptions` is set.
    pub fn announce_lists(&self, lists: &[(ListKind, Reply)], to_subscriptions: bool) {
        for (capability, method) in [
            ("tools", "notifications/tools/list_changed"),
            ("resources", "notifications/resources/list_changed"),
            ("prompts", "notifications/prompts/list_changed"),
        ] {
            let of_capability = lists.iter().filter(|(what, _)| what.capability() == capability);
            let mut results = of_capability.map(|(what, reply)| (*what, reply.json())).peekable();
            if results.peek().is_none() {
                continue;
            }
            let lists = Some(Arc::new(CurrentLists::new(results, to_subscriptions)));
            let (frame, capability) = (Frame::notification(method, None), Some(capability));
            self.shared.sessions.broadcast(ChangeNotification { frame, capability, lists });
        }
    }

    /// Notifies the clients that subscribe to a resource that it has changed.
    pub fn resource_updated(&self, uri: &str) {
        let params = json!({"uri": uri}).into();
        self.broadcast("resources", "notifications/resources/updated", Some(params));
    }

    /// Returns the resources that any client subscribes to, and their changes.
    pub fn subscribed_resources(&self) -> watch::Receiver<Arc<BTreeSet<String>>> {
        self.shared.subscribed_uris.subscribe()
    }

    /// Returns the lowest level of log messages that any session has set, and its
    /// changes; none while no session has set one.
    pub fn log_level(&self) -> watch::Receiver<Option<LogLevel>> {
        self.shared.log_levels.subscribe_lowest()
    }

    /// Sends a log message to all sessions that want messages of that level.
    /// Since 2026-07-28 log messages exist only within a request
    /// ([`Context::log`]).
    pub fn log(&self, logger: Option<&str>, level: LogLevel, data: &RawJson) {
        let params = context::log_params(logger, level, data);
        self.broadcast("logging", "notifications/message", Some(params));
    }

    /// Sends a notification to all clients that want changes, even if the server
    /// declares no such capability. Since 2026-07-28 clients can subscribe only
    /// to the four changes above.
    pub fn notify(&self, method: &str, params: Option<RawJson>) {
        let frame = Frame::notification(method, params.as_ref());
        let (capability, lists) = (None, None);
        self.shared.sessions.broadcast(ChangeNotification { frame, capability, lists });
    }

    fn broadcast(&self, capability: &'static str, method: &str, params: Option<RawJson>) {
        let frame = Frame::notification(method, params.as_ref());
        let (capability, lists) = (Some(capability), None);
        self.shared.sessions.broadcast(ChangeNotification { frame, capability, lists });
    }
}

impl<H> Server<H> {
    /// Returns a reference that does not keep the server alive, such as for its
    /// own handler.
    pub fn downgrade(&self) -> WeakServer<H> {
        WeakServer { shared: Arc::downgrade(&self.shared), handler: PhantomData }
    }
}

/// A reference that does not keep the server alive.
#[derive(Debug)]
pub struct WeakServer<H> {
    shared: Weak<Shared>,
    handler: PhantomData<Arc<H>>,
}

impl<H> WeakServer<H> {
    /// Returns the server, if it is still alive.
    pub fn upgrade(&self) -> Option<Server<H>> {
        self.shared.upgrade().map(|shared| Server { shared, handler: PhantomData })
    }
}

impl<H> Clone for WeakServer<H> {
    fn clone(&self) -> Self {
        WeakServer { shared: Weak::clone(&self.shared), handler: PhantomData }
    }
}

impl<H> Clone for Server<H> {
    fn clone(&self) -> Self {
        Server { shared: Arc::clone(&self.shared), handler: PhantomData }
    }
}

/// A server without the type of its handler, for code that is compiled only once
/// for all handlers. Cheap to clone; all clones are the same server.
#[derive(Debug, Clone)]
pub struct AnyServer(Arc<Shared>);

impl AnyServer {
    /// Erases the type of a server's handler.
    pub fn from_server<H: Handler>(server: &Server<H>) -> Self {
        AnyServer(Arc::clone(&server.shared))
    }

    /// See [`Server::revisions`].
    pub fn revisions(&self) -> &[Revision] {
        &self.0.revisions
    }

    /// See [`Server::serve_request`].
    pub fn serve_request(&self, frame: Frame, envelope: Option<Envelope>) -> AnySingleRequest {
        AnySingleRequest::new(&self.0, frame, envelope)
    }

    /// Serves a link in the background, with the server's legacy revisions only.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn spawn_legacy_only(&self, link: Box<dyn Link>) -> ServerTask {
        let mut connection = Connection::new(Arc::clone(&self.0), Some(link));
        connection.legacy_only();
        ServerTask::spawn(connection)
    }
}

fn build_profile<H: Handler>(handler: &H, revisions: &[Revision]) -> Profile {
    Profile {
        info: handler.info(),
        capabilities: handler.capabilities(),
        instructions: handler.instructions(),
        revisions: revisions.to_vec(),
    }
}

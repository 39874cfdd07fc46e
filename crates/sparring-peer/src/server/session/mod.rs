//! A server's end of one connection: runs the core and the handlers, in a loop or
//! one message at a time. Only [`Session`] knows the type of the handler.

mod batch_queue;
mod handle;
mod handler_runner;
mod pending_handlers;
mod serve_loop;
mod single_message;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Context as TaskContext;
use std::time::Duration;

use sparring_wire::{ErrorObject, RawJson, Side, Transcript};
use tokio::sync::oneshot;

use self::batch_queue::BatchQueue;
use self::pending_handlers::PendingHandlers;
use super::Shared;
use super::change_queue::ChangeQueue;
use super::context::Origin;
use super::core::Core;
use super::incoming_queue::IncomingQueue;
use super::log_levels::SessionLogLevel;
use super::message_queue::MessageQueue;
use super::subscribed_uris::SessionUris;
use crate::link::{Cause, Incoming, Link, LinkInfo, LinkKind, Outgoing, Recorder};
use crate::timer::Timer;

pub use self::handle::Session;
pub use self::serve_loop::client_stopped_reading;

/// The number of loop iterations of one poll before other tasks get their turn.
const MAX_ITERATIONS_PER_POLL: usize = 16;

/// The number of requests of batches that start before other tasks get their turn.
const MAX_BATCH_STARTS_PER_POLL: usize = 8;

/// The timeout of a request to the client.
const CLIENT_RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

type ClientResult = Result<RawJson, ErrorObject>;

/// A server's end of one connection.
pub(in crate::server) struct Connection {
    shared: Arc<Shared>,
    core: Core<oneshot::Sender<ClientResult>>,
    origin: Origin,
    /// The version of the server's description that the core has.
    description_version: u64,
    link: Option<Box<dyn Link>>,
    incoming: IncomingQueue,
    /// Handlers that did not answer at once.
    handlers: PendingHandlers,
    batches: BatchQueue,
    messages: MessageQueue,
    /// Notifications for all sessions, once this client may want them.
    changes: Option<Arc<ChangeQueue>>,
    /// The resources that the client subscribes to, once there are any.
    session_uris: Option<SessionUris>,
    /// The level of log messages that the client has set, once it has.
    session_log_level: Option<SessionLogLevel>,
    timer: Timer,
    close_cause: Option<Cause>,
    /// True if the link had more to write after the last flush.
    flush_pending: bool,
    /// True if notifications wait until the link has room.
    notifications_delayed: bool,
    unread_bytes: UnreadBytes,
    /// Set while the link's backlog is full: the deadline, and the size that the
    /// backlog would have if nothing had been written since.
    full_backlog: Option<(Duration, usize)>,
    /// The deadline for requests in flight after the end of input.
    drain_deadline: Option<Duration>,
    ask_timeout: Duration,
}

impl Connection {
    pub(in crate::server) fn new(shared: Arc<Shared>, link: Option<Box<dyn Link>>) -> Self {
        let no_link = LinkInfo::new(LinkKind::Shared, "memory");
        let info = link.as_ref().map_or(no_link, |link| link.info());
        let origin =
            Origin { transport: info.transport_name, session: Some(shared.sessions.next_number()) };
        Connection { link, origin, ..Connection::without_link(shared, info.kind) }
    }

    pub(in crate::server) fn without_link(shared: Arc<Shared>, kind: LinkKind) -> Self {
        let (description, description_version) = shared.description.current();
        let core = Core::with_counters(description, Arc::clone(&shared.counters), kind)
            .with_observer(Arc::clone(&shared.observer));
        let unread_bytes = UnreadBytes { all: Arc::clone(&shared.unread_bytes), own: 0 };
        Connection {
            shared,
            core,
            origin: Origin { transport: "memory", session: None },
            description_version,
            link: None,
            incoming: IncomingQueue::default(),
            handlers: PendingHandlers::default(),
            batches: BatchQueue::default(),
            messages: MessageQueue::default(),
            changes: None,
            session_uris: None,
            session_log_level: None,
            timer: Timer::start(),
            close_cause: None,
            flush_pending: false,
            notifications_delayed: false,
            unread_bytes,
            full_backlog: None,
            drain_deadline: None,
            ask_timeout: CLIENT_RESPONSE_TIMEOUT,
        }
    }

    fn set_link(&mut self, link: Box<dyn Link>) {
        let ask_timeout = self.ask_timeout;
        *self = Connection::new(Arc::clone(&self.shared), Some(link));
        self.ask_timeout = ask_timeout;
    }

    pub(in crate::server) fn legacy_only(&mut self) {
        self.core.retain_revisions(|revision| !revision.is_modern());
    }

    fn record_in(&mut self, transcript: &Transcript) {
        if let Some(link) = &mut self.link {
            link.set_recorder(Recorder::new(transcript, Side::Server));
        }
    }

    /// Sets the name of the transport, for a request without a link.
    pub(in crate::server) fn set_transport_name(&mut self, transport: &'static str) {
        self.origin.transport = transport;
    }

    /// Passes a changed description of the server to the core.
    fn refresh_description(&mut self) {
        if self.shared.description.is_newer_than(self.description_version) {
            let (description, version) = self.shared.description.current();
            self.core.update_description(description);
            self.description_version = version;
        }
    }

    /// Handles an event as if it came from a link.
    pub(in crate::server) fn receive(&mut self, incoming: Incoming) {
        self.core.receive(incoming);
    }

    /// Runs handlers. Returns true if anything happened.
    pub(in crate::server) fn run_handlers(&mut self, cx: &mut TaskContext<'_>) -> bool {
        self.timer.refresh();
        self.make_progress(cx)
    }

    pub(in crate::server) fn poll_action(&mut self) -> Option<Outgoing> {
        self.core.poll_action().map(|action| self.shared.mask_output(action))
    }

    pub(in crate::server) fn has_nothing_in_flight(&self) -> bool {
        self.core.has_nothing_in_flight()
    }

    pub(in crate::server) fn has_admitted(&self) -> bool {
        self.core.admitted_count() > 0
    }

    pub(in crate::server) fn end_subscriptions(&mut self) {
        self.core.end_subscriptions();
    }
}

/// One client's part of the bytes that wait for the clients of all sessions.
struct UnreadBytes {
    all: Arc<AtomicUsize>,
    own: usize,
}

impl UnreadBytes {
    /// Sets this client's part, and returns the sum.
    fn set(&mut self, own: usize) -> usize {
        let before = std::mem::replace(&mut self.own, own);
        match own.checked_sub(before) {
            Some(more) => self.all.fetch_add(more, Ordering::Relaxed) + more,
            None => self.all.fetch_sub(before - own, Ordering::Relaxed) - (before - own),
        }
    }
}

impl Drop for UnreadBytes {
    fn drop(&mut self) {
        self.set(0);
    }
}

//! The server: a handler behind the protocol, on as many links as there are
//! clients, or on none at all.

mod alone;
mod any;
mod context;
pub mod core;
mod counters;
mod dispatch;
mod handler;
mod intake;
mod interest;
mod levels;
mod running;
mod session;

use std::any::Any;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use serde_json::json;
use sparring_wire::types::LogLevel;
use sparring_wire::{Frame, RawJson, Revision};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};

use self::core::{About, Profile};
use crate::link::{Cause, Envelope, Link};
use counters::Counters;
use dispatch::AnyHandler;
use interest::Interests;
use levels::Levels;
use session::Change;

pub use alone::{Alone, Lone};
pub use any::AnyServer;
pub use context::Context;
pub use counters::Counts;
pub use handler::{Answer, Failure, Handler, InputRequired, Listed, Page, Reply};
pub use running::Running;
pub use session::Session;

/// A handler as a server. Cheap to clone; all clones are one server.
#[derive(Debug)]
pub struct Server<H> {
    shared: Arc<Shared>,
    handler: PhantomData<Arc<H>>,
}

/// What all sessions of a server share. They know the handler without its type:
/// otherwise each crate that has a server would build all of this anew.
struct Shared {
    handler: Arc<dyn AnyHandler>,
    revisions: Vec<Revision>,
    about: Renewed,
    counters: Arc<Counters>,
    sessions: Sessions,
    interests: Arc<Interests>,
    levels: Arc<Levels>,
}

/// Asked to work on a link, and there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the session has no link")]
pub struct NoLink;

impl<H: Handler> Server<H> {
    /// A server that speaks all revisions.
    pub fn new(handler: H) -> Self {
        Server::speaking(handler, &Revision::ALL)
    }

    /// A server that speaks these revisions.
    pub fn speaking(handler: H, revisions: &[Revision]) -> Self {
        let about = About::new(profile(&handler, revisions));
        let shared = Shared {
            handler: Arc::new(handler),
            revisions: revisions.to_vec(),
            about: Renewed { about: RwLock::new((about, 0)), renewal: AtomicU64::new(0) },
            counters: Arc::default(),
            sessions: Sessions::default(),
            interests: Arc::default(),
            levels: Arc::default(),
        };
        Server { shared: Arc::new(shared), handler: PhantomData }
    }

    /// The handler.
    pub fn handler(&self) -> &H {
        let handler: &dyn Any = &*self.shared.handler;
        handler.downcast_ref().expect("a server has the handler that it was made with")
    }

    /// The revisions that the server speaks.
    pub fn revisions(&self) -> &[Revision] {
        &self.shared.revisions
    }

    /// Asks the handler anew what it says about itself: who it is, what it can
    /// do, how it is used. Sessions that stand know it from their next request
    /// on, and what was agreed on in a handshake stays as it was said.
    pub fn renew(&self) {
        self.shared.about.set(About::new(profile(self.handler(), self.revisions())));
    }

    /// What the server has done so far, on all links.
    pub fn counts(&self) -> Counts {
        self.shared.counters.now()
    }

    /// A session that has no link yet: requests are given to it by hand, or a
    /// link later.
    pub fn session(&self) -> Session<H> {
        Session::new(Arc::clone(&self.shared), None)
    }

    /// A session on a link.
    pub fn on(&self, link: impl Link) -> Session<H> {
        Session::new(Arc::clone(&self.shared), Some(Box::new(link)))
    }

    /// Serves one request alone, as those are that say everything themselves
    /// (since 2026-07-28).
    pub fn answer(&self, frame: Frame, envelope: Option<Envelope>) -> Alone<H> {
        Alone::new(Lone::new(&self.shared, frame, envelope))
    }

    /// Serves a link in the foreground, until the end of input.
    ///
    /// The work is done on a task of its own, which ends with this future:
    /// tokio wakes a task for less than the future that a program blocks on.
    pub async fn serve(&self, link: impl Link) -> Cause {
        self.spawn(link).ended().await
    }

    /// Serves a link in the background, until the end of input or until it is
    /// stopped.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn spawn(&self, link: impl Link) -> Running {
        self.on(link).spawn()
    }

    /// Tells all clients that want to know, and were told that there are tools:
    /// their list has changed.
    pub fn tools_changed(&self) {
        self.changed("tools", "notifications/tools/list_changed", None);
    }

    /// Tells all clients that want to know, and were told that there are resources:
    /// their list has changed.
    pub fn resources_changed(&self) {
        self.changed("resources", "notifications/resources/list_changed", None);
    }

    /// Tells all clients that want to know, and were told that there are prompts:
    /// their list has changed.
    pub fn prompts_changed(&self) {
        self.changed("prompts", "notifications/prompts/list_changed", None);
    }

    /// Tells all clients that want to know: this resource has changed.
    pub fn resource_updated(&self, uri: &str) {
        let params = json!({"uri": uri}).into();
        self.changed("resources", "notifications/resources/updated", Some(params));
    }

    /// The resources whose changes clients want to hear of, all clients together,
    /// as they are and as that changes.
    pub fn watched(&self) -> watch::Receiver<Arc<BTreeSet<String>>> {
        self.shared.interests.all()
    }

    /// The least severe level of log messages that the session of a client has set,
    /// as it is and as that changes; none while none has set any.
    pub fn log_level(&self) -> watch::Receiver<Option<LogLevel>> {
        self.shared.levels.least()
    }

    /// Sends a log message to all clients in whose sessions messages of that level
    /// are wanted. Since 2026-07-28 there are none but for a request
    /// ([`Context::log`]).
    pub fn log(&self, logger: Option<&str>, level: LogLevel, data: &RawJson) {
        let params = context::log_params(logger, level, data);
        self.changed("logging", "notifications/message", Some(params));
    }

    /// Tells all clients that want to know of any change, whatever was declared.
    /// Since 2026-07-28 a client can only want to know of the four above.
    pub fn notify(&self, method: &str, params: Option<RawJson>) {
        let method = method.to_owned();
        self.shared.sessions.tell(&Change { method, params, declared: None });
    }

    fn changed(&self, declared: &'static str, method: &str, params: Option<RawJson>) {
        let (method, declared) = (method.to_owned(), Some(declared));
        self.shared.sessions.tell(&Change { method, params, declared });
    }
}

impl<H> Server<H> {
    /// The same server for whoever must not keep it, as its own handler.
    pub fn downgrade(&self) -> WeakServer<H> {
        WeakServer { shared: Arc::downgrade(&self.shared), handler: PhantomData }
    }
}

/// A server that somebody else keeps.
#[derive(Debug)]
pub struct WeakServer<H> {
    shared: Weak<Shared>,
    handler: PhantomData<Arc<H>>,
}

impl<H> WeakServer<H> {
    /// The server, if somebody still keeps it.
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

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("revisions", &self.revisions)
            .field("about", &self.about)
            .finish_non_exhaustive()
    }
}

fn profile<H: Handler>(handler: &H, revisions: &[Revision]) -> Profile {
    Profile {
        info: handler.info(),
        capabilities: handler.capabilities(),
        instructions: handler.instructions(),
        revisions: revisions.to_vec(),
    }
}

/// What the server says about itself by now, and how often that has changed.
#[derive(Debug)]
struct Renewed {
    about: RwLock<(About, u64)>,
    /// The same number, for whoever only wants to know whether it changed.
    renewal: AtomicU64,
}

impl Renewed {
    fn now(&self) -> (About, u64) {
        self.about.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_newer_than(&self, renewal: u64) -> bool {
        self.renewal.load(Ordering::Acquire) != renewal
    }

    fn set(&self, about: About) {
        let mut now = self.about.write().unwrap_or_else(PoisonError::into_inner);
        let renewal = now.1 + 1;
        *now = (about, renewal);
        self.renewal.store(renewal, Ordering::Release);
    }
}

/// How many changes wait for a session to pass them on.
const CHANGES: usize = 1_000;

/// The sessions that stand.
#[derive(Debug, Default)]
struct Sessions {
    senders: Mutex<Vec<mpsc::Sender<Change>>>,
    /// How many have begun.
    begun: AtomicU64,
}

impl Sessions {
    /// The number of one more session.
    fn number(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn join(&self) -> mpsc::Receiver<Change> {
        let (sender, receiver) = mpsc::channel(CHANGES);
        let mut senders = self.senders();
        senders.retain(|sender| !sender.is_closed());
        senders.push(sender);
        receiver
    }

    fn tell(&self, change: &Change) {
        // A session that nobody drives misses what is too much.
        self.senders().retain(|sender| {
            !matches!(sender.try_send(change.clone()), Err(TrySendError::Closed(_)))
        });
    }

    fn senders(&self) -> MutexGuard<'_, Vec<mpsc::Sender<Change>>> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

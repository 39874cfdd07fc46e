//! The server's end of one connection without I/O and without a clock.
//!
//! It keeps the handshake's session, answers what the protocol itself defines,
//! and hands everything else to its owner as a [`Call`]. `A` is what the owner
//! wants back when the client has answered a question.

mod inbound;
mod opening;
mod outbound;
mod subscriptions;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sparring_wire::types::{Implementation, LogLevel, ServerCapabilities};
use sparring_wire::{ErrorObject, Frame, Id, IdSequence, RawJson, Revision};

use self::outbound::Added;
use super::counters::Counters;
use crate::client::Filter;
use crate::link::{Cause, Envelope, Faults, LinkKind, Outgoing};

/// A moment, counted from a start of the owner's choice.
pub type Time = Duration;

/// What a server says about itself.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Who it is.
    pub info: Implementation,
    /// What it can do.
    pub capabilities: ServerCapabilities,
    /// What it says about its use.
    pub instructions: Option<String>,
    /// The revisions it speaks.
    pub revisions: Vec<Revision>,
}

/// What a server says about itself, spelled as far as all can share it.
#[derive(Debug, Clone)]
pub(super) struct About {
    pub(super) profile: Arc<Profile>,
    pub(super) added: Arc<Added>,
}

impl About {
    pub(super) fn new(profile: Profile) -> Self {
        About { added: Arc::new(Added::new(&profile)), profile: Arc::new(profile) }
    }
}

/// A server's end of one connection.
pub struct Core<A> {
    profile: Arc<Profile>,
    counters: Arc<Counters>,
    link: LinkKind,
    /// What a handshake has agreed on.
    session: Option<Session>,
    in_flight: HashMap<Id, Job, foldhash::fast::RandomState>,
    batches: HashMap<u64, Batch>,
    next_key: u64,
    asks: HashMap<Id, Waiting<A>>,
    ids: IdSequence,
    added: Arc<Added>,
    /// Whether changes are of any interest to the client.
    heeds_changes: bool,
    /// Whether the resources that it wants to hear of are others since that was
    /// last asked.
    other_uris: bool,
    /// The level that the client has set since that was last asked.
    other_level: Option<LogLevel>,
    closed: bool,
    received: u64,
    admitted: u64,
    actions: VecDeque<Outgoing>,
    events: VecDeque<Event<A>>,
}

/// A session made by a handshake.
struct Session {
    revision: Revision,
    /// Whether the client has said that it is ready.
    ready: bool,
    client: Arc<ClientFacts>,
    log_level: Option<LogLevel>,
    subscribed: HashSet<String>,
}

/// What a client said about itself in a handshake.
#[derive(Debug)]
pub(super) struct ClientFacts {
    pub(super) info: Option<Implementation>,
    pub(super) capabilities: RawJson,
}

/// A request in flight.
struct Job {
    /// Tells it from others that had the same id.
    key: u64,
    revision: Revision,
    frame: Frame,
    batch: Option<u64>,
    /// What is to go wrong with its answer.
    faults: Faults,
    /// Set for a subscription that stands.
    listening: Option<Filter>,
}

/// Responses that go out together.
struct Batch {
    missing: usize,
    frames: Vec<Frame>,
    /// The first request in it, on whose stream all are answered.
    first: Option<Id>,
}

/// A question to the client that waits for its answer.
struct Waiting<A> {
    waiter: A,
    /// The request it is asked for.
    with: Id,
    deadline: Time,
}

/// A request for the owner to serve.
#[derive(Debug, Clone)]
pub struct Call {
    /// To be named in [`Core::finish`]; never given twice, as its id may be.
    pub key: u64,
    /// Its id.
    pub id: Id,
    /// The request.
    pub frame: Frame,
    /// The revision in which to serve it.
    pub revision: Revision,
    /// The headers that it came with, on links that have headers.
    pub envelope: Option<Envelope>,
    /// What the handshake told of the client; none where the request itself
    /// tells it.
    pub(super) client: Option<Arc<ClientFacts>>,
    /// The level of log messages that it asks for, or its session.
    pub log_level: Option<LogLevel>,
    /// Whether its client wants to know how far it has come.
    pub wants_progress: bool,
}

/// What happened, for the owner of a core.
#[derive(Debug)]
pub enum Event<A> {
    /// A request to serve.
    Call(Call),
    /// A call, by its key, is not wanted any more; its answer would go nowhere.
    Cancelled(u64),
    /// A notification came.
    Notification(Frame),
    /// A question was answered, or will not be.
    Answered {
        /// What the owner gave with the question.
        waiter: A,
        /// The answer.
        outcome: Result<RawJson, ErrorObject>,
    },
    /// The link has ended.
    Closed(Cause),
}

impl<A> Core<A> {
    /// A server's end of a fresh connection.
    pub fn new(profile: Arc<Profile>, link: LinkKind) -> Self {
        let added = Arc::new(Added::new(&profile));
        Core::counting(About { profile, added }, Arc::default(), link)
    }

    /// One that shares with others what they all need, and counts along.
    pub(super) fn counting(about: About, counters: Arc<Counters>, link: LinkKind) -> Self {
        let About { profile, added } = about;
        Core {
            profile,
            counters,
            link,
            session: None,
            in_flight: HashMap::default(),
            batches: HashMap::new(),
            next_key: 0,
            asks: HashMap::new(),
            ids: IdSequence::default(),
            added,
            heeds_changes: false,
            other_uris: false,
            other_level: None,
            closed: false,
            received: 0,
            admitted: 0,
            actions: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Leaves out the revisions that are not wanted here.
    pub(super) fn speak_only(&mut self, wanted: impl Fn(Revision) -> bool) {
        let mut profile = Profile::clone(&self.profile);
        profile.revisions.retain(|revision| wanted(*revision));
        self.profile = Arc::new(profile);
    }

    /// Whether the client was told that the server has this capability, or may
    /// ask for it.
    pub(super) fn declares(&self, capability: &str) -> bool {
        self.profile.capabilities.has(capability)
    }

    /// What the server says about itself has changed; the revisions stay, and
    /// what a handshake has agreed on stays too (2025-11-25,
    /// basic/lifecycle#operation).
    pub(super) fn renew(&mut self, about: About) {
        if self.session.is_some() {
            return;
        }
        let revisions = self.profile.revisions.clone();
        self.profile = Arc::new(Profile { revisions, ..Profile::clone(&about.profile) });
        self.added = about.added;
    }

    /// The next thing to give to the link.
    pub fn poll_action(&mut self) -> Option<Outgoing> {
        self.actions.pop_front()
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<Event<A>> {
        self.events.pop_front()
    }

    /// Whether anything has happened that was not told yet.
    pub(super) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// When [`Core::tick`] wants to be called, if nothing comes in before.
    pub fn wake_at(&self) -> Option<Time> {
        self.asks.values().map(|waiting| waiting.deadline).min()
    }

    /// Whether no request is being served, subscriptions not counted.
    pub fn is_idle(&self) -> bool {
        self.in_flight.values().all(|job| job.listening.is_some())
    }

    /// Whether nothing is in flight, subscriptions counted.
    pub fn is_over(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Whether the client may want to be told of changes, so that they are to
    /// be given to [`Core::broadcast`].
    pub fn heeds_changes(&self) -> bool {
        self.heeds_changes
    }

    /// The resources that the client wants to hear of, if they are others since
    /// this was last asked.
    pub(super) fn other_uris(&mut self) -> Option<Vec<String>> {
        if !std::mem::take(&mut self.other_uris) {
            return None;
        }
        let mut uris = Vec::new();
        if let Some(session) = &self.session {
            uris.extend(session.subscribed.iter().cloned());
        }
        for filter in self.in_flight.values().filter_map(|job| job.listening.as_ref()) {
            uris.extend(filter.uris.iter().cloned());
        }
        Some(uris)
    }

    /// The level of log messages that the client has set since this was last asked.
    pub(super) fn other_level(&mut self) -> Option<LogLevel> {
        self.other_level.take()
    }

    fn key(&mut self) -> u64 {
        self.next_key += 1;
        self.next_key
    }

    /// How many requests have come on this connection, unreadable ones included.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// How many of them came as far as being served.
    pub fn admitted(&self) -> u64 {
        self.admitted
    }

    /// The revision that a handshake agreed on.
    pub fn revision(&self) -> Option<Revision> {
        self.session.as_ref().map(|session| session.revision)
    }
}

impl<A> std::fmt::Debug for Core<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("in_flight", &self.in_flight.len()).finish_non_exhaustive()
    }
}

//! A server's end of one connection, without I/O and without a clock.
//!
//! It keeps the session of the handshake, answers the requests that the protocol
//! defines, and passes all others to its owner as a [`HandlerRequest`]. `A` is a
//! value of the owner that the core returns when the client has answered a
//! request.

mod admission;
mod inbound;
mod outbound;
mod seen_lists;
mod subscriptions;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sparring_wire::types::{Implementation, LogLevel, ServerCapabilities};
use sparring_wire::{ErrorObject, Frame, Id, IdSequence, Json, RawJson, Revision};

use self::outbound::ResultDefaults;
use self::seen_lists::SeenLists;
use super::request_observer::{OnResponse, RequestObserver};
use super::shared::Counters;
use crate::client::SubscriptionFilter;
use crate::link::{Cause, Envelope, Faults, LinkKind, Outgoing};

pub use self::inbound::MAX_BATCH_FRAMES;
pub use self::seen_lists::CurrentLists;

/// A point in time, counted from a start of the owner's choice.
pub type Time = Duration;

/// The description of a server.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Its name and version.
    pub info: Implementation,
    /// Its capabilities.
    pub capabilities: ServerCapabilities,
    /// Its instructions for use.
    pub instructions: Option<String>,
    /// Its revisions.
    pub revisions: Vec<Revision>,
}

/// The description of a server, with the serialized parts that all connections
/// share.
#[derive(Debug, Clone)]
pub(super) struct ServerDescription {
    pub(super) profile: Arc<Profile>,
    pub(super) result_defaults: Arc<ResultDefaults>,
}

impl ServerDescription {
    pub(super) fn new(profile: Profile) -> Self {
        ServerDescription {
            result_defaults: Arc::new(ResultDefaults::new(&profile)),
            profile: Arc::new(profile),
        }
    }
}

/// A server's end of one connection.
pub struct Core<A> {
    profile: Arc<Profile>,
    counters: Arc<Counters>,
    observer: Arc<RequestObserver>,
    link: LinkKind,
    /// The session that a handshake has created.
    session: Option<HandshakeSession>,
    in_flight: HashMap<Id, InFlightRequest, foldhash::fast::RandomState>,
    batches: HashMap<u64, Batch>,
    next_key: u64,
    outgoing_requests: HashMap<Id, OutgoingRequest<A>>,
    ids: IdSequence,
    result_defaults: Arc<ResultDefaults>,
    /// True if the client may want change notifications.
    wants_changes: bool,
    /// True if the client's subscriptions have changed since
    /// [`Core::take_changed_uris`].
    uris_changed: bool,
    /// The level that the client has set since [`Core::take_changed_log_level`].
    changed_log_level: Option<LogLevel>,
    closed: bool,
    received_count: u64,
    admitted_count: u64,
    actions: VecDeque<Outgoing>,
    events: VecDeque<Event<A>>,
}

/// A session created by a handshake.
struct HandshakeSession {
    revision: Revision,
    /// True if the client has sent `notifications/initialized`.
    ready: bool,
    client: Arc<ClientDescription>,
    log_level: Option<LogLevel>,
    subscribed: HashSet<String>,
    seen_lists: SeenLists,
}

/// The name and the capabilities that a client declared in a handshake.
#[derive(Debug)]
pub struct ClientDescription {
    pub(super) info: Option<Implementation>,
    /// The same as the client spelled it.
    pub(super) raw_info: Option<RawJson>,
    pub(super) capabilities: RawJson,
}

impl ClientDescription {
    /// Returns the client's name and version as it spelled them, if it sent them.
    pub fn info(&self) -> Option<Json<'_>> {
        self.raw_info.as_ref().map(RawJson::view)
    }

    /// Returns the client's capabilities.
    pub fn capabilities(&self) -> Json<'_> {
        self.capabilities.view()
    }
}

/// A request in flight.
struct InFlightRequest {
    /// Distinguishes it from other requests with the same id.
    key: u64,
    revision: Revision,
    frame: Frame,
    batch: Option<u64>,
    /// The observer of its response.
    on_response: Option<OnResponse>,
    /// The faults to apply to its response.
    faults: Faults,
    /// The filter of an open subscription.
    subscription: Option<SubscriptionFilter>,
}

/// Responses that are sent together.
struct Batch {
    pending: usize,
    frames: Vec<Frame>,
    /// The first request of the batch; its stream carries the response.
    first_id: Option<Id>,
}

/// A request to the client that waits for its response.
struct OutgoingRequest<A> {
    waiter: A,
    /// The client's request that caused it.
    caused_by: Id,
    deadline: Time,
}

/// A request for the handler.
#[derive(Debug, Clone)]
pub struct HandlerRequest {
    /// Identifies the request in [`Core::finish`]. Unlike an id it is never used
    /// twice.
    pub key: u64,
    /// The request's id.
    pub id: Id,
    /// The request.
    pub frame: Frame,
    /// True if it arrived in a batch.
    pub is_in_batch: bool,
    /// The revision in which to serve it.
    pub revision: Revision,
    /// The HTTP status and headers, on links that have them.
    pub envelope: Option<Envelope>,
    /// The client's declarations in the handshake; none if the request has its
    /// own.
    pub(super) client: Option<Arc<ClientDescription>>,
    /// The level of log messages that the request or its session has set.
    pub log_level: Option<LogLevel>,
    /// True if the client asked for progress.
    pub wants_progress: bool,
}

/// An event for the owner of a core.
#[derive(Debug)]
pub enum Event<A> {
    /// A request for the handler.
    Request(HandlerRequest),
    /// The core has answered this request itself.
    Answered(HandlerRequest, Result<RawJson, ErrorObject>),
    /// The request with this key was cancelled. Its response would be dropped.
    Cancelled(u64),
    /// A notification arrived.
    Notification(Frame),
    /// The client answered a request, or will not answer it.
    ClientResponse {
        /// The owner's value for the request.
        waiter: A,
        /// The client's result or error.
        outcome: Result<RawJson, ErrorObject>,
    },
    /// The link has ended.
    Closed(Cause),
}

impl<A> Core<A> {
    /// Creates the server's end of a new connection.
    pub fn new(profile: Arc<Profile>, link: LinkKind) -> Self {
        let result_defaults = Arc::new(ResultDefaults::new(&profile));
        Core::with_counters(ServerDescription { profile, result_defaults }, Arc::default(), link)
    }

    /// Creates a core that shares its description and counters with others.
    pub(super) fn with_counters(
        description: ServerDescription,
        counters: Arc<Counters>,
        link: LinkKind,
    ) -> Self {
        let ServerDescription { profile, result_defaults } = description;
        Core {
            profile,
            counters,
            observer: Arc::default(),
            link,
            session: None,
            in_flight: HashMap::default(),
            batches: HashMap::new(),
            next_key: 0,
            outgoing_requests: HashMap::new(),
            ids: IdSequence::default(),
            result_defaults,
            wants_changes: false,
            uris_changed: false,
            changed_log_level: None,
            closed: false,
            received_count: 0,
            admitted_count: 0,
            actions: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Reports requests and their responses to this observer.
    pub(super) fn with_observer(mut self, observer: Arc<RequestObserver>) -> Self {
        self.observer = observer;
        self
    }

    /// Keeps only the revisions that match.
    pub(super) fn retain_revisions(&mut self, wanted: impl Fn(Revision) -> bool) {
        let mut profile = Profile::clone(&self.profile);
        profile.revisions.retain(|revision| wanted(*revision));
        self.profile = Arc::new(profile);
    }

    /// Returns true if the server declares this capability to the client.
    pub(super) fn declares(&self, capability: &str) -> bool {
        self.profile.capabilities.has(capability)
    }

    /// Replaces the description. The revisions stay, and so does everything that
    /// a handshake has agreed on (2025-11-25, basic/lifecycle#operation).
    pub(super) fn update_description(&mut self, description: ServerDescription) {
        if self.session.is_some() {
            return;
        }
        let revisions = self.profile.revisions.clone();
        self.profile = Arc::new(Profile { revisions, ..Profile::clone(&description.profile) });
        self.result_defaults = description.result_defaults;
    }

    /// Returns the next action for the link.
    pub fn poll_action(&mut self) -> Option<Outgoing> {
        self.actions.pop_front()
    }

    /// Returns the next event for the owner.
    pub fn poll_event(&mut self) -> Option<Event<A>> {
        self.events.pop_front()
    }

    /// Returns true if events are queued.
    pub(super) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Returns the time of the next call of [`Core::tick`], unless an event
    /// arrives before.
    pub fn wake_at(&self) -> Option<Time> {
        self.outgoing_requests.values().map(|request| request.deadline).min()
    }

    /// Returns true if no request is being served, not counting subscriptions.
    pub fn is_idle(&self) -> bool {
        self.in_flight.values().all(|request| request.subscription.is_some())
    }

    /// Returns true if nothing is in flight, counting subscriptions.
    pub fn has_nothing_in_flight(&self) -> bool {
        self.in_flight.is_empty()
    }

    /// Returns true if the client may want change notifications, which the owner
    /// then passes to [`Core::broadcast`].
    pub fn wants_changes(&self) -> bool {
        self.wants_changes
    }

    /// Returns the resources that the client subscribes to, if they have changed
    /// since the last call.
    pub(super) fn take_changed_uris(&mut self) -> Option<Vec<String>> {
        if !std::mem::take(&mut self.uris_changed) {
            return None;
        }
        let mut uris = Vec::new();
        if let Some(session) = &self.session {
            uris.extend(session.subscribed.iter().cloned());
        }
        for filter in self.in_flight.values().filter_map(|request| request.subscription.as_ref()) {
            uris.extend(filter.uris.iter().cloned());
        }
        Some(uris)
    }

    /// Returns the level of log messages that the client has set since the last
    /// call.
    pub(super) fn take_changed_log_level(&mut self) -> Option<LogLevel> {
        self.changed_log_level.take()
    }

    fn next_key(&mut self) -> u64 {
        self.next_key += 1;
        self.next_key
    }

    /// Returns the number of requests that arrived, including unreadable ones.
    pub fn received_count(&self) -> u64 {
        self.received_count
    }

    /// Returns the number of requests that were admitted.
    pub fn admitted_count(&self) -> u64 {
        self.admitted_count
    }

    /// Returns the revision that a handshake agreed on.
    pub fn revision(&self) -> Option<Revision> {
        self.session.as_ref().map(|session| session.revision)
    }
}

impl<A> std::fmt::Debug for Core<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("in_flight", &self.in_flight.len()).finish_non_exhaustive()
    }
}

//! A client of the protocol without I/O and without a clock: events and time go
//! in, events and actions come out.
//!
//! Time is counted from a start of the owner's choice. `W` is a value of the
//! owner that the core returns when a request completes; the core never looks at
//! it.

mod era;
mod header_retry;
mod headers;
mod inbound;
mod input_rounds;
mod lifecycle;
mod pending;
mod request_meta;

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sparring_wire::mirrored_headers::MirroredArguments;
use sparring_wire::types::{Implementation, LogLevel, ServerCapabilities};
use sparring_wire::{ErrorObject, Frame, Id, IdSequence, RawJson, Revision};

use super::error::Error;
use super::options::ClientOptions;
use super::response::Response;
use crate::link::{Cause, Era, Faults, LinkKind, Outgoing, Stream};
use headers::HeaderCache;
use input_rounds::InputRound;
use lifecycle::Phase;
use pending::{PendingRequest, Recipient};
use request_meta::RequestMeta;

/// A point in time, counted from a start of the owner's choice.
pub type Time = Duration;

/// The maximum number of remembered ids of cancelled requests.
const MAX_CANCELLED_IDS: usize = 1024;

/// A client without I/O.
pub struct Core<W> {
    options: ClientOptions,
    link: LinkKind,
    phase: Phase,
    session: Option<Arc<Session>>,
    ids: IdSequence,
    pending: HashMap<Id, PendingRequest<W>, foldhash::fast::RandomState>,
    /// Requests that wait for inputs before they are sent again.
    rounds: HashMap<Id, InputRound<W>>,
    /// Server requests being answered, each with the requests whose timeouts are
    /// paused meanwhile.
    server_requests: HashMap<Id, Vec<Id>>,
    cancelled: VecDeque<Id>,
    /// Requests of the lifecycle that are no longer needed. Their responses may
    /// still arrive and are ignored.
    superseded: Vec<Id>,
    /// True if any frame has arrived.
    received_frame: bool,
    /// The last noise before the first frame.
    early_noise: Option<Frame>,
    meta: Option<RequestMeta>,
    /// The revision of requests.
    revision: Option<Revision>,
    header_cache: HeaderCache,
    /// The mirrored arguments by tool.
    mirrored: HashMap<String, MirroredArguments>,
    /// The server's era from an earlier connection.
    known_era: Option<Era>,
    log_level: Option<LogLevel>,
    /// The earliest time at which something happens without input.
    wake_at: Option<Time>,
    actions: VecDeque<Outgoing>,
    events: VecDeque<Event<W>>,
}

/// The result of connecting, with a handshake or with discovery.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// The revision in use.
    pub revision: Revision,
    /// The name and version that the server declares.
    pub server_info: Option<Implementation>,
    /// The capabilities that the server declares.
    pub capabilities: ServerCapabilities,
    /// The server's instructions.
    pub instructions: Option<String>,
    /// The response to `initialize` or `server/discover`.
    pub frame: Frame,
}

/// A request to send.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: Cow<'static, str>,
    /// The params. They are sent as written, with the revision's metadata added.
    pub params: Option<RawJson>,
    /// The timeout, if it is not the client's.
    pub timeout: Option<Duration>,
    /// True if the server is asked for progress.
    pub progress: bool,
}

impl Request {
    /// Creates a request with the client's timeout.
    pub fn new(method: impl Into<Cow<'static, str>>, params: Option<RawJson>) -> Self {
        Request { method: method.into(), params, timeout: None, progress: false }
    }
}

/// An event for the owner of a core.
#[derive(Debug)]
pub enum Event<W> {
    /// Connecting succeeded or failed.
    Connected(Result<Arc<Session>, Error>),
    /// A request completed.
    Completed {
        /// The id that the request had last.
        id: Id,
        /// The owner's value for the request.
        waiter: W,
        /// The response or the error.
        outcome: Result<Response, Error>,
    },
    /// The server reported progress of a request in flight.
    Progress {
        /// The request.
        id: Id,
        /// The notification.
        frame: Frame,
    },
    /// A notification arrived; progress included.
    Notification {
        /// The notification.
        frame: Frame,
        /// The subscription that it belongs to, if it names one in flight.
        subscription: Option<Id>,
    },
    /// The server sent a request, or asks for an input.
    ServerRequest {
        /// Identifies it in [`Core::answer`].
        request: ServerRequestId,
        /// The method, such as `elicitation/create`.
        method: String,
        /// The params.
        params: Option<RawJson>,
        /// The request in flight that caused it, if it is known: always for an
        /// input, for a request only on a stream of that request.
        caused_by: Option<Id>,
    },
    /// The server cancelled a request.
    ServerRequestCancelled(ServerRequestId),
    /// A frame arrived that belongs to no request in flight.
    Unclaimed {
        /// The frame.
        frame: Frame,
        /// The reason why it belongs to none.
        reason: UnclaimedReason,
    },
    /// An error that fails no request: the server did not accept a notification
    /// or response, or server messages may have been lost.
    BackgroundError(Cause),
    /// The link has ended.
    Closed(Cause),
}

/// Identifies a server request or an input.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ServerRequestId {
    /// A request of the server, by its id.
    Request(Id),
    /// An input that a request in flight needs.
    Input {
        /// The request that was answered with `input_required`.
        id: Id,
        /// The server's key of the input.
        key: String,
    },
}

/// The reason why a frame belongs to no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnclaimedReason {
    /// It is not a frame.
    Noise,
    /// It answers a request that was cancelled.
    Late,
    /// It answers a request that already has a response.
    Duplicate,
    /// It answers a request that was never sent.
    Foreign,
}

impl UnclaimedReason {
    /// Returns the name it is counted under in an inbox.
    pub fn name(self) -> &'static str {
        match self {
            UnclaimedReason::Noise => "noise",
            UnclaimedReason::Late => "late",
            UnclaimedReason::Duplicate => "duplicate",
            UnclaimedReason::Foreign => "foreign",
        }
    }
}

impl<W> Core<W> {
    /// Creates a client that has not started.
    pub fn new(options: ClientOptions, link: LinkKind) -> Self {
        Core {
            options,
            link,
            phase: Phase::Idle,
            session: None,
            ids: IdSequence::default(),
            pending: HashMap::default(),
            rounds: HashMap::new(),
            server_requests: HashMap::new(),
            cancelled: VecDeque::new(),
            superseded: Vec::new(),
            received_frame: false,
            early_noise: None,
            meta: None,
            revision: None,
            header_cache: HeaderCache::default(),
            mirrored: HashMap::new(),
            known_era: None,
            log_level: None,
            wake_at: None,
            actions: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Sets the server's era from an earlier connection. Must be called before
    /// [`Core::start`].
    pub fn set_known_era(&mut self, era: Option<Era>) {
        self.known_era = era;
    }

    /// Returns the next action for the link.
    pub fn poll_action(&mut self) -> Option<Outgoing> {
        self.actions.pop_front()
    }

    /// Returns the next event for the owner.
    pub fn poll_event(&mut self) -> Option<Event<W>> {
        self.events.pop_front()
    }

    /// Returns the time of the next call of [`Core::tick`], unless an event
    /// arrives before.
    pub fn wake_at(&self) -> Option<Time> {
        self.wake_at
    }

    /// Returns the session, once the client is connected.
    pub fn session(&self) -> Option<&Arc<Session>> {
        self.session.as_ref()
    }

    /// Returns the number of requests in flight.
    pub fn in_flight(&self) -> usize {
        self.pending.len() + self.rounds.len()
    }

    /// Returns the owner's value for a request in flight, or for one whose
    /// completion is still queued.
    pub fn waiter(&mut self, id: &Id) -> Option<&mut W> {
        let pending = self.pending.get_mut(id).and_then(PendingRequest::waiter);
        let round = self.rounds.get_mut(id).and_then(InputRound::waiter);
        pending.or(round).or_else(|| {
            self.events.iter_mut().find_map(|event| match event {
                Event::Completed { id: completed, waiter, .. } if completed == id => Some(waiter),
                _ => None,
            })
        })
    }

    /// Returns the owner's values for the requests in flight.
    pub fn waiters(&self) -> impl Iterator<Item = &W> + Clone {
        let pending = self.pending.values().map(|pending| &pending.recipient);
        let recipients = pending.chain(self.rounds.values().map(InputRound::recipient));
        recipients.filter_map(|recipient| match recipient {
            Recipient::Caller(waiter) => Some(waiter),
            _ => None,
        })
    }

    /// Sends a request and returns its id. An event completes it, possibly at
    /// once.
    pub fn request(&mut self, now: Time, request: Request, waiter: W) -> Id {
        let id = self.generate_id();
        let timeout = request.timeout.unwrap_or(self.options.timeout);
        let pending = PendingRequest::new(Recipient::Caller(waiter), request, timeout);
        self.send_request(now, id.clone(), pending);
        id
    }

    /// Returns an id that no request in flight or cancelled request has,
    /// including requests that the caller built.
    fn generate_id(&mut self) -> Id {
        loop {
            let id = self.ids.next_id();
            let late = self.cancelled.contains(&id) || self.superseded.contains(&id);
            if !self.is_in_use(&id) && !late {
                return id;
            }
        }
    }

    fn is_in_use(&self, id: &Id) -> bool {
        self.pending.contains_key(id) || self.rounds.contains_key(id)
    }

    /// Sends a request of the caller unchanged. Its response is delivered
    /// unchanged too.
    ///
    /// # Errors
    /// Sends nothing and returns the waiter if the bytes are not a request, or if
    /// its id is in use, so that its response could not be identified.
    pub fn request_frame(
        &mut self,
        now: Time,
        frame: Frame,
        timeout: Option<Duration>,
        waiter: W,
    ) -> Result<Id, (W, String)> {
        let (Some(id), Some(method)) = (frame.id().cloned(), frame.method()) else {
            return Err((
                waiter,
                "nothing was sent: the bytes are not a request with an id".to_owned(),
            ));
        };
        if self.is_in_use(&id) {
            return Err((waiter, format!("nothing was sent: a request with id {id} is in flight")));
        }
        let mut request = Request::new(method.to_owned(), None);
        let token = frame.params().and_then(|params| params.get_path(&["_meta", "progressToken"]));
        request.progress = token.and_then(Id::from_json).as_ref() == Some(&id);
        let timeout = timeout.unwrap_or(self.options.timeout);
        let mut pending = PendingRequest::new(Recipient::Caller(waiter), request, timeout);
        pending.raw = true;
        if !matches!(self.phase, Phase::Closed(_)) {
            let headers = self.frame_headers(&frame);
            self.actions.push_back(Outgoing::Send {
                stream: self.stream_for(&id),
                frame,
                headers,
                faults: Faults::none(),
            });
        }
        self.track_request(now, id.clone(), pending);
        Ok(id)
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Option<&RawJson>) {
        self.send(Frame::notification(method, params));
    }

    /// Sends a frame unchanged, without waiting for a response.
    pub fn send(&mut self, frame: Frame) {
        let headers = self.frame_headers(&frame);
        self.actions.push_back(Outgoing::Send {
            frame,
            stream: Stream::Connection,
            headers,
            faults: Faults::none(),
        });
    }

    /// Returns the id of the request in flight whose waiter matches. The id
    /// changes when a request is sent again.
    pub fn find_request(&self, fits: impl Fn(&W) -> bool) -> Option<Id> {
        let pending = self.pending.iter().map(|(id, pending)| (id, &pending.recipient));
        let rounds = self.rounds.iter().map(|(id, round)| (id, round.recipient()));
        let mut recipients = pending.chain(rounds);
        recipients
            .find(|(_, recipient)| matches!(recipient, Recipient::Caller(waiter) if fits(waiter)))
            .map(|(id, _)| id.clone())
    }

    /// Cancels a request: notifies the server, and does not deliver its response.
    pub fn cancel(&mut self, id: &Id, reason: Option<&str>) {
        self.abandon_request(id, reason, |method| Error::Cancelled { method });
    }

    /// Cancels a request because a callback of its caller panicked.
    pub fn callback_panicked(&mut self, id: &Id, panic: &str) {
        let panic = panic.to_owned();
        // Its completion may already be queued.
        for event in &mut self.events {
            if let Event::Completed { id: completed, outcome, .. } = event
                && completed == id
                && let Ok(response) = outcome
            {
                let method = response.method().to_owned();
                *outcome = Err(Error::CallbackPanicked { method, panic });
                return;
            }
        }
        self.abandon_request(id, None, |method| Error::CallbackPanicked { method, panic });
    }

    fn abandon_request(
        &mut self,
        id: &Id,
        reason: Option<&str>,
        error: impl FnOnce(String) -> Error,
    ) {
        let (recipient, method) = match (self.pending.remove(id), self.rounds.remove(id)) {
            (Some(pending), _) => {
                self.send_cancelled(id, reason);
                pending.into_parts()
            }
            (None, Some(round)) => {
                self.cancel_inputs(id, &round);
                round.into_parts()
            }
            (None, None) => return,
        };
        if let Recipient::Caller(waiter) = recipient {
            let outcome = Err(error(method.into_owned()));
            self.events.push_back(Event::Completed { id: id.clone(), waiter, outcome });
        }
    }

    /// Answers a server request.
    pub fn answer(
        &mut self,
        now: Time,
        request: ServerRequestId,
        answer: Result<RawJson, ErrorObject>,
    ) {
        match request {
            ServerRequestId::Request(id) => {
                if self.finish_server_request(now, &id) {
                    self.send(match &answer {
                        Ok(result) => Frame::result_response(&id, result.view(), &[]),
                        Err(error) => Frame::error_response(Some(&id), false, error),
                    });
                }
            }
            ServerRequestId::Input { id, key } => self.store_input(now, &id, &key, answer),
        }
    }

    /// Sets the level of log messages in the metadata of later requests (since
    /// 2026-07-28).
    pub fn set_log_level(&mut self, level: Option<LogLevel>) {
        self.log_level = level;
        self.rebuild_meta();
    }

    /// Closes the connection from this side.
    pub fn close(&mut self) {
        self.actions.push_back(Outgoing::Close);
        self.close_with(&Cause::ClosedLocally);
    }

    /// Fails all requests in flight and closes the core.
    fn close_with(&mut self, cause: &Cause) {
        if matches!(self.phase, Phase::Closed(_)) {
            return;
        }
        let before = std::mem::replace(&mut self.phase, Phase::Closed(cause.clone()));
        let closed = |method: Cow<'static, str>| Error::Closed {
            method: method.into_owned(),
            cause: cause.clone(),
        };
        if let Phase::Connecting(connecting) = before {
            let error = connecting.closed_error(cause);
            self.events.push_back(Event::Connected(Err(error)));
        }
        let pending = std::mem::take(&mut self.pending).into_iter();
        let pending = pending.map(|(id, pending)| (id, pending.into_parts()));
        let rounds = std::mem::take(&mut self.rounds).into_iter();
        let rounds = rounds.map(|(id, round)| (id, round.into_parts()));
        for (id, (recipient, method)) in pending.chain(rounds) {
            if let Recipient::Caller(waiter) = recipient {
                let outcome = Err(closed(method));
                self.events.push_back(Event::Completed { id, waiter, outcome });
            }
        }
        self.server_requests.clear();
        self.wake_at = None;
        self.events.push_back(Event::Closed(cause.clone()));
    }
}

impl<W> std::fmt::Debug for Core<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("phase", &self.phase).finish_non_exhaustive()
    }
}

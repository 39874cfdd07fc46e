//! The client's end of the protocol without I/O and without a clock: events
//! and time go in, events and actions come out.
//!
//! Time is counted from whatever moment the owner likes. `W` is what the owner
//! wants back when a request is settled; the core never looks at it.

mod encode;
mod headers;
mod inbound;
mod lifecycle;
mod pending;
mod relist;
mod rounds;

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sparring_wire::mirror::Mirrored;
use sparring_wire::types::{Implementation, LogLevel, ServerCapabilities};
use sparring_wire::{ErrorObject, Frame, Id, IdSequence, RawJson, Revision};

use super::error::Error;
use super::options::{ClientOptions, Protocol};
use super::response::Response;
use crate::link::{Cause, Era, Faults, LinkKind, Outgoing, Stream};
use encode::Meta;
use headers::LastHeaders;
use lifecycle::Phase;
use pending::{Owner, Pending};
use rounds::Round;

/// A moment, counted from a start of the owner's choice.
pub type Time = Duration;

/// Ids of requests given up whose replies may still come.
const REMEMBERED: usize = 1024;

/// A client without I/O.
pub struct Core<W> {
    options: ClientOptions,
    link: LinkKind,
    phase: Phase,
    session: Option<Arc<Session>>,
    ids: IdSequence,
    pending: HashMap<Id, Pending<W>, foldhash::fast::RandomState>,
    /// Requests that wait for input of this side before they are sent again.
    rounds: HashMap<Id, Round<W>>,
    /// Requests of the server's that are being answered.
    /// What the server asks, and the requests whose time stands still meanwhile.
    asked: HashMap<Id, Vec<Id>>,
    abandoned: VecDeque<Id>,
    /// Requests of the lifecycle that another was faster than: their answers may
    /// still come, and are nothing to speak of.
    outrun: Vec<Id>,
    /// Whether any frame has come yet.
    heard: bool,
    /// The last noise before any frame.
    noise_before: Option<Frame>,
    meta: Option<Meta>,
    /// The revision that requests are made in.
    speaking: Option<Revision>,
    last_headers: LastHeaders,
    /// The arguments that stand in headers as well, by the tool's name.
    mirrored: HashMap<String, Mirrored>,
    /// What is known of the server from before.
    known: Option<Era>,
    log_level: Option<LogLevel>,
    /// Nothing happens by mere time before this.
    wake_at: Option<Time>,
    actions: VecDeque<Outgoing>,
    events: VecDeque<Event<W>>,
}

/// What the two sides agreed on.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// The revision in use.
    pub revision: Revision,
    /// Who the server says it is.
    pub server_info: Option<Implementation>,
    /// What the server says it can do.
    pub capabilities: ServerCapabilities,
    /// What the server says about its use.
    pub instructions: Option<String>,
    /// The frame that said all this.
    pub frame: Frame,
}

/// A request to make.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method.
    pub method: Cow<'static, str>,
    /// The params, sent as spelled, with the revision's metadata added.
    pub params: Option<RawJson>,
    /// How long to wait, if not as long as for others.
    pub timeout: Option<Duration>,
    /// Whether to ask the server for progress.
    pub progress: bool,
}

impl Request {
    /// A request with the client's own timeout.
    pub fn new(method: impl Into<Cow<'static, str>>, params: Option<RawJson>) -> Self {
        Request { method: method.into(), params, timeout: None, progress: false }
    }
}

/// What happened, for the owner of a core.
#[derive(Debug)]
pub enum Event<W> {
    /// The lifecycle came to its end, well or not.
    Connected(Result<Arc<Session>, Error>),
    /// A request came to its end.
    Settled {
        /// The id it had last.
        id: Id,
        /// What the owner gave with the request.
        waiter: W,
        /// The answer, or why there is none.
        outcome: Result<Response, Error>,
    },
    /// The server told about the progress of a request in flight.
    Progress {
        /// The request.
        id: Id,
        /// The notification.
        frame: Frame,
    },
    /// A notification came, progress included.
    Notification {
        /// The notification.
        frame: Frame,
        /// The subscription it belongs to, if it names one in flight.
        subscription: Option<Id>,
    },
    /// The server wants something of this side.
    Asked {
        /// To be named in [`Core::answer`].
        ask: Ask,
        /// What is wanted, as `elicitation/create`.
        method: String,
        /// The params of it.
        params: Option<RawJson>,
        /// The request in flight that it is asked for, where that is known: of an
        /// input always, of a request only on a stream of that request's own.
        with: Option<Id>,
    },
    /// The server does not want it any more.
    Withdrawn(Ask),
    /// Something came that belongs to no request in flight.
    Unclaimed {
        /// What came.
        frame: Frame,
        /// Why nobody gets it.
        why: Unclaimed,
    },
    /// Something went wrong that fails no request: a notification or an answer
    /// of this side was not taken, or something that the server said unasked may
    /// not have come.
    Mishap(Cause),
    /// The link has ended.
    Closed(Cause),
}

/// One thing that a server wants of the client.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Ask {
    /// A request of the server's, by its id.
    Request(Id),
    /// An input that a request in flight needs.
    Input {
        /// The request that was answered with `input_required`.
        id: Id,
        /// The server's name for the input.
        key: String,
    },
}

/// Why a frame is nobody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unclaimed {
    /// It is no frame at all.
    Noise,
    /// It answers a request that was given up.
    Late,
    /// It answers a request that has been answered.
    Duplicate,
    /// It answers a request that was never made.
    Foreign,
}

impl Unclaimed {
    /// The name it goes by in an inbox.
    pub fn name(self) -> &'static str {
        match self {
            Unclaimed::Noise => "noise",
            Unclaimed::Late => "late",
            Unclaimed::Duplicate => "duplicate",
            Unclaimed::Foreign => "foreign",
        }
    }
}

impl<W> Core<W> {
    /// A client that has not begun.
    pub fn new(options: ClientOptions, link: LinkKind) -> Self {
        Core {
            options,
            link,
            phase: Phase::Idle,
            session: None,
            ids: IdSequence::default(),
            pending: HashMap::default(),
            rounds: HashMap::new(),
            asked: HashMap::new(),
            abandoned: VecDeque::new(),
            outrun: Vec::new(),
            heard: false,
            noise_before: None,
            meta: None,
            speaking: None,
            last_headers: LastHeaders::default(),
            mirrored: HashMap::new(),
            known: None,
            log_level: None,
            wake_at: None,
            actions: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Says what is known of the server from before; to be said before
    /// [`Core::start`].
    pub fn expect(&mut self, era: Option<Era>) {
        self.known = era;
    }

    /// The next thing to give to the link.
    pub fn poll_action(&mut self) -> Option<Outgoing> {
        self.actions.pop_front()
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<Event<W>> {
        self.events.pop_front()
    }

    /// When [`Core::tick`] wants to be called, if nothing comes in before.
    pub fn wake_at(&self) -> Option<Time> {
        self.wake_at
    }

    /// What the two sides agreed on, once they have.
    pub fn session(&self) -> Option<&Arc<Session>> {
        self.session.as_ref()
    }

    /// How many requests are in flight.
    pub fn in_flight(&self) -> usize {
        self.pending.len() + self.rounds.len()
    }

    /// What the owner gave with a request that is in flight, or whose end has
    /// not been told yet.
    pub fn waiter(&mut self, id: &Id) -> Option<&mut W> {
        let pending = self.pending.get_mut(id).and_then(Pending::waiter);
        let round = self.rounds.get_mut(id).and_then(Round::waiter);
        pending.or(round).or_else(|| {
            self.events.iter_mut().find_map(|event| match event {
                Event::Settled { id: settled, waiter, .. } if settled == id => Some(waiter),
                _ => None,
            })
        })
    }

    /// What the owner gave with the requests that are in flight.
    pub fn waiters(&self) -> impl Iterator<Item = &W> + Clone {
        let pending = self.pending.values().map(|pending| &pending.owner);
        let owners = pending.chain(self.rounds.values().map(Round::owner));
        owners.filter_map(|owner| match owner {
            Owner::Caller(waiter) => Some(waiter),
            _ => None,
        })
    }

    /// Makes a request and gives its id. It is settled by an event, later or
    /// at once.
    pub fn request(&mut self, now: Time, request: Request, waiter: W) -> Id {
        let id = self.fresh_id();
        let timeout = request.timeout.unwrap_or(self.options.timeout);
        let pending = Pending::new(Owner::Caller(waiter), request, timeout);
        self.launch(now, id.clone(), pending);
        id
    }

    /// An id that no request in flight has, or had when it was given up, the
    /// owner's raw ones included.
    fn fresh_id(&mut self) -> Id {
        loop {
            let id = self.ids.generate();
            let late = self.abandoned.contains(&id) || self.outrun.contains(&id);
            if !self.is_in_use(&id) && !late {
                return id;
            }
        }
    }

    fn is_in_use(&self, id: &Id) -> bool {
        self.pending.contains_key(id) || self.rounds.contains_key(id)
    }

    /// Sends a request of the owner's as it is, and waits for its answer, which
    /// is given as it comes.
    ///
    /// # Errors
    /// Sends nothing and gives the waiter back if the bytes are no request, or
    /// its id is in use, so that no answer could be told from others.
    pub fn request_frame(
        &mut self,
        now: Time,
        frame: Frame,
        timeout: Option<Duration>,
        waiter: W,
    ) -> Result<Id, (W, String)> {
        let (Some(id), Some(method)) = (frame.id().cloned(), frame.method()) else {
            return Err((waiter, "the bytes are no request with an id".to_owned()));
        };
        if self.is_in_use(&id) {
            return Err((waiter, format!("the id {id} is that of a request in flight")));
        }
        let mut request = Request::new(method.to_owned(), None);
        let token = frame.params().and_then(|params| params.at(&["_meta", "progressToken"]));
        request.progress = token.and_then(Id::read).as_ref() == Some(&id);
        let timeout = timeout.unwrap_or(self.options.timeout);
        let mut pending = Pending::new(Owner::Caller(waiter), request, timeout);
        pending.raw = true;
        if !matches!(self.phase, Phase::Closed(_)) {
            let headers = self.headers_of(&frame);
            self.actions.push_back(Outgoing::Send {
                stream: self.stream_of(&id),
                frame,
                headers,
                faults: Faults::none(),
            });
        }
        self.wait_for(now, id.clone(), pending);
        Ok(id)
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Option<&RawJson>) {
        self.send(Frame::notification(method, params));
    }

    /// Sends a frame of the owner's as it is, and expects nothing.
    pub fn send(&mut self, frame: Frame) {
        let headers = self.headers_of(&frame);
        self.actions.push_back(Outgoing::Send {
            frame,
            stream: Stream::Standing,
            headers,
            faults: Faults::none(),
        });
    }

    /// The request in flight whose waiter fits; it may have got another id
    /// since it was made, by being sent again with input.
    pub fn find(&self, fits: impl Fn(&W) -> bool) -> Option<Id> {
        let pending = self.pending.iter().map(|(id, pending)| (id, &pending.owner));
        let rounds = self.rounds.iter().map(|(id, round)| (id, round.owner()));
        let mut owners = pending.chain(rounds);
        owners
            .find(|(_, owner)| matches!(owner, Owner::Caller(waiter) if fits(waiter)))
            .map(|(id, _)| id.clone())
    }

    /// Gives a request up: tells the server, and never delivers its reply.
    pub fn cancel(&mut self, id: &Id, reason: Option<&str>) {
        self.give_up_as(id, reason, |method| Error::Cancelled { method });
    }

    /// Gives a request up because what its owner does with it panicked.
    pub fn callback_panicked(&mut self, id: &Id, panic: &str) {
        let panic = panic.to_owned();
        // Its answer may have come, and not been told yet.
        for event in &mut self.events {
            if let Event::Settled { id: settled, outcome, .. } = event
                && settled == id
                && let Ok(response) = outcome
            {
                let method = response.method().to_owned();
                *outcome = Err(Error::CallbackPanicked { method, panic });
                return;
            }
        }
        self.give_up_as(id, None, |method| Error::CallbackPanicked { method, panic });
    }

    fn give_up_as(&mut self, id: &Id, reason: Option<&str>, error: impl FnOnce(String) -> Error) {
        let (owner, method) = match (self.pending.remove(id), self.rounds.remove(id)) {
            (Some(pending), _) => {
                self.tell_cancelled(id, reason);
                pending.into_parts()
            }
            (None, Some(round)) => {
                self.withdraw_inputs(id, &round);
                round.into_parts()
            }
            (None, None) => return,
        };
        if let Owner::Caller(waiter) = owner {
            let outcome = Err(error(method.into_owned()));
            self.events.push_back(Event::Settled { id: id.clone(), waiter, outcome });
        }
    }

    /// Answers what the server asked.
    pub fn answer(&mut self, now: Time, ask: Ask, answer: Result<RawJson, ErrorObject>) {
        match ask {
            Ask::Request(id) => {
                if self.let_go_on(now, &id) {
                    self.send(match &answer {
                        Ok(result) => Frame::result_of(&id, result.view(), &[]),
                        Err(error) => Frame::error_of(Some(&id), false, error),
                    });
                }
            }
            Ask::Input { id, key } => self.input(now, &id, &key, answer),
        }
    }

    /// Sets the level of log messages that later requests ask for, where the
    /// revision says so with each request.
    pub fn set_log_level(&mut self, level: Option<LogLevel>) {
        self.log_level = level;
        self.renew_meta();
    }

    /// Ends the connection from this side.
    pub fn close(&mut self) {
        self.actions.push_back(Outgoing::Close);
        self.end(&Cause::ByUs);
    }

    /// Fails what is in flight, since nothing will answer it.
    fn end(&mut self, cause: &Cause) {
        if matches!(self.phase, Phase::Closed(_)) {
            return;
        }
        let before = std::mem::replace(&mut self.phase, Phase::Closed(cause.clone()));
        let closed = |method: Cow<'static, str>| Error::Closed {
            method: method.into_owned(),
            cause: cause.clone(),
        };
        if let Phase::Connecting(connecting) = before {
            let error = connecting.closed(cause);
            self.events.push_back(Event::Connected(Err(error)));
        }
        let pending = std::mem::take(&mut self.pending).into_iter();
        let pending = pending.map(|(id, pending)| (id, pending.into_parts()));
        let rounds = std::mem::take(&mut self.rounds).into_iter();
        let rounds = rounds.map(|(id, round)| (id, round.into_parts()));
        for (id, (owner, method)) in pending.chain(rounds) {
            if let Owner::Caller(waiter) = owner {
                let outcome = Err(closed(method));
                self.events.push_back(Event::Settled { id, waiter, outcome });
            }
        }
        self.asked.clear();
        self.wake_at = None;
        self.events.push_back(Event::Closed(cause.clone()));
    }
}

impl<W> std::fmt::Debug for Core<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Core").field("phase", &self.phase).finish_non_exhaustive()
    }
}

impl ClientOptions {
    /// The revisions this client would speak, the newest first.
    fn revisions(&self) -> Vec<Revision> {
        match self.protocol {
            Protocol::Auto => Revision::ALL.into_iter().rev().collect(),
            Protocol::Only(revision) => vec![revision],
            Protocol::Raw => Vec::new(),
        }
    }
}

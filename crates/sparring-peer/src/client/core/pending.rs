//! Requests in flight: what each waits for, until when, and what happens when
//! that time comes.

use std::borrow::Cow;
use std::time::Duration;

use sparring_wire::{Frame, Id, RawJson};

use super::lifecycle::Phase;
use super::relist::Refusal;
use super::{Core, Event, REMEMBERED, Request, Time, Unclaimed};
use crate::client::error::Error;
use crate::link::{Faults, LinkKind, Outgoing, Stream};
use crate::notices;

/// A request in flight.
pub(super) struct Pending<W> {
    pub(super) owner: Owner<W>,
    pub(super) method: Cow<'static, str>,
    /// As the owner gave them, for the same request to be made again.
    pub(super) params: Option<RawJson>,
    pub(super) progress: bool,
    pub(super) timeout: Duration,
    /// Whether it was sent as the owner spelled it, so that only the owner can
    /// send it again.
    pub(super) raw: bool,
    /// The answer that made it be sent again.
    pub(super) refusal: Option<Box<Refusal>>,
    /// How often this request has been answered with a wish for input.
    pub(super) rounds: u32,
    /// When to give up; none before it is sent, and for a subscription that runs.
    deadline: Option<Time>,
    /// How often it is held, and how long it may still take afterwards.
    held: u32,
    left: Option<Duration>,
    suspicion: Option<Suspicion>,
}

/// Who gets the answer.
pub(super) enum Owner<W> {
    Caller(W),
    Discover,
    Initialize,
    /// A call that waits for the list of tools, and how many pages of it may
    /// still come.
    Relist {
        call: Id,
        pages: u32,
    },
}

/// Something came that may have been meant as the answer.
struct Suspicion {
    fails_at: Time,
    error: Error,
}

impl<W> Pending<W> {
    pub(super) fn new(owner: Owner<W>, request: Request, timeout: Duration) -> Self {
        Pending {
            owner,
            method: request.method,
            params: request.params,
            progress: request.progress,
            timeout,
            raw: false,
            refusal: None,
            rounds: 0,
            deadline: None,
            held: 0,
            left: None,
            suspicion: None,
        }
    }

    pub(super) fn waiter(&mut self) -> Option<&mut W> {
        match &mut self.owner {
            Owner::Caller(waiter) => Some(waiter),
            _ => None,
        }
    }

    pub(super) fn into_parts(self) -> (Owner<W>, Cow<'static, str>) {
        (self.owner, self.method)
    }

    /// Something came that belongs to this request, so it lives.
    pub(super) fn absolve(&mut self) {
        self.suspicion = None;
    }

    /// What came instead of the answer, if something did.
    pub(super) fn suspicion(&mut self) -> Option<Error> {
        self.suspicion.take().map(|suspicion| suspicion.error)
    }

    /// Whether it waits for something else than its own stream.
    pub(super) fn is_held_back(&self) -> bool {
        self.refusal.as_ref().is_some_and(|refusal| refusal.listing)
    }

    /// How long it may still take.
    pub(super) fn time_left(&self, now: Time) -> Duration {
        self.deadline.map_or(self.timeout, |deadline| deadline.saturating_sub(now))
    }

    /// Sent again, it may take as long as at first.
    pub(super) fn begin_anew(&mut self) {
        self.deadline = None;
    }

    /// From now on it may take as long as it likes.
    pub(super) fn wait_for_ever(&mut self) {
        self.deadline = None;
        self.suspicion = None;
    }

    /// Its time stands still until it is released as often.
    fn hold(&mut self, now: Time) {
        self.held += 1;
        if let Some(deadline) = self.deadline.take() {
            self.left = Some(deadline.saturating_sub(now));
        }
    }

    /// Its time goes on; says when it is over, if it is held no more.
    fn release(&mut self, now: Time) -> Option<Time> {
        self.held = self.held.saturating_sub(1);
        let left = self.left.take_if(|_| self.held == 0)?;
        self.deadline = Some(now.saturating_add(left));
        self.deadline
    }

    fn due(&self) -> Option<Time> {
        let suspicion = self.suspicion.as_ref().map(|suspicion| suspicion.fails_at);
        earlier(self.deadline, suspicion)
    }
}

impl<W> Core<W> {
    /// Sends a request and waits for its answer.
    pub(super) fn launch(&mut self, now: Time, id: Id, pending: Pending<W>) {
        if !matches!(self.phase, Phase::Closed(_)) {
            let params = self.encode(&id, &pending);
            let frame = Frame::request(&id, &pending.method, params.as_deref());
            let headers = self.headers_of(&frame);
            self.actions.push_back(Outgoing::Send {
                frame,
                stream: self.stream_of(&id),
                headers,
                faults: Faults::none(),
            });
        }
        self.wait_for(now, id, pending);
    }

    pub(super) fn wait_for(&mut self, now: Time, id: Id, mut pending: Pending<W>) {
        if let Phase::Closed(cause) = &self.phase {
            let (owner, method) = pending.into_parts();
            if let Owner::Caller(waiter) = owner {
                let outcome =
                    Err(Error::Closed { method: method.into_owned(), cause: cause.clone() });
                self.events.push_back(Event::Settled { id, waiter, outcome });
            }
            return;
        }
        // The lifecycle's requests share one deadline, kept by the lifecycle.
        if matches!(pending.owner, Owner::Caller(_) | Owner::Relist { .. }) {
            let deadline = pending.deadline.unwrap_or(now.saturating_add(pending.timeout));
            pending.deadline = Some(deadline);
            self.wake_by(deadline);
        }
        self.pending.insert(id, pending);
    }

    /// The server asks something: the request that it asks for waits for us, or
    /// any that is in flight.
    pub(super) fn hold_for(&mut self, now: Time, ask: &Id, stream: &Stream) {
        let is_meant = |id: &Id| match stream {
            Stream::Request(only) => only == id,
            Stream::Standing => true,
        };
        let mut held = Vec::new();
        if self.options.patient {
            for (id, pending) in &mut self.pending {
                if is_meant(id) && matches!(pending.owner, Owner::Caller(_)) {
                    pending.hold(now);
                    held.push(id.clone());
                }
            }
        }
        self.asked.insert(ask.clone(), held);
    }

    /// What the server asked needs no answer any more; says whether it did.
    pub(super) fn let_go_on(&mut self, now: Time, ask: &Id) -> bool {
        let Some(held) = self.asked.remove(ask) else { return false };
        for id in held {
            let deadline = self.pending.get_mut(&id).and_then(|pending| pending.release(now));
            if let Some(deadline) = deadline {
                self.wake_by(deadline);
            }
        }
        true
    }

    pub(super) fn stream_of(&self, id: &Id) -> Stream {
        match self.link {
            LinkKind::Shared => Stream::Standing,
            LinkKind::Streams => Stream::Request(id.clone()),
        }
    }

    pub(super) fn wake_by(&mut self, at: Time) {
        self.wake_at = earlier(self.wake_at, Some(at));
    }

    /// Says that time has passed.
    pub fn tick(&mut self, now: Time) {
        if self.wake_at.is_none_or(|at| at > now) {
            return;
        }
        self.wake_at = None;
        let due = |pending: &Pending<W>| pending.due().is_some_and(|at| at <= now);
        let overdue: Vec<Id> =
            self.pending.iter().filter(|(_, p)| due(p)).map(|(id, _)| id.clone()).collect();
        for id in overdue {
            self.give_up(now, &id);
        }
        self.lifecycle_tick(now);
        self.rounds_tick(now);
        let next = self.pending.values().filter_map(Pending::due).min();
        let all = [self.wake_at, next, self.rounds_due(), self.lifecycle_due()];
        self.wake_at = all.into_iter().flatten().min();
    }

    fn give_up(&mut self, now: Time, id: &Id) {
        let Some(mut pending) = self.pending.remove(id) else { return };
        if pending.is_held_back() {
            return self.refuse(id.clone(), pending);
        }
        let error = match pending.suspicion.take() {
            Some(suspicion) if suspicion.fails_at <= now => suspicion.error,
            _ => Error::Timeout { method: pending.method.to_string(), after: pending.timeout },
        };
        if matches!(pending.owner, Owner::Caller(_) | Owner::Relist { .. }) {
            self.tell_cancelled(id, Some(&error.to_string()));
        }
        self.fail(now, id.clone(), pending, error);
    }

    /// Gives an error to whoever waits.
    pub(super) fn fail(&mut self, now: Time, id: Id, pending: Pending<W>, error: Error) {
        match pending.owner {
            Owner::Caller(waiter) => {
                self.events.push_back(Event::Settled { id, waiter, outcome: Err(error) });
            }
            Owner::Discover => self.discover_failed(now, error),
            Owner::Initialize => self.initialize_failed(now, error),
            Owner::Relist { call, pages } => self.relisted(now, call, pages, None),
        }
    }

    /// Something came that may have been meant as the answer to any request in
    /// flight, or on a stream of its own to that one: each must hear something
    /// of its own within the grace.
    pub(super) fn suspect(&mut self, now: Time, on: &Stream, error: impl Fn(&Id, &str) -> Error) {
        let fails_at = now.saturating_add(self.options.grace);
        let mut any = false;
        for (id, pending) in &mut self.pending {
            if matches!(on, Stream::Request(only) if only != id) {
                continue;
            }
            if pending.suspicion.is_none()
                && (pending.deadline.is_some() || pending.waiter().is_none())
            {
                pending.suspicion = Some(Suspicion { fails_at, error: error(id, &pending.method) });
                any = true;
            }
        }
        if any {
            self.wake_by(fails_at);
        }
    }

    /// Tells the server that a request is given up, and remembers it, so that
    /// a late reply is known as such.
    ///
    /// Since 2026-07-28 closing a stream of its own says it
    /// (basic/patterns/cancellation); everywhere else a notification does.
    pub(super) fn tell_cancelled(&mut self, id: &Id, reason: Option<&str>) {
        while self.abandoned.len() >= REMEMBERED {
            self.abandoned.pop_front();
        }
        self.abandoned.push_back(id.clone());
        let modern = self.session.as_ref().is_some_and(|session| session.revision.is_modern());
        if !(modern && self.link == LinkKind::Streams) {
            self.send(notices::cancelled(id, reason));
        }
        self.abort(id);
    }

    /// Gives up the stream of a request, where it has one.
    pub(super) fn abort(&mut self, id: &Id) {
        if self.link == LinkKind::Streams {
            self.actions.push_back(Outgoing::Abort(Stream::Request(id.clone())));
        }
    }

    /// Why a reply that no request waits for came.
    pub(super) fn unclaimed(&mut self, id: &Id) -> Unclaimed {
        match self.abandoned.iter().position(|abandoned| abandoned == id) {
            Some(index) => {
                self.abandoned.remove(index);
                Unclaimed::Late
            }
            None if self.ids.has_given(id) => Unclaimed::Duplicate,
            None => Unclaimed::Foreign,
        }
    }
}

fn earlier(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

//! Requests in flight: their recipients, their deadlines, and the handling of
//! missed deadlines.

use std::borrow::Cow;
use std::time::Duration;

use sparring_wire::{Frame, Id, RawJson};

use super::header_retry::HeldResponse;
use super::lifecycle::Phase;
use super::{Core, Event, MAX_CANCELLED_IDS, Request, Time, UnclaimedReason};
use crate::cancellation::cancelled_notification;
use crate::client::error::Error;
use crate::link::{Faults, LinkKind, Outgoing, Stream};

/// A request in flight.
pub(super) struct PendingRequest<W> {
    pub(super) recipient: Recipient<W>,
    pub(super) method: Cow<'static, str>,
    /// The params as the caller gave them, to send the request again.
    pub(super) params: Option<RawJson>,
    pub(super) progress: bool,
    pub(super) timeout: Duration,
    /// True if the caller built the whole frame, so that only the caller can send
    /// it again.
    pub(super) raw: bool,
    /// The error response that caused a retry.
    pub(super) held_response: Option<Box<HeldResponse>>,
    /// The number of `input_required` responses.
    pub(super) rounds: u32,
    /// The deadline. None before the request is sent, and for an open
    /// subscription.
    deadline: Option<Time>,
    /// The number of reasons why the timeout is paused, and the time left after
    /// the pause.
    pause_count: u32,
    time_left_when_paused: Option<Duration>,
    deferred_failure: Option<DeferredFailure>,
}

/// The receiver of the response.
pub(super) enum Recipient<W> {
    Caller(W),
    Discover,
    Initialize,
    /// A call that waits for the list of tools, and the number of pages that may
    /// still follow.
    ToolsPage {
        call: Id,
        pages: u32,
    },
}

/// An error that fails the request unless its response arrives first.
struct DeferredFailure {
    fails_at: Time,
    error: Error,
}

impl<W> PendingRequest<W> {
    pub(super) fn new(recipient: Recipient<W>, request: Request, timeout: Duration) -> Self {
        PendingRequest {
            recipient,
            method: request.method,
            params: request.params,
            progress: request.progress,
            timeout,
            raw: false,
            held_response: None,
            rounds: 0,
            deadline: None,
            pause_count: 0,
            time_left_when_paused: None,
            deferred_failure: None,
        }
    }

    pub(super) fn waiter(&mut self) -> Option<&mut W> {
        match &mut self.recipient {
            Recipient::Caller(waiter) => Some(waiter),
            _ => None,
        }
    }

    pub(super) fn into_parts(self) -> (Recipient<W>, Cow<'static, str>) {
        (self.recipient, self.method)
    }

    /// Drops the deferred failure, because something arrived that belongs to this
    /// request.
    pub(super) fn clear_deferred_failure(&mut self) {
        self.deferred_failure = None;
    }

    /// Takes the error of the deferred failure, if there is one.
    pub(super) fn take_deferred_error(&mut self) -> Option<Error> {
        self.deferred_failure.take().map(|failure| failure.error)
    }

    /// Returns true if the request waits for a list of tools instead of its own
    /// stream.
    pub(super) fn is_listing_tools(&self) -> bool {
        self.held_response.as_ref().is_some_and(|held_response| held_response.listing)
    }

    /// Returns the time left until the deadline.
    pub(super) fn time_left(&self, now: Time) -> Duration {
        self.deadline.map_or(self.timeout, |deadline| deadline.saturating_sub(now))
    }

    /// Gives the request its full timeout again when it is sent again.
    pub(super) fn reset_deadline(&mut self) {
        self.deadline = None;
    }

    /// Removes the deadline: the request can take any time.
    pub(super) fn remove_deadline(&mut self) {
        self.deadline = None;
        self.deferred_failure = None;
    }

    /// Pauses the timeout until [`PendingRequest::resume`] was called as often.
    fn pause(&mut self, now: Time) {
        self.pause_count += 1;
        if let Some(deadline) = self.deadline.take() {
            self.time_left_when_paused = Some(deadline.saturating_sub(now));
        }
    }

    /// Ends one pause. Returns the new deadline if it was the last.
    fn resume(&mut self, now: Time) -> Option<Time> {
        self.pause_count = self.pause_count.saturating_sub(1);
        let left = self.time_left_when_paused.take_if(|_| self.pause_count == 0)?;
        self.deadline = Some(now.saturating_add(left));
        self.deadline
    }

    fn next_deadline(&self) -> Option<Time> {
        let fails_at = self.deferred_failure.as_ref().map(|failure| failure.fails_at);
        earliest(self.deadline, fails_at)
    }
}

impl<W> Core<W> {
    /// Sends a request and waits for its response.
    pub(super) fn send_request(&mut self, now: Time, id: Id, pending: PendingRequest<W>) {
        if !matches!(self.phase, Phase::Closed(_)) {
            let params = self.encode_params(&id, &pending);
            let frame = Frame::request(&id, &pending.method, params.as_deref());
            let headers = self.frame_headers(&frame);
            self.actions.push_back(Outgoing::Send {
                frame,
                stream: self.stream_for(&id),
                headers,
                faults: Faults::none(),
            });
        }
        self.track_request(now, id, pending);
    }

    pub(super) fn track_request(&mut self, now: Time, id: Id, mut pending: PendingRequest<W>) {
        if let Phase::Closed(cause) = &self.phase {
            let (recipient, method) = pending.into_parts();
            if let Recipient::Caller(waiter) = recipient {
                let outcome =
                    Err(Error::Closed { method: method.into_owned(), cause: cause.clone() });
                self.events.push_back(Event::Completed { id, waiter, outcome });
            }
            return;
        }
        // The lifecycle has one deadline for all its requests.
        if matches!(pending.recipient, Recipient::Caller(_) | Recipient::ToolsPage { .. }) {
            let deadline = pending.deadline.unwrap_or(now.saturating_add(pending.timeout));
            pending.deadline = Some(deadline);
            self.schedule_wake(deadline);
        }
        self.pending.insert(id, pending);
    }

    /// Pauses the timeout of the request that caused a server request, or of all
    /// requests in flight if the cause is unknown.
    pub(super) fn pause_for_server_request(&mut self, now: Time, request: &Id, stream: &Stream) {
        let is_paused = |id: &Id| match stream {
            Stream::Request(only) => only == id,
            Stream::Connection => true,
        };
        let mut paused = Vec::new();
        if self.options.pause_timeouts_while_answering {
            for (id, pending) in &mut self.pending {
                if is_paused(id) && matches!(pending.recipient, Recipient::Caller(_)) {
                    pending.pause(now);
                    paused.push(id.clone());
                }
            }
        }
        self.server_requests.insert(request.clone(), paused);
    }

    /// Removes a server request and ends its pauses. Returns true if it was being
    /// answered.
    pub(super) fn finish_server_request(&mut self, now: Time, request: &Id) -> bool {
        let Some(paused) = self.server_requests.remove(request) else { return false };
        for id in paused {
            let deadline = self.pending.get_mut(&id).and_then(|pending| pending.resume(now));
            if let Some(deadline) = deadline {
                self.schedule_wake(deadline);
            }
        }
        true
    }

    pub(super) fn stream_for(&self, id: &Id) -> Stream {
        match self.link {
            LinkKind::Shared => Stream::Connection,
            LinkKind::Streams => Stream::Request(id.clone()),
        }
    }

    pub(super) fn schedule_wake(&mut self, at: Time) {
        self.wake_at = earliest(self.wake_at, Some(at));
    }

    /// Handles all deadlines up to `now`.
    pub fn tick(&mut self, now: Time) {
        if self.wake_at.is_none_or(|at| at > now) {
            return;
        }
        self.wake_at = None;
        let due = |pending: &PendingRequest<W>| pending.next_deadline().is_some_and(|at| at <= now);
        let overdue: Vec<Id> =
            self.pending.iter().filter(|(_, p)| due(p)).map(|(id, _)| id.clone()).collect();
        for id in overdue {
            self.handle_overdue(now, &id);
        }
        self.lifecycle_tick(now);
        self.fail_overdue_rounds(now);
        let next = self.pending.values().filter_map(PendingRequest::next_deadline).min();
        let all = [self.wake_at, next, self.input_deadline(), self.lifecycle_deadline()];
        self.wake_at = all.into_iter().flatten().min();
    }

    fn handle_overdue(&mut self, now: Time, id: &Id) {
        let Some(mut pending) = self.pending.remove(id) else { return };
        if pending.is_listing_tools() {
            return self.deliver_held_response(id.clone(), pending);
        }
        let error = match pending.deferred_failure.take() {
            Some(failure) if failure.fails_at <= now => failure.error,
            _ => Error::Timeout { method: pending.method.to_string(), after: pending.timeout },
        };
        if matches!(pending.recipient, Recipient::Caller(_) | Recipient::ToolsPage { .. }) {
            self.send_cancelled(id, Some(&error.to_string()));
        }
        self.fail_request(now, id.clone(), pending, error);
    }

    /// Delivers an error to the recipient of a request.
    pub(super) fn fail_request(
        &mut self,
        now: Time,
        id: Id,
        pending: PendingRequest<W>,
        error: Error,
    ) {
        match pending.recipient {
            Recipient::Caller(waiter) => {
                self.events.push_back(Event::Completed { id, waiter, outcome: Err(error) });
            }
            Recipient::Discover => self.handle_discover_failure(now, error),
            Recipient::Initialize => self.handle_initialize_failure(now, error),
            Recipient::ToolsPage { call, pages } => self.handle_tools_page(now, call, pages, None),
        }
    }

    /// Defers a failure, because something arrived that may be a broken response
    /// to a request in flight: on a request's own stream to that request,
    /// otherwise to any. Each fails after the grace period unless its own
    /// response arrives.
    pub(super) fn defer_failure(
        &mut self,
        now: Time,
        on: &Stream,
        error: impl Fn(&Id, &str) -> Error,
    ) {
        let fails_at = now.saturating_add(self.options.grace_period);
        let mut any = false;
        for (id, pending) in &mut self.pending {
            if matches!(on, Stream::Request(only) if only != id) {
                continue;
            }
            if pending.deferred_failure.is_none()
                && (pending.deadline.is_some() || pending.waiter().is_none())
            {
                pending.deferred_failure =
                    Some(DeferredFailure { fails_at, error: error(id, &pending.method) });
                any = true;
            }
        }
        if any {
            self.schedule_wake(fails_at);
        }
    }

    /// Cancels a request at the server, and remembers its id to recognize a late
    /// response.
    ///
    /// Since 2026-07-28 closing the request's own stream cancels it
    /// (basic/patterns/cancellation); otherwise a notification does.
    pub(super) fn send_cancelled(&mut self, id: &Id, reason: Option<&str>) {
        while self.cancelled.len() >= MAX_CANCELLED_IDS {
            self.cancelled.pop_front();
        }
        self.cancelled.push_back(id.clone());
        let modern = self.session.as_ref().is_some_and(|session| session.revision.is_modern());
        if !(modern && self.link == LinkKind::Streams) {
            self.send(cancelled_notification(id, reason));
        }
        self.abort_stream(id);
    }

    /// Aborts the stream of a request, on links with streams.
    pub(super) fn abort_stream(&mut self, id: &Id) {
        if self.link == LinkKind::Streams {
            self.actions.push_back(Outgoing::Abort(Stream::Request(id.clone())));
        }
    }

    /// Returns the reason why a response matches no request in flight.
    pub(super) fn classify_unclaimed(&mut self, id: &Id) -> UnclaimedReason {
        match self.cancelled.iter().position(|cancelled| cancelled == id) {
            Some(index) => {
                self.cancelled.remove(index);
                UnclaimedReason::Late
            }
            None if self.ids.has_generated(id) => UnclaimedReason::Duplicate,
            None => UnclaimedReason::Foreign,
        }
    }
}

fn earliest(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

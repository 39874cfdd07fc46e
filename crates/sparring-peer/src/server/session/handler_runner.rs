//! Runs handlers: starts them for requests, polls them, and forwards the messages
//! they send.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use sparring_wire::ErrorObject;
use tokio::sync::oneshot;

use super::pending_handlers::FinishedRequest;
use super::serve_loop::TOO_SLOW;
use super::{ClientResult, Connection, MAX_BATCH_STARTS_PER_POLL};
use crate::link::Outgoing;
use crate::server::context::Context;
use crate::server::core::{Event, HandlerRequest};
use crate::server::message_queue::HandlerMessage;

impl Connection {
    /// Starts and polls handlers and forwards their messages. Returns true if
    /// anything happened.
    pub(super) fn make_progress(&mut self, cx: &mut TaskContext<'_>) -> bool {
        self.process_events() | self.poll_handlers(cx) | self.process_messages(cx)
    }

    /// Handles the core's events. Returns true if there were any.
    pub(super) fn process_events(&mut self) -> bool {
        let mut busy = false;
        while let Some(event) = self.core.poll_event() {
            self.handle_event(event);
            busy = true;
        }
        busy
    }

    /// Polls waiting handlers, and starts requests of batches. Returns true if any handler has
    /// started or finished.
    pub(super) fn poll_handlers(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let mut any = self.finish_handlers(cx);
        for _ in 0..MAX_BATCH_STARTS_PER_POLL {
            let Some(request) = self.batches.start_next() else { return any };
            self.start_handler(request);
            // The end of input leaves each of them the same time.
            self.reset_drain_deadline();
            self.finish_handlers(cx);
            any = true;
        }
        if self.batches.can_start() {
            cx.waker().wake_by_ref();
        }
        any
    }

    /// Answers the requests whose handlers have finished. Returns true if there were any.
    fn finish_handlers(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let mut any = false;
        while let Some(finished) = self.handlers.poll_finished(cx) {
            self.finish_request(finished);
            any = true;
        }
        any
    }

    /// Forwards messages of handlers and change notifications, and polls the
    /// timer. Returns true if there may be more to do.
    pub(super) fn process_messages(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let is_full = self.is_backlog_full();
        let mut busy = !is_full && self.poll_handler_messages(cx);
        if self.changes.is_none() && self.core.wants_changes() {
            self.changes = Some(self.shared.sessions.add_session());
        }
        self.notifications_delayed = is_full;
        while !is_full
            && let Some(changes) = &self.changes
            && let Poll::Ready(queued) = changes.poll_next(cx)
        {
            let change = &queued.change;
            if change.capability.is_none_or(|capability| self.core.declares(capability)) {
                let lists = change.lists.as_deref();
                self.core.broadcast(&change.frame, lists);
            }
            busy = true;
        }
        if let Some(uris) = self.core.take_changed_uris() {
            self.session_uris
                .get_or_insert_with(|| self.shared.subscribed_uris.add_session())
                .set(uris);
        }
        if let Some(level) = self.core.take_changed_log_level() {
            self.session_log_level
                .get_or_insert_with(|| self.shared.log_levels.add_session())
                .set(level);
        }
        if self.timer.poll(self.core.wake_at(), cx).is_ready() {
            let now = self.timer.now();
            self.core.tick(now);
            busy = true;
        }
        busy
    }

    fn handle_event(&mut self, event: Event<oneshot::Sender<ClientResult>>) {
        match event {
            Event::Request(request) if request.is_in_batch => self.batches.add(request),
            Event::Request(request) => self.start_handler(request),
            Event::Answered(request, answer) => {
                let context = Context::new(request, self.origin, self.messages.sender());
                let answer = answer.map(Into::into);
                // The response is sent already; the panic hook has printed the panic.
                let observe = AssertUnwindSafe(|| self.shared.handler.answered(&context, &answer));
                let _ = std::panic::catch_unwind(observe);
            }
            Event::Cancelled(key) => {
                self.handlers.cancel(key);
                self.batches.cancel(key);
            }
            Event::Notification(frame) => {
                let handler = &self.shared.handler;
                let (method, params) = (frame.method().unwrap_or_default(), frame.params());
                // A notification has no response that could report the panic; the
                // panic hook has printed it.
                let notify = AssertUnwindSafe(|| handler.notified(method, params));
                let _ = std::panic::catch_unwind(notify);
            }
            Event::ClientResponse { waiter, outcome } => {
                // A cancelled handler no longer waits.
                let _ = waiter.send(outcome);
            }
            Event::Closed(_) => {}
        }
    }

    /// Starts the handler of a request. It may finish at once.
    fn start_handler(&mut self, request: HandlerRequest) {
        let (id, key) = (request.id.clone(), request.key);
        let context = Context::new(request, self.origin, self.messages.sender());
        let future = Arc::clone(&self.shared.handler).serve(context);
        if let Some(finished) = self.handlers.start(id, key, future) {
            self.finish_request(finished);
        }
    }

    /// Answers a request, after forwarding all messages that its handler has
    /// sent.
    fn finish_request(&mut self, finished: FinishedRequest) {
        self.forward_queued_messages();
        self.batches.finish(finished.key);
        self.core.finish(&finished.id, finished.key, finished.outcome);
    }

    /// Forwards the messages that handlers have sent so far.
    fn forward_queued_messages(&mut self) -> bool {
        let mut busy = false;
        // Taken outside of tokio's budget, which may be used up, because messages
        // must be sent before the response that follows them.
        for _ in 0..self.messages.len() {
            let Some(message) = self.messages.try_next() else { break };
            self.forward_message(message);
            busy = true;
        }
        busy
    }

    /// Forwards messages of handlers, and registers this task for more.
    fn poll_handler_messages(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let mut busy = self.forward_queued_messages();
        if let Poll::Ready(message) = self.messages.poll_next(cx) {
            self.forward_message(message);
            busy = true;
        }
        busy
    }

    fn forward_message(&mut self, message: HandlerMessage) {
        match message {
            HandlerMessage::Progress(id, params) => {
                self.core.notify_for_request(&id, "notifications/progress", Some(&params));
            }
            HandlerMessage::Log(id, level, params) => {
                self.core.log_for_request(&id, level, &params)
            }
            HandlerMessage::Notify(id, method, params) => {
                self.core.notify_for_request(&id, &method, params.as_ref());
            }
            HandlerMessage::CloseStream(id) => self.core.close_stream(&id),
            HandlerMessage::Faults(id, faults) => self.core.set_faults(&id, faults),
            HandlerMessage::Ask(id, method, params, waiter) if self.link.is_some() => {
                let deadline = self.timer.now() + self.ask_timeout;
                self.core.ask(deadline, &id, method, &params, waiter);
            }
            HandlerMessage::Ask(_, method, _, waiter) => {
                let error = format!("cannot send {method}: the session has no link");
                let _ = waiter.send(Err(ErrorObject::internal(error)));
            }
        }
    }

    /// Returns the reason to end the session if its client reads too slowly.
    pub(in crate::server) fn unread_overflow(
        &mut self,
        cx: &mut TaskContext<'_>,
    ) -> Option<&'static str> {
        let changes = self.changes.as_ref().is_some_and(|changes| changes.poll_overflowed(cx));
        let overflowed = changes || self.messages.has_overflowed();
        overflowed.then_some(TOO_SLOW)
    }

    /// Sends the core's actions to the link. Returns true if there were any.
    pub(super) fn send_actions(&mut self) -> bool {
        let mut any = false;
        while let Some(action) = self.poll_action() {
            self.send_to_link(action);
            any = true;
        }
        any
    }

    pub(super) fn send_to_link(&mut self, action: Outgoing) {
        let Some(link) = &mut self.link else { return };
        let before = link.backlog();
        link.send(action);
        if let Some((_, unread)) = &mut self.full_backlog {
            *unread += link.backlog().saturating_sub(before);
        }
    }

    pub(super) fn poll_flush(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        self.link.as_mut().map_or(Poll::Ready(()), |link| link.poll_flush(cx))
    }
}

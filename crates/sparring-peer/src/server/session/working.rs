//! Runs the handler: starts it for what has come in, lets it go on, and passes
//! on what it says.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::Stream as _;
use sparring_wire::{ErrorObject, Id};
use tokio::sync::oneshot;

use super::{Connection, Outcome};
use crate::link::{FULL, Outgoing};
use crate::server::context::{Context, Said};
use crate::server::core::{Call, Event};
use crate::server::dispatch::Serving;

impl Connection {
    /// Starts handlers and lets them go on, and passes on what they say; says
    /// whether anything happened.
    pub(super) fn work(&mut self, cx: &mut TaskContext<'_>) -> bool {
        self.take_events(cx) | self.carry_on(cx)
    }

    /// Starts handlers for what has come in; says whether anything has.
    pub(super) fn take_events(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let mut busy = false;
        while let Some(event) = self.core.poll_event() {
            self.event(event, cx);
            busy = true;
        }
        busy
    }

    /// Lets what runs go on until it waits; says whether anything happened.
    pub(super) fn carry_on(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let mut busy = false;
        while let Poll::Ready(Some(done)) = Pin::new(&mut self.serving).poll_next(cx) {
            self.hear_said();
            self.abort.remove(&done.key);
            if let Some(outcome) = done.outcome {
                self.core.finish(&done.id, done.key, outcome);
            }
            busy = true;
        }
        busy |= self.hear(cx);
        let is_full = self.link.as_ref().is_some_and(|link| link.backlog() >= FULL);
        if self.changes.is_none() && self.core.heeds_changes() {
            self.changes = Some(self.shared.sessions.join());
        }
        while !is_full
            && let Some(changes) = &mut self.changes
            && let Poll::Ready(Some(change)) = changes.poll_recv(cx)
        {
            if change.declared.is_none_or(|capability| self.core.declares(capability)) {
                self.core.broadcast(&change.method, change.params.as_ref());
            }
            busy = true;
        }
        if let Some(uris) = self.core.other_uris() {
            self.interest.get_or_insert_with(|| self.shared.interests.join()).set(uris);
        }
        if let Some(level) = self.core.other_level() {
            self.level.get_or_insert_with(|| self.shared.levels.join()).set(level);
        }
        if self.timer.poll(self.core.wake_at(), cx).is_ready() {
            let now = self.timer.now();
            self.core.tick(now);
            busy = true;
        }
        busy
    }

    fn event(&mut self, event: Event<oneshot::Sender<Outcome>>, cx: &mut TaskContext<'_>) {
        match event {
            Event::Call(call) => self.call(call, cx),
            Event::Cancelled(key) => {
                if let Some(abort) = self.abort.remove(&key) {
                    abort.abort();
                }
            }
            Event::Notification(frame) => {
                let handler = &self.shared.handler;
                let (method, params) = (frame.method().unwrap_or_default(), frame.params());
                // There is no answer that could say so; the panic's own words did.
                let notify = AssertUnwindSafe(|| handler.notified(method, params));
                let _ = std::panic::catch_unwind(notify);
            }
            Event::Answered { waiter, outcome } => {
                // A handler that was cancelled does not wait any more.
                let _ = waiter.send(outcome);
            }
            Event::Closed(_) => {}
        }
    }

    /// Runs the handler. Most answer at once, and then need no place in the
    /// set of those being served.
    fn call(&mut self, call: Call, cx: &mut TaskContext<'_>) {
        let (id, key) = (call.id.clone(), call.key);
        let context = Context::new(call, self.origin, self.outbox.clone());
        let mut serving = Arc::clone(&self.shared.handler).serve(context);
        match serving.as_mut().poll(cx) {
            Poll::Ready(outcome) => {
                self.hear_said();
                self.core.finish(&id, key, outcome);
            }
            Poll::Pending => {
                let (handle, registration) = AbortHandle::new_pair();
                self.abort.insert(key, handle);
                self.serving.push(Job { id, key, serving: Abortable::new(serving, registration) });
            }
        }
    }

    /// Passes on what handlers have said up to now, before their answers.
    fn hear_said(&mut self) -> bool {
        let mut busy = false;
        // Taken without tokio's budget, which may be used up: what was said
        // before an answer must go out before it.
        for _ in 0..self.said.len() {
            let Ok(said) = self.said.try_recv() else { break };
            self.pass_on(said);
            busy = true;
        }
        busy
    }

    /// Passes on what they say, and wakes this task when they say more.
    fn hear(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let mut busy = self.hear_said();
        if let Poll::Ready(Some(said)) = self.said.poll_recv(cx) {
            self.pass_on(said);
            busy = true;
        }
        busy
    }

    fn pass_on(&mut self, said: Said) {
        match said {
            Said::Progress(id, params) => {
                self.core.notify_with(&id, "notifications/progress", Some(&params));
            }
            Said::Log(id, level, params) => self.core.log_with(&id, level, &params),
            Said::Notify(id, method, params) => {
                self.core.notify_with(&id, &method, params.as_ref());
            }
            Said::BreakOff(id) => self.core.break_off(&id),
            Said::Faults(id, faults) => self.core.fail_with(&id, faults),
            Said::Ask(id, method, params, waiter) if self.link.is_some() => {
                let deadline = self.timer.now() + self.ask_timeout;
                self.core.ask(deadline, &id, method, &params, waiter);
            }
            Said::Ask(_, method, _, waiter) => {
                let error = format!("{method} needs a link to the client");
                let _ = waiter.send(Err(ErrorObject::internal(error)));
            }
        }
    }

    pub(super) fn give_out(&mut self) {
        while let Some(action) = self.core.poll_action() {
            self.forward(action);
        }
    }

    pub(super) fn forward(&mut self, action: Outgoing) {
        let Some(link) = &mut self.link else { return };
        let before = link.backlog();
        link.send(action);
        if let Some((_, unread)) = &mut self.full {
            *unread += link.backlog().saturating_sub(before);
        }
    }

    pub(super) fn poll_flush(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        self.link.as_mut().map_or(Poll::Ready(()), |link| link.poll_flush(cx))
    }
}

/// One request being served.
pub(super) struct Job {
    id: Id,
    key: u64,
    serving: Abortable<Serving>,
}

/// A request that was served; without an outcome, it was cancelled.
pub(super) struct Done {
    id: Id,
    key: u64,
    outcome: Option<Outcome>,
}

impl Future for Job {
    type Output = Done;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Done> {
        let outcome = std::task::ready!(Pin::new(&mut self.serving).poll(cx)).ok();
        Poll::Ready(Done { id: self.id.clone(), key: self.key, outcome })
    }
}

//! Runs the handler: starts it for what has come in, lets it go on, and passes
//! on what it says.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use sparring_wire::ErrorObject;
use tokio::sync::oneshot;

use super::jobs::Done;
use super::{Connection, Outcome};
use crate::link::Outgoing;
use crate::server::context::{Context, Said};
use crate::server::core::{Call, Event};

impl Connection {
    /// Starts handlers and lets them go on, and passes on what they say; says
    /// whether anything happened.
    pub(super) fn work(&mut self, cx: &mut TaskContext<'_>) -> bool {
        self.take_events() | self.finish(cx) | self.carry_on(cx)
    }

    /// Starts handlers for what has come in; says whether anything has.
    pub(super) fn take_events(&mut self) -> bool {
        let mut busy = false;
        while let Some(event) = self.core.poll_event() {
            self.event(event);
            busy = true;
        }
        busy
    }

    /// Lets handlers go on that have waited; says whether one has come to its end.
    pub(super) fn finish(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let mut any = false;
        while let Some(done) = self.jobs.next(cx) {
            self.done(done);
            any = true;
        }
        any
    }

    /// Passes on what is said, and looks at the clock; says whether there may be
    /// more to do.
    pub(super) fn carry_on(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let mut busy = self.hear(cx);
        let is_full = self.is_full();
        if self.changes.is_none() && self.core.heeds_changes() {
            self.changes = Some(self.shared.sessions.join());
        }
        self.held_back = is_full && self.changes.is_some();
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

    fn event(&mut self, event: Event<oneshot::Sender<Outcome>>) {
        match event {
            Event::Call(call) => self.call(call),
            Event::Cancelled(key) => self.jobs.cancel(key),
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

    /// Runs the handler, which may answer at once.
    fn call(&mut self, call: Call) {
        let (id, key) = (call.id.clone(), call.key);
        let context = Context::new(call, self.origin, Arc::clone(&self.outbox));
        let serving = Arc::clone(&self.shared.handler).serve(context);
        if let Some(done) = self.jobs.begin(id, key, serving) {
            self.done(done);
        }
    }

    /// Answers a request, after all that was said before.
    fn done(&mut self, done: Done) {
        self.hear_said();
        self.core.finish(&done.id, done.key, done.outcome);
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

    /// Gives the link what it is to send; says whether there was anything.
    pub(super) fn give_out(&mut self) -> bool {
        let mut any = false;
        while let Some(action) = self.core.poll_action() {
            self.forward(action);
            any = true;
        }
        any
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

//! A session served until its end, or until it has served enough.

use std::future::poll_fn;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use super::{Connection, ROUNDS};
use crate::link::{AT_ONCE, Cause, FULL, Incoming, Outgoing};
use crate::server::NoLink;
use crate::server::intake::Wanted;

/// How long what is in flight may still take after the end of input.
const DRAIN: Duration = Duration::from_secs(5);

impl Connection {
    pub(super) async fn serve(mut self) -> Result<Cause, NoLink> {
        if self.link.is_none() {
            return Err(NoLink);
        }
        self.begin();
        Ok(poll_fn(|cx| self.poll_serve(cx, None)).await)
    }

    pub(super) async fn serve_requests(&mut self, count: u64) -> Result<Cause, NoLink> {
        if self.link.is_none() {
            return Err(NoLink);
        }
        self.begin();
        let until = self.core.received() + count;
        Ok(poll_fn(|cx| self.poll_serve(cx, Some(until))).await)
    }

    /// Serving begins anew: what the end of input left, gets its time.
    fn begin(&mut self) {
        self.timer.renew();
        if self.ended.is_some() {
            self.drained_by = Some(self.timer.now() + DRAIN);
        }
    }

    /// Ends in good order: subscriptions are told, then the link is closed.
    pub(in crate::server) async fn shut_down(&mut self) {
        self.core.end_subscriptions();
        self.give_out();
        let Some(link) = &mut self.link else { return };
        link.send(Outgoing::Close);
        // A client that does not read is not waited for.
        let within = link.closing_time();
        let _ = tokio::time::timeout(within, poll_fn(|cx| self.poll_flush(cx))).await;
    }

    pub(in crate::server) fn poll_serve(
        &mut self,
        cx: &mut TaskContext<'_>,
        until: Option<u64>,
    ) -> Poll<Cause> {
        for _ in 0..ROUNDS {
            self.timer.renew();
            let enough = until.is_some_and(|until| self.core.received() >= until);
            let wanted = if enough { Wanted::NoRequests } else { Wanted::All };
            let read = self.read_until(cx, wanted, until);
            self.take_events();
            self.finish(cx);
            let more = self.carry_on(cx);
            let gave = self.give_out();
            let flushed = self.poll_flush(cx).is_ready();
            let done = flushed && self.core.is_idle();
            if enough && done {
                return Poll::Ready(Cause::ByUs);
            }
            if let Some(cause) = self.ended.clone()
                && (enough || !self.intake.holds())
                && (done || self.timer.poll(self.drained_by, cx).is_ready())
            {
                return Poll::Ready(cause);
            }
            if self.is_stuck(cx) {
                return Poll::Ready(Cause::Broken("the client does not read".to_owned()));
            }
            // Once more where a link was written to, now or since it was looked at
            // last, which may have room again or say that it broke or ended; and where
            // it may have more. All else that has nothing new by now has been asked,
            // and wakes this task when it has.
            let wrote = std::mem::replace(&mut self.writing, !flushed) || gave;
            let heard = (wrote || !read.dry) && self.read_until(cx, wanted, until).any;
            let counted = read.any && until.is_some();
            let freed = self.held_back && !self.is_full();
            if !(heard || more || freed || counted || self.core.has_events()) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    pub(super) fn is_full(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.backlog() >= FULL)
    }

    /// Whether the link has been full for long, and nothing of it was read.
    fn is_stuck(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let backlog = self.link.as_ref().map_or(0, |link| link.backlog());
        if backlog < FULL {
            self.full = None;
            return false;
        }
        let now = self.timer.now();
        let until = match self.full {
            Some((until, unread)) if unread <= backlog => until,
            _ => now + DRAIN,
        };
        self.full = Some((until, backlog));
        self.timer.poll(Some(until), cx).is_ready()
    }

    /// Takes in what the link has, as long as its answers are read as well;
    /// says whether it had anything.
    pub(super) fn read(&mut self, cx: &mut TaskContext<'_>, wanted: Wanted) -> bool {
        self.read_until(cx, wanted, None).any
    }

    fn read_until(&mut self, cx: &mut TaskContext<'_>, wanted: Wanted, until: Option<u64>) -> Read {
        let mut read = Read { any: false, dry: false };
        for _ in 0..AT_ONCE {
            let Some(link) = &mut self.link else { break };
            let over = self.ended.is_some() && !(wanted == Wanted::All && self.intake.holds());
            let enough =
                wanted == Wanted::All && until.is_some_and(|until| self.core.received() >= until);
            if over || enough || link.backlog() >= FULL {
                break;
            }
            if wanted == Wanted::NoRequests && self.intake.is_full() {
                self.core.fail_asks("too much came before the answer");
                break;
            }
            let Poll::Ready(incoming) = self.intake.poll(&mut **link, wanted, cx) else {
                // A full intake has not asked the link.
                read.dry = !self.intake.is_full();
                break;
            };
            if let Incoming::Closed(cause) = &incoming {
                self.ended = Some(cause.clone());
                self.drained_by = Some(self.timer.now() + DRAIN);
            }
            self.keep_up();
            self.core.receive(incoming);
            read.any = true;
        }
        read
    }
}

/// What came of reading.
struct Read {
    /// Whether there was anything.
    any: bool,
    /// Whether there is no more, so that the link wakes this task when there is.
    dry: bool,
}

//! Serves a session until the end of input, or until it has served a number of
//! requests.

use std::future::poll_fn;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use super::{Connection, MAX_ITERATIONS_PER_POLL};
use crate::link::{BACKLOG_LIMIT, Cause, Incoming, MAX_FRAMES_PER_POLL, Outgoing};
use crate::server::NoLink;
use crate::server::incoming_queue::ReceiveMode;

/// The reasons to end a session whose client does not read.
pub(super) const STALLED: &str = "the client stopped reading";
pub(super) const TOO_SLOW: &str = "the client reads too slowly: too many bytes wait for it";

/// Returns true if a session ended because its client does not read.
pub fn client_stopped_reading(cause: &Cause) -> bool {
    matches!(cause, Cause::Broken(why) if why == STALLED || why == TOO_SLOW)
}

/// The maximum time for requests in flight after the end of input.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum time without a read while the backlog of a client is full.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of bytes that wait for the clients of all sessions above which a client whose
/// backlog is full must read sooner, and its time.
const MAX_UNREAD_BYTES: usize = 256 * 1024 * 1024;
const CROWDED_DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

impl Connection {
    pub(super) async fn serve(mut self) -> Result<Cause, NoLink> {
        if self.link.is_none() {
            return Err(NoLink);
        }
        self.reset_drain_deadline();
        Ok(poll_fn(|cx| self.poll_serve(cx, None)).await)
    }

    pub(super) async fn serve_requests(&mut self, count: u64) -> Result<Cause, NoLink> {
        if self.link.is_none() {
            return Err(NoLink);
        }
        self.reset_drain_deadline();
        let until = self.core.received_count() + count;
        Ok(poll_fn(|cx| self.poll_serve(cx, Some(until))).await)
    }

    /// Restarts the time for requests in flight if the input has already ended.
    pub(super) fn reset_drain_deadline(&mut self) {
        self.timer.refresh();
        if self.close_cause.is_some() {
            self.drain_deadline = Some(self.timer.now() + DRAIN_TIMEOUT);
        }
    }

    /// Ends subscriptions, then closes the link.
    pub(in crate::server) async fn shut_down(&mut self) {
        self.core.end_subscriptions();
        self.send_actions();
        let Some(link) = &mut self.link else { return };
        link.send(Outgoing::Close);
        // The timeout covers clients that do not read.
        let within = link.info().close_timeout;
        let _ = tokio::time::timeout(within, poll_fn(|cx| self.poll_flush(cx))).await;
    }

    pub(in crate::server) fn poll_serve(
        &mut self,
        cx: &mut TaskContext<'_>,
        until: Option<u64>,
    ) -> Poll<Cause> {
        for _ in 0..MAX_ITERATIONS_PER_POLL {
            self.timer.refresh();
            let enough = until.is_some_and(|until| self.core.received_count() >= until);
            let mode = if enough { ReceiveMode::NoRequests } else { ReceiveMode::All };
            let read = self.receive_until(cx, mode, until);
            self.process_events();
            self.poll_handlers(cx);
            let more = self.process_messages(cx);
            let sent = self.send_actions();
            let flushed = self.poll_flush(cx).is_ready();
            let done = flushed && self.core.is_idle();
            if enough && done {
                return Poll::Ready(Cause::ClosedLocally);
            }
            if let Some(cause) = self.close_cause.clone()
                && (enough || !self.incoming.has_held())
                && (done || self.timer.poll(self.drain_deadline, cx).is_ready())
            {
                return Poll::Ready(cause);
            }
            if let Some(reason) = self.unread_overflow(cx) {
                return Poll::Ready(Cause::Broken(reason.to_owned()));
            }
            if self.is_stalled(cx) {
                return Poll::Ready(Cause::Broken(STALLED.to_owned()));
            }
            // Receives again if something was written since the last look at the
            // link, because the link may have room again or report that it broke
            // or ended, and if the link may have more. All other sources have
            // been polled by now and wake this task.
            let wrote = std::mem::replace(&mut self.flush_pending, !flushed) || sent;
            let received = (wrote || !read.exhausted) && self.receive_until(cx, mode, until).any;
            let counted = read.any && until.is_some();
            let has_room = self.notifications_delayed && !self.is_backlog_full();
            if !(received || more || has_room || counted || self.core.has_events()) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    pub(super) fn is_backlog_full(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.backlog() >= BACKLOG_LIMIT)
    }

    /// Returns true if the backlog has been full for too long without any
    /// progress.
    fn is_stalled(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let backlog = self.link.as_ref().map_or(0, |link| link.backlog());
        let total = self.unread_bytes.set(backlog);
        if backlog < BACKLOG_LIMIT {
            self.full_backlog = None;
            return false;
        }
        let now = self.timer.now();
        let within = self.shared.write_timeout.get().copied().unwrap_or(WRITE_TIMEOUT);
        let until = match self.full_backlog {
            Some((until, unread)) if unread <= backlog => until,
            _ if total > MAX_UNREAD_BYTES => now + within.min(CROWDED_DRAIN_TIMEOUT),
            _ => now + within,
        };
        self.full_backlog = Some((until, backlog));
        self.timer.poll(Some(until), cx).is_ready()
    }

    /// Receives the available events while the link's backlog has room. Returns
    /// true if there were any.
    pub(super) fn receive_available(
        &mut self,
        cx: &mut TaskContext<'_>,
        mode: ReceiveMode,
    ) -> bool {
        self.receive_until(cx, mode, None).any
    }

    fn receive_until(
        &mut self,
        cx: &mut TaskContext<'_>,
        mode: ReceiveMode,
        until: Option<u64>,
    ) -> ReceiveOutcome {
        let mut read = ReceiveOutcome { any: false, exhausted: false };
        for _ in 0..MAX_FRAMES_PER_POLL {
            let Some(link) = &mut self.link else { break };
            let over = self.close_cause.is_some()
                && !(mode == ReceiveMode::All && self.incoming.has_held());
            let enough = mode == ReceiveMode::All
                && until.is_some_and(|until| self.core.received_count() >= until);
            if over || enough || link.backlog() >= BACKLOG_LIMIT {
                break;
            }
            if mode == ReceiveMode::NoRequests && self.incoming.is_full() {
                self.core
                    .fail_outgoing_requests("too many messages arrived before the client's answer");
                break;
            }
            let Poll::Ready(incoming) = self.incoming.poll_receive(&mut **link, mode, cx) else {
                // A full queue has not polled the link.
                read.exhausted = !self.incoming.is_full();
                break;
            };
            if let Incoming::Closed(cause) = &incoming {
                self.close_cause = Some(cause.clone());
                self.drain_deadline = Some(self.timer.now() + DRAIN_TIMEOUT);
            }
            self.refresh_description();
            self.core.receive(incoming);
            read.any = true;
        }
        read
    }
}

/// The outcome of receiving.
struct ReceiveOutcome {
    /// True if anything arrived.
    any: bool,
    /// True if the link has no more, so that it wakes this task for the next
    /// event.
    exhausted: bool,
}

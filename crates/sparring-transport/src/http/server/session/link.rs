//! The link of a session that the peer uses, over all its connections.

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use sparring_peer::Link;
use sparring_peer::link::{Cause, Incoming, LinkInfo, LinkKind, Outgoing, Recorder};
use tokio::time::{Instant, Sleep};

use super::registry::{Registry, SessionId};
use super::session_state::Session;

/// The link of one session. Dropping it ends the session.
#[derive(Debug)]
pub(in crate::http::server) struct SessionLink {
    session: Arc<Session>,
    id: SessionId,
    registry: Weak<Registry>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl SessionLink {
    pub(in crate::http::server) fn new(
        session: Arc<Session>,
        id: SessionId,
        registry: &Arc<Registry>,
    ) -> Self {
        SessionLink { session, id, registry: Arc::downgrade(registry), timer: None }
    }

    /// Ready when the session was unused for too long.
    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let idle = self.session.limits.idle;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(idle)));
        // The timer is only reset after it has fired.
        while timer.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            let due = self.session.unused_since().map_or(now + idle, |since| since + idle);
            if due <= now {
                return Poll::Ready(());
            }
            timer.as_mut().reset(due);
        }
        Poll::Pending
    }
}

impl Link for SessionLink {
    fn info(&self) -> LinkInfo {
        let kind = self.session.kind();
        let transport_name = match kind {
            LinkKind::Streams => "http",
            LinkKind::Shared => "sse",
        };
        LinkInfo::new(kind, transport_name)
    }

    fn set_recorder(&mut self, recorder: Recorder) {
        self.session.record_to(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        let ends = matches!(&outgoing, Outgoing::Send { faults, .. }
            if faults.get().is_some_and(|fault| fault.end_session));
        self.session.route(outgoing);
        // The session cannot be found any more; running requests are still answered.
        if let Some(registry) = self.registry.upgrade().filter(|_| ends) {
            drop(registry.remove(&self.id));
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.session.wait_for_room(cx);
        Poll::Ready(())
    }

    fn backlog(&self) -> usize {
        self.session.backlog()
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if let Poll::Ready(incoming) = self.session.poll_take(cx) {
            return Poll::Ready(incoming);
        }
        self.poll_idle(cx).map(|()| {
            self.session.close();
            Incoming::Closed(Cause::Broken("the session was unused for too long".to_owned()))
        })
    }
}

impl Drop for SessionLink {
    fn drop(&mut self) {
        self.session.close();
        if let Some(registry) = self.registry.upgrade() {
            drop(registry.remove(&self.id));
        }
    }
}

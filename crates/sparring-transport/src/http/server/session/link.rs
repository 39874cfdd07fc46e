//! What a peer sees of a session: one link, whichever connections carry it.

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use sparring_peer::Link;
use sparring_peer::link::{Cause, Incoming, LinkKind, Outgoing, Recorder};
use tokio::time::{Instant, Sleep};

use super::hub::Hub;
use super::registry::{Registry, SessionId};

/// The link of one session. When the peer lets go of it, the session is over.
#[derive(Debug)]
pub(in crate::http::server) struct SessionLink {
    hub: Arc<Hub>,
    id: SessionId,
    registry: Weak<Registry>,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl SessionLink {
    pub(in crate::http::server) fn new(
        hub: Arc<Hub>,
        id: SessionId,
        registry: &Arc<Registry>,
    ) -> Self {
        SessionLink { hub, id, registry: Arc::downgrade(registry), alarm: None }
    }

    /// Ready when the session was unused for too long.
    fn poll_unused(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let idle = self.hub.limits.idle;
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep(idle)));
        // The alarm is only set anew when it has gone off.
        while alarm.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            let due = self.hub.unused_since().map_or(now + idle, |since| since + idle);
            if due <= now {
                return Poll::Ready(());
            }
            alarm.as_mut().reset(due);
        }
        Poll::Pending
    }
}

impl Link for SessionLink {
    fn kind(&self) -> LinkKind {
        self.hub.kind()
    }

    fn transport(&self) -> &'static str {
        match self.hub.kind() {
            LinkKind::Streams => "http",
            LinkKind::Shared => "sse",
        }
    }

    fn record_to(&mut self, recorder: Recorder) {
        self.hub.record_to(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        let ends = matches!(&outgoing, Outgoing::Send { faults, .. }
            if faults.get().is_some_and(|fault| fault.end_session));
        self.hub.route(outgoing);
        // Nobody finds it any more; what was asked is still answered.
        if let Some(registry) = self.registry.upgrade().filter(|_| ends) {
            drop(registry.remove(&self.id));
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.hub.wait_for_room(cx);
        Poll::Ready(())
    }

    fn backlog(&self) -> usize {
        self.hub.backlog()
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if let Poll::Ready(incoming) = self.hub.poll_take(cx) {
            return Poll::Ready(incoming);
        }
        self.poll_unused(cx).map(|()| {
            self.hub.close();
            Incoming::Closed(Cause::Broken("the session was not used any more".to_owned()))
        })
    }
}

impl Drop for SessionLink {
    fn drop(&mut self) {
        self.hub.close();
        if let Some(registry) = self.registry.upgrade() {
            drop(registry.remove(&self.id));
        }
    }
}

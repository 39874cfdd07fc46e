//! One connection on one stream of a session.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sparring_peer::link::{Faults, LinkKind};
use sparring_wire::Frame;
use tokio::time::Instant;

use super::hub::Hub;
use crate::http::server::body::{Further, Source};
use crate::http::server::event;

/// Reads one stream until it ends, is cut, or another reader takes over.
#[derive(Debug)]
pub(in crate::http::server) struct Reader {
    hub: Arc<Hub>,
    number: u64,
    reader: u64,
    /// What the first event is to say beside where the stream is.
    priming: Option<Duration>,
    /// What comes before everything else.
    preface: Vec<u8>,
    /// How each event is named, and whether it has an id.
    name: Option<&'static str>,
    ids: bool,
    /// How slowly what was written last is to go out.
    pace: Option<u64>,
}

/// What a stream begins with.
#[derive(Debug)]
pub(in crate::http::server) enum First {
    /// The answer, and nothing else.
    Answer(Frame, Faults),
    /// Something else, so that it is told as events.
    Events,
    /// Nothing: the request was cancelled.
    Nothing,
    /// The session ended before.
    Ended,
}

impl Reader {
    pub(super) fn new(hub: Arc<Hub>, number: u64, reader: u64) -> Self {
        let preface = Vec::new();
        Reader { hub, number, reader, priming: None, preface, name: None, ids: true, pace: None }
    }

    /// Begins by an event that says where the stream is.
    #[must_use]
    pub(in crate::http::server) fn primed(mut self, retry: Option<Duration>) -> Self {
        self.priming = retry;
        self
    }

    /// As HTTP+SSE has it: named events without ids, after this one.
    #[must_use]
    pub(in crate::http::server) fn old_style(mut self, preface: Vec<u8>) -> Self {
        self.preface = preface;
        self.name = Some("message");
        self.ids = false;
        self
    }

    /// How the stream begins.
    pub(in crate::http::server) fn poll_first(&mut self, cx: &mut Context<'_>) -> Poll<First> {
        let hub = Arc::clone(&self.hub);
        let mut state = hub.lock();
        let closed = state.closed;
        let Some(outlet) = state.outlets.get_mut(&self.number) else {
            return Poll::Ready(First::Ended);
        };
        if !outlet.is_read_by(self.reader) {
            return Poll::Ready(First::Nothing);
        }
        if outlet.done
            && !outlet.cut
            && let Some(frame) = outlet.only().cloned()
        {
            let backlog = outlet.backlog();
            let faults = outlet.faults_of(1);
            state.outlets.remove(&self.number);
            state.used = Instant::now();
            drop(state);
            hub.count(backlog, 0);
            return Poll::Ready(First::Answer(frame, faults));
        }
        if !outlet.is_empty() || outlet.cut {
            outlet.begun = true;
            if outlet.done {
                state.settle(self.number, hub.limits.replay);
            }
            return Poll::Ready(First::Events);
        }
        if outlet.done {
            return Poll::Ready(First::Nothing);
        }
        if closed {
            return Poll::Ready(First::Ended);
        }
        outlet.wake_with(cx.waker());
        Poll::Pending
    }

    /// It is told as events from now on, whatever comes.
    pub(in crate::http::server) fn begin(&mut self) {
        let mut state = self.hub.lock();
        let Some(outlet) = state.outlets.get_mut(&self.number) else { return };
        outlet.begun = true;
        // The answer may have come just now.
        if outlet.done {
            state.settle(self.number, self.hub.limits.replay);
        }
    }

    fn id(&self, number: u64) -> Option<String> {
        self.ids.then(|| format!("{}-{number}", self.number))
    }
}

impl Source for Reader {
    fn poll_write(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<Further> {
        out.append(&mut self.preface);
        let hub = Arc::clone(&self.hub);
        let mut state = hub.lock();
        let over = state.is_over(hub.kind());
        let ends = state.closed || self.number == Hub::STANDING && over;
        let Some(outlet) = state.outlets.get_mut(&self.number) else {
            return Poll::Ready(Further::Nothing);
        };
        if !outlet.is_read_by(self.reader) {
            return Poll::Ready(Further::Nothing);
        }
        if let Some(retry) = self.priming.take()
            && let Some(id) = self.id(outlet.given())
        {
            event::write_priming(id, retry, out);
        }
        let before = outlet.backlog();
        let cut = outlet.cut;
        let mut fault = None;
        while !cut && let Some((number, frame)) = outlet.next() {
            let faults = outlet.faults_of(number);
            event::write_with(&frame, &faults, (self.name, self.id(number)), out);
            if let Some(found) = faults.get() {
                fault = Some(found.clone());
                break;
            }
        }
        let now = outlet.backlog();
        let all = outlet.is_empty() && outlet.done;
        let further = match cut || all || ends {
            true => Poll::Ready(Further::Nothing),
            false if out.is_empty() => {
                outlet.wake_with(cx.waker());
                Poll::Pending
            }
            false => Poll::Ready(Further::More),
        };
        drop(state);
        hub.count(before, now);
        self.pace = fault.as_ref().and_then(|fault| fault.slow);
        match fault.map(|fault| Further::More.with(&fault)) {
            Some(Further::Broken) => Poll::Ready(Further::Broken),
            _ => further,
        }
    }

    fn pace(&mut self) -> Option<u64> {
        self.pace.take()
    }
}

/// The connection is gone. Over HTTP+SSE that is the end of the session; else
/// the stream waits for the client to come back.
impl Drop for Reader {
    fn drop(&mut self) {
        let limit = self.hub.limits.replay;
        let mut state = self.hub.lock();
        let Some(outlet) = state.outlets.get_mut(&self.number) else { return };
        let before = outlet.backlog();
        let was = outlet.detach(self.reader, limit);
        if was {
            state.leave(self.number);
            state.used = Instant::now();
        }
        drop(state);
        if was {
            self.hub.count(before, 0);
        }
        if self.hub.kind() == LinkKind::Shared {
            self.hub.close();
        }
    }
}

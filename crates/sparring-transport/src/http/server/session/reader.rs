//! A connection that reads one stream of a session.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use sparring_peer::link::{Faults, LinkKind};
use sparring_wire::Frame;
use tokio::time::Instant;

use super::session_state::Session;
use crate::http::server::body::{self, EventSource, StreamStatus};

/// The number of bytes that are written at once, unless one event is larger.
const MAX_WRITE_BYTES: usize = 256 * 1024;

/// Reads one stream until it ends, is cut, or another reader replaces this one.
#[derive(Debug)]
pub(in crate::http::server) struct Reader {
    session: Arc<Session>,
    number: u64,
    reader: u64,
    /// The retry time in the first event, which carries the position, if any.
    priming: Option<Duration>,
    /// The bytes before the first event.
    preface: Vec<u8>,
    /// The name of each event, and true if it has an id.
    name: Option<&'static str>,
    ids: bool,
    /// The speed limit of the last written bytes.
    bytes_per_second: Option<u64>,
}

/// The beginning of a stream.
#[derive(Debug)]
pub(in crate::http::server) enum StreamStart {
    /// Only the answer.
    Answer(Frame, Faults),
    /// Another frame, so the response is an event stream.
    Events,
    /// Nothing: the request was cancelled.
    Nothing,
    /// The session ended before.
    Ended,
}

impl Reader {
    pub(super) fn new(session: Arc<Session>, number: u64, reader: u64) -> Self {
        let preface = Vec::new();
        Reader {
            session,
            number,
            reader,
            priming: None,
            preface,
            name: None,
            ids: true,
            bytes_per_second: None,
        }
    }

    /// Starts with an event that carries the position.
    #[must_use]
    pub(in crate::http::server) fn with_priming(mut self, retry: Option<Duration>) -> Self {
        self.priming = retry;
        self
    }

    /// Sends named events without ids, after `preface`, as HTTP+SSE requires.
    #[must_use]
    pub(in crate::http::server) fn for_http_sse(mut self, preface: Vec<u8>) -> Self {
        self.preface = preface;
        self.name = Some("message");
        self.ids = false;
        self
    }

    /// Returns the beginning of the stream.
    pub(in crate::http::server) fn poll_first(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<StreamStart> {
        let session = Arc::clone(&self.session);
        let mut state = session.lock();
        let closed = state.closed;
        let Some(buffer) = state.streams.get_mut(&self.number) else {
            return Poll::Ready(StreamStart::Ended);
        };
        if !buffer.is_read_by(self.reader) {
            return Poll::Ready(StreamStart::Nothing);
        }
        if buffer.done
            && !buffer.cut
            && let Some(frame) = buffer.only_frame().cloned()
        {
            let backlog = buffer.backlog();
            let faults = buffer.take_faults(1);
            state.streams.remove(&self.number);
            state.last_used = Instant::now();
            drop(state);
            session.update_backlog(backlog, 0);
            return Poll::Ready(StreamStart::Answer(frame, faults));
        }
        if !buffer.is_empty() || buffer.cut {
            buffer.started = true;
            if buffer.done {
                state.end_stream(self.number, session.limits.replay);
            }
            return Poll::Ready(StreamStart::Events);
        }
        if buffer.done {
            return Poll::Ready(StreamStart::Nothing);
        }
        if closed {
            return Poll::Ready(StreamStart::Ended);
        }
        buffer.register_waker(cx.waker());
        Poll::Pending
    }

    /// Makes the response an event stream.
    pub(in crate::http::server) fn start_events(&mut self) {
        let mut state = self.session.lock();
        let Some(buffer) = state.streams.get_mut(&self.number) else { return };
        buffer.started = true;
        // The answer may have arrived just now.
        if buffer.done {
            state.end_stream(self.number, self.session.limits.replay);
        }
    }

    fn id(&self, number: u64) -> Option<String> {
        self.ids.then(|| format!("{}-{number}", self.number))
    }
}

impl EventSource for Reader {
    fn poll_write(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<StreamStatus> {
        out.append(&mut self.preface);
        let session = Arc::clone(&self.session);
        let mut state = session.lock();
        let over = state.is_over(session.kind());
        let ends = state.closed || self.number == Session::STANDING && over;
        let Some(buffer) = state.streams.get_mut(&self.number) else {
            return Poll::Ready(StreamStatus::Done);
        };
        if !buffer.is_read_by(self.reader) {
            return Poll::Ready(StreamStatus::Done);
        }
        if let Some(retry) = self.priming.take()
            && let Some(id) = self.id(buffer.delivered())
        {
            body::write_priming_event(id, retry, out);
        }
        let before = buffer.backlog();
        let cut = buffer.cut;
        let mut fault = None;
        // The rest stays in the buffer, which shares the bytes with other sessions.
        while !cut
            && out.len() < MAX_WRITE_BYTES
            && let Some((number, frame)) = buffer.next()
        {
            let faults = buffer.take_faults(number);
            body::write_event_with_faults(&frame, &faults, (self.name, self.id(number)), out);
            if let Some(found) = faults.get() {
                fault = Some(found.clone());
                break;
            }
        }
        let now = buffer.backlog();
        let all = buffer.is_empty() && buffer.done;
        let status = match cut || all || ends {
            true => Poll::Ready(StreamStatus::Done),
            false if out.is_empty() => {
                buffer.register_waker(cx.waker());
                Poll::Pending
            }
            false => Poll::Ready(StreamStatus::More),
        };
        drop(state);
        session.update_backlog(before, now);
        self.bytes_per_second = fault.as_ref().and_then(|fault| fault.bytes_per_second);
        match fault.map(|fault| StreamStatus::More.with_fault(&fault)) {
            Some(StreamStatus::Broken) => Poll::Ready(StreamStatus::Broken),
            _ => status,
        }
    }

    fn bytes_per_second(&mut self) -> Option<u64> {
        self.bytes_per_second.take()
    }
}

/// The connection is gone. Over HTTP+SSE this ends the session; otherwise the stream waits for
/// the client to resume.
impl Drop for Reader {
    fn drop(&mut self) {
        let limit = self.session.limits.replay;
        let mut state = self.session.lock();
        let Some(buffer) = state.streams.get_mut(&self.number) else { return };
        let before = buffer.backlog();
        let was = buffer.detach(self.reader, limit);
        if was {
            state.remove_unstarted(self.number);
            state.last_used = Instant::now();
            state.count_kept();
        }
        drop(state);
        if was {
            self.session.update_backlog(before, 0);
        }
        if self.session.kind() == LinkKind::Shared {
            self.session.close();
        }
    }
}

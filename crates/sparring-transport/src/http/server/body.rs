//! Bodies of responses: empty, complete, or events as they arrive, with comments that keep the
//! connection alive. A scripted fault can delay or cut a body.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame as Piece, SizeHint};
use sparring_peer::link::rate_limiter::RateLimiter;
use sparring_peer::link::{Disconnect, Fault, Faults};
use sparring_wire::Frame;
use tokio::time::{Instant, Sleep};

use super::exchange_recorder::ExchangeRecorder;
use crate::http::sse::Event;

/// A comment without content.
const KEEP_ALIVE_COMMENT: &[u8] = b":\n\n";

/// The body of a response.
pub struct Body {
    kind: BodyKind,
    /// A scripted fault, if any.
    faulty: Option<Box<FaultyBody>>,
    /// Records the exchange, if enabled.
    exchange: Option<Box<ExchangeRecorder>>,
}

enum BodyKind {
    Whole(Option<Bytes>),
    Events(Box<EventBody>),
}

/// The scripted fault of a body.
#[derive(Debug, Default)]
struct FaultyBody {
    /// The bytes to send before anything else.
    rest: Bytes,
    rate_limiter: Option<RateLimiter>,
    /// True if the connection breaks after them.
    breaks: bool,
    /// True if bytes were handed over that may not have been sent yet.
    unsent: bool,
    /// The announced length, if any.
    length: Option<u64>,
}

/// A source of events. All available events are written at once.
pub(super) trait EventSource: Send + 'static {
    /// Writes the available events and returns true if more may follow.
    fn poll_write(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<StreamStatus>;

    /// Returns the speed limit of the last written bytes, in bytes per second.
    fn bytes_per_second(&mut self) -> Option<u64> {
        None
    }
}

/// The state of a stream of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamStatus {
    /// More may follow.
    More,
    /// No more events follow.
    Done,
    /// The connection breaks here.
    Broken,
}

impl StreamStatus {
    /// Applies a fault.
    pub(super) fn with_fault(self, fault: &Fault) -> StreamStatus {
        if fault.disconnect.is_some() || fault.drop_stream { StreamStatus::Broken } else { self }
    }
}

struct EventBody {
    source: Box<dyn EventSource>,
    ended: bool,
    broken: bool,
    /// The maximum silence of the stream, and the time of the last write.
    keep_alive: Duration,
    last_write: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Body {
    pub(super) fn empty() -> Self {
        BodyKind::Whole(None).into()
    }

    pub(super) fn whole(bytes: Bytes) -> Self {
        BodyKind::Whole(Some(bytes).filter(|bytes| !bytes.is_empty())).into()
    }

    pub(super) fn events(source: impl EventSource, keep_alive: Duration) -> Self {
        let stream = EventBody {
            source: Box::new(source),
            ended: false,
            broken: false,
            keep_alive,
            last_write: Instant::now(),
            timer: Box::pin(tokio::time::sleep(keep_alive)),
        };
        BodyKind::Events(Box::new(stream)).into()
    }

    /// Creates a complete body that is sent slowly or cut.
    pub(super) fn faulty(bytes: Bytes, length: Option<usize>, fault: &Fault) -> Self {
        let faulty = FaultyBody {
            rest: bytes,
            rate_limiter: fault.bytes_per_second.map(RateLimiter::new),
            breaks: fault.disconnect.is_some(),
            unsent: fault.drop_stream,
            length: length.map(|length| length as u64),
        };
        Body { kind: BodyKind::Whole(None), faulty: Some(Box::new(faulty)), exchange: None }
    }

    /// Ends the exchange when the body is dropped.
    pub(super) fn recorded_by(mut self, exchange: ExchangeRecorder) -> Self {
        self.exchange = Some(Box::new(exchange));
        self
    }
}

impl From<BodyKind> for Body {
    fn from(kind: BodyKind) -> Self {
        Body { kind, faulty: None, exchange: None }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let all = match &self.kind {
            BodyKind::Whole(_) => true,
            BodyKind::Events(stream) => stream.ended,
        };
        if let Some(exchange) = self.exchange.as_mut().filter(|_| all) {
            exchange.complete();
        }
    }
}

impl EventBody {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let mut out = Vec::new();
        match self.source.poll_write(cx, &mut out) {
            Poll::Ready(status) => {
                self.ended = status != StreamStatus::More;
                self.broken = status == StreamStatus::Broken;
                self.last_write = Instant::now();
                match out.is_empty() && self.ended {
                    true => Poll::Ready(None),
                    false => Poll::Ready(Some(out.into())),
                }
            }
            Poll::Pending => self.poll_timer(cx),
        }
    }

    /// Resets the timer only after it has fired, since events arrive more often.
    fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        while self.timer.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            let due = self.last_write + self.keep_alive;
            if due > now {
                self.timer.as_mut().reset(due);
                continue;
            }
            self.last_write = now;
            self.timer.as_mut().reset(now + self.keep_alive);
            return Poll::Ready(Some(Bytes::from_static(KEEP_ALIVE_COMMENT)));
        }
        Poll::Pending
    }
}

impl FaultyBody {
    /// Returns the next piece or the scripted error; `None` when the body continues as usual.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if !self.rest.is_empty() {
            let most = match &mut self.rate_limiter {
                Some(limiter) => ready!(limiter.poll_ready_bytes(cx)),
                None => usize::MAX,
            };
            let piece = self.rest.split_to(most.min(self.rest.len()));
            self.unsent = true;
            return Poll::Ready(Some(Ok(piece)));
        }
        // Breaking at once would discard the bytes that were just written.
        if self.breaks && std::mem::take(&mut self.unsent) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let broken = || Err(io::Error::other("connection cut by the script"));
        Poll::Ready(self.breaks.then(broken))
    }

    fn is_over(&self) -> bool {
        self.rest.is_empty() && !self.breaks
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Piece<Bytes>>>> {
        let body = self.get_mut();
        if let Some(faulty) = &mut body.faulty
            && let Some(piece) = ready!(faulty.poll(cx))
        {
            return Poll::Ready(Some(piece.map(Piece::data)));
        }
        let bytes = match &mut body.kind {
            BodyKind::Whole(bytes) => bytes.take(),
            BodyKind::Events(stream) => {
                let bytes = ready!(stream.poll(cx));
                let rate_limiter = stream.source.bytes_per_second().map(RateLimiter::new);
                if rate_limiter.is_some() || stream.broken {
                    let rest = bytes.unwrap_or_default();
                    let breaks = stream.broken;
                    let faulty =
                        FaultyBody { rest, rate_limiter, breaks, unsent: true, length: None };
                    body.faulty = Some(Box::new(faulty));
                    return Pin::new(body).poll_frame(cx);
                }
                bytes
            }
        };
        Poll::Ready(bytes.map(|bytes| Ok(Piece::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        if self.faulty.as_ref().is_some_and(|faulty| !faulty.is_over()) {
            return false;
        }
        match &self.kind {
            BodyKind::Whole(bytes) => bytes.is_none(),
            BodyKind::Events(stream) => stream.ended,
        }
    }

    fn size_hint(&self) -> SizeHint {
        if let Some(faulty) = &self.faulty {
            return faulty.length.map_or(SizeHint::default(), SizeHint::with_exact);
        }
        match &self.kind {
            BodyKind::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64)
            }
            BodyKind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            BodyKind::Whole(bytes) => f.debug_tuple("Whole").field(bytes).finish(),
            BodyKind::Events(_) => f.write_str("Events"),
        }
    }
}

/// Writes a frame as an event.
pub(super) fn write_event(
    frame: &Frame,
    name: Option<&str>,
    id: Option<String>,
    out: &mut Vec<u8>,
) {
    let name = name.map(str::to_owned);
    Event { name, id, data: Some(frame.bytes().to_vec()), retry: None }.write(out);
}

/// Writes a frame as an event, with faults applied. A cut in the middle also cuts the event.
pub(super) fn write_event_with_faults(
    frame: &Frame,
    faults: &Faults,
    (name, id): (Option<&str>, Option<String>),
    out: &mut Vec<u8>,
) {
    let Some(fault) = faults.get() else { return write_event(frame, name, id, out) };
    if fault.drop_stream {
        return;
    }
    for frame in faults.apply(frame) {
        write_event(&frame, name, id.clone(), out);
    }
    if fault.disconnect == Some(Disconnect::Middle) {
        // Removes the empty line that ends the event.
        out.truncate(out.len().saturating_sub(2));
    }
}

/// Writes an event without data that only carries an id, so that a client can resume there
/// (2025-11-25, basic/transports#sending-messages-to-the-server).
pub(super) fn write_priming_event(id: String, retry: Duration, out: &mut Vec<u8>) {
    Event { name: None, id: Some(id), data: Some(Vec::new()), retry: Some(retry) }.write(out);
}

//! The body of a response: nothing, something whole, or events as they come
//! with comments in between that keep the connection alive. On purpose it may
//! come slowly, or break off.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame as Piece, SizeHint};
use sparring_peer::link::Fault;
use sparring_peer::link::pace::Pace;
use tokio::time::{Instant, Sleep};

use super::note::Note;

/// A comment, by which nothing is said.
const COMMENT: &[u8] = b":\n\n";

/// The body of a response of ours.
pub struct Body {
    kind: Kind,
    /// What goes wrong with it, where something does.
    spoilt: Option<Box<Spoilt>>,
    /// What is kept of the exchange, where it is.
    note: Option<Box<Note>>,
}

enum Kind {
    Whole(Option<Bytes>),
    Events(Box<Stream>),
}

/// How a body goes wrong.
#[derive(Debug, Default)]
struct Spoilt {
    /// What is to come before anything else.
    rest: Bytes,
    pace: Option<Pace>,
    /// Whether the connection breaks after that.
    breaks: bool,
    /// Whether something was given that may not have gone out yet.
    unsent: bool,
    /// How long it was said to be, where it was.
    length: Option<u64>,
}

/// Where events come from. Each time all that are there are written at once.
pub(super) trait Source: Send + 'static {
    /// Writes the events that are there, and says whether others may follow.
    fn poll_write(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<Further>;

    /// How many bytes a second of what was just written may go out.
    fn pace(&mut self) -> Option<u64> {
        None
    }
}

/// Whether more follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Further {
    /// More may follow.
    More,
    /// That was all.
    Nothing,
    /// The connection breaks here.
    Broken,
}

impl Further {
    /// The same, where something goes wrong on purpose.
    pub(super) fn with(self, fault: &Fault) -> Further {
        if fault.cut.is_some() || fault.drop_stream { Further::Broken } else { self }
    }
}

struct Stream {
    source: Box<dyn Source>,
    ended: bool,
    broken: bool,
    /// How long it may be silent, and since when it is.
    every: Duration,
    since: Instant,
    alarm: Pin<Box<Sleep>>,
}

impl Body {
    pub(super) fn empty() -> Self {
        Kind::Whole(None).into()
    }

    pub(super) fn whole(bytes: Bytes) -> Self {
        Kind::Whole(Some(bytes).filter(|bytes| !bytes.is_empty())).into()
    }

    pub(super) fn events(source: impl Source, keep_alive: Duration) -> Self {
        let stream = Stream {
            source: Box::new(source),
            ended: false,
            broken: false,
            every: keep_alive,
            since: Instant::now(),
            alarm: Box::pin(tokio::time::sleep(keep_alive)),
        };
        Kind::Events(Box::new(stream)).into()
    }

    /// Something whole that comes slowly, or breaks off before its end.
    pub(super) fn spoilt(bytes: Bytes, length: Option<usize>, fault: &Fault) -> Self {
        let spoilt = Spoilt {
            rest: bytes,
            pace: fault.slow.map(Pace::new),
            breaks: fault.cut.is_some(),
            unsent: fault.drop_stream,
            length: length.map(|length| length as u64),
        };
        Body { kind: Kind::Whole(None), spoilt: Some(Box::new(spoilt)), note: None }
    }

    /// The exchange is over when this is dropped.
    pub(super) fn noted(mut self, note: Note) -> Self {
        self.note = Some(Box::new(note));
        self
    }
}

impl From<Kind> for Body {
    fn from(kind: Kind) -> Self {
        Body { kind, spoilt: None, note: None }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let all = match &self.kind {
            Kind::Whole(_) => true,
            Kind::Events(stream) => stream.ended,
        };
        if let Some(note) = self.note.as_mut().filter(|_| all) {
            note.complete();
        }
    }
}

impl Stream {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let mut out = Vec::new();
        match self.source.poll_write(cx, &mut out) {
            Poll::Ready(further) => {
                self.ended = further != Further::More;
                self.broken = further == Further::Broken;
                self.since = Instant::now();
                match out.is_empty() && self.ended {
                    true => Poll::Ready(None),
                    false => Poll::Ready(Some(out.into())),
                }
            }
            Poll::Pending => self.poll_alarm(cx),
        }
    }

    /// The alarm is only set anew when it has gone off: events come more often.
    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        while self.alarm.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            let due = self.since + self.every;
            if due > now {
                self.alarm.as_mut().reset(due);
                continue;
            }
            self.since = now;
            self.alarm.as_mut().reset(now + self.every);
            return Poll::Ready(Some(Bytes::from_static(COMMENT)));
        }
        Poll::Pending
    }
}

impl Spoilt {
    /// The next piece of what is left, or that it breaks here; nothing when the
    /// rest is as usual.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if !self.rest.is_empty() {
            let most = match &mut self.pace {
                Some(pace) => ready!(pace.poll_allowed(cx)),
                None => usize::MAX,
            };
            let piece = self.rest.split_to(most.min(self.rest.len()));
            self.unsent = true;
            return Poll::Ready(Some(Ok(piece)));
        }
        // What breaks at once takes with it what was written before.
        if self.breaks && std::mem::take(&mut self.unsent) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let broken = || Err(io::Error::other("broken off, as the script says"));
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
        if let Some(spoilt) = &mut body.spoilt
            && let Some(piece) = ready!(spoilt.poll(cx))
        {
            return Poll::Ready(Some(piece.map(Piece::data)));
        }
        let bytes = match &mut body.kind {
            Kind::Whole(bytes) => bytes.take(),
            Kind::Events(stream) => {
                let bytes = ready!(stream.poll(cx));
                let pace = stream.source.pace().map(Pace::new);
                if pace.is_some() || stream.broken {
                    let rest = bytes.unwrap_or_default();
                    let breaks = stream.broken;
                    let spoilt = Spoilt { rest, pace, breaks, unsent: true, length: None };
                    body.spoilt = Some(Box::new(spoilt));
                    return Pin::new(body).poll_frame(cx);
                }
                bytes
            }
        };
        Poll::Ready(bytes.map(|bytes| Ok(Piece::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        if self.spoilt.as_ref().is_some_and(|spoilt| !spoilt.is_over()) {
            return false;
        }
        match &self.kind {
            Kind::Whole(bytes) => bytes.is_none(),
            Kind::Events(stream) => stream.ended,
        }
    }

    fn size_hint(&self) -> SizeHint {
        if let Some(spoilt) = &self.spoilt {
            return spoilt.length.map_or(SizeHint::default(), SizeHint::with_exact);
        }
        match &self.kind {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Whole(bytes) => f.debug_tuple("Whole").field(bytes).finish(),
            Kind::Events(_) => f.write_str("Events"),
        }
    }
}

//! The body of a response: nothing, something whole, or events as they come
//! with comments in between that keep the connection alive.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame as Piece, SizeHint};
use tokio::time::{Instant, Sleep};

use super::note::Note;

/// A comment, by which nothing is said.
const COMMENT: &[u8] = b":\n\n";

/// The body of a response of ours.
pub struct Body {
    kind: Kind,
    /// What is kept of the exchange, where it is.
    note: Option<Box<Note>>,
}

enum Kind {
    Whole(Option<Bytes>),
    Events(Box<Stream>),
}

/// Where events come from. Each time all that are there are written at once.
pub(super) trait Source: Send + 'static {
    /// Writes the events that are there, and says whether others may follow.
    fn poll_write(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<Further>;
}

/// Whether more follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Further {
    /// More may follow.
    More,
    /// That was all.
    Nothing,
}

struct Stream {
    source: Box<dyn Source>,
    ended: bool,
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
            every: keep_alive,
            since: Instant::now(),
            alarm: Box::pin(tokio::time::sleep(keep_alive)),
        };
        Kind::Events(Box::new(stream)).into()
    }

    /// The exchange is over when this is dropped.
    pub(super) fn noted(mut self, note: Note) -> Self {
        self.note = Some(Box::new(note));
        self
    }
}

impl From<Kind> for Body {
    fn from(kind: Kind) -> Self {
        Body { kind, note: None }
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
                self.ended = further == Further::Nothing;
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

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Piece<Bytes>, Infallible>>> {
        let bytes = match &mut self.get_mut().kind {
            Kind::Whole(bytes) => bytes.take(),
            Kind::Events(stream) => std::task::ready!(stream.poll(cx)),
        };
        Poll::Ready(bytes.map(|bytes| Ok(Piece::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Whole(bytes) => bytes.is_none(),
            Kind::Events(stream) => stream.ended,
        }
    }

    fn size_hint(&self) -> SizeHint {
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

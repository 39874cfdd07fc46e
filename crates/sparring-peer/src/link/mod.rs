//! What a peer talks through: events out, events in.
//!
//! A link carries events because bytes alone cannot say what HTTP does. It
//! knows nothing of methods, revisions or sessions, and a peer knows nothing
//! of pipes, sockets or requests over HTTP.

mod faults;
mod lines;
mod memory;
pub mod pace;
mod recorder;
mod transport;

use std::task::{Context, Poll};
use std::time::Duration;

use sparring_wire::{Frame, Headers, Id};

pub use faults::{Change, Cut, Fault, Faults};
pub use lines::{Lines, LinesOptions};
pub use memory::{MemoryLink, memory};
pub use recorder::Recorder;
pub use transport::MemoryTransport;

/// More than this queued on a link, and its owner waits until it is written.
pub const FULL: usize = 4 * 1024 * 1024;

/// How many frames are taken in before everything else gets its turn.
pub(crate) const AT_ONCE: usize = 256;

/// One end of a connection.
///
/// All methods return at once. Whoever owns a link polls it: [`Link::send`]
/// only queues, [`Link::poll_flush`] writes, [`Link::poll_receive`] reads.
pub trait Link: Send + Unpin + 'static {
    /// How the link carries several requests at once.
    fn kind(&self) -> LinkKind;

    /// What it is called where transports are named: `stdio`, `http`, `sse`,
    /// `memory`, `unix`, `pipes`. To be told to people; nothing depends on it.
    fn transport(&self) -> &'static str;

    /// Tells the link where to record what passes, from now on.
    fn record_to(&mut self, recorder: Recorder);

    /// Queues something to go out.
    fn send(&mut self, outgoing: Outgoing);

    /// Writes what is queued; ready when all of it is on its way, or never can
    /// be. A link that fails says so in what it receives. One that was [`FULL`]
    /// wakes the task when it is less full, even if this was ready.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// How many bytes are queued and not written; an owner that has too many
    /// there takes in nothing more.
    fn backlog(&self) -> usize {
        0
    }

    /// How long the link may take to end after [`Outgoing::Close`]; then its
    /// owner drops it.
    fn closing_time(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// The next thing that came in. After [`Incoming::Closed`] nothing follows,
    /// and the same is given again.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming>;

    /// How far a stream has come, in words, for whoever waited in vain.
    fn state_of(&self, stream: &Stream) -> Option<String> {
        let _ = stream;
        None
    }

    /// Whether nothing can go on before somebody else has done something that
    /// has a deadline of its own, as a person who logs in has. Meanwhile no
    /// request runs out of time.
    fn is_held(&self) -> bool {
        false
    }

    /// What is known of the other side from an earlier connection.
    fn known_era(&self) -> Option<Era> {
        None
    }

    /// Says which era the other side turned out to be of.
    fn learn_era(&mut self, era: Era) {
        let _ = era;
    }

    /// Another link to the same place, for another session there, where such a
    /// thing can be.
    fn again(&self) -> Option<Box<dyn Link>> {
        None
    }
}

/// Which kind of revision the other side speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// One that begins with a handshake.
    Legacy,
    /// One whose requests say everything themselves.
    Modern,
}

/// A link whose kind is only known at run time.
impl Link for Box<dyn Link> {
    fn kind(&self) -> LinkKind {
        (**self).kind()
    }

    fn transport(&self) -> &'static str {
        (**self).transport()
    }

    fn record_to(&mut self, recorder: Recorder) {
        (**self).record_to(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        (**self).send(outgoing);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        (**self).poll_flush(cx)
    }

    fn backlog(&self) -> usize {
        (**self).backlog()
    }

    fn closing_time(&self) -> Duration {
        (**self).closing_time()
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        (**self).poll_receive(cx)
    }

    fn state_of(&self, stream: &Stream) -> Option<String> {
        (**self).state_of(stream)
    }

    fn is_held(&self) -> bool {
        (**self).is_held()
    }

    fn known_era(&self) -> Option<Era> {
        (**self).known_era()
    }

    fn learn_era(&mut self, era: Era) {
        (**self).learn_era(era);
    }

    fn again(&self) -> Option<Box<dyn Link>> {
        (**self).again()
    }
}

/// How a link carries several requests at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// All frames share one channel, as on stdio.
    Shared,
    /// Each request has a stream of its own, which can be aborted, as over
    /// Streamable HTTP.
    Streams,
}

/// Which of a link's streams something belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Stream {
    /// The standing one: a shared channel, or what belongs to no request.
    Standing,
    /// The one of the request with this id.
    Request(Id),
}

/// What a peer gives to a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outgoing {
    /// A frame to send.
    Send {
        /// The frame.
        frame: Frame,
        /// The stream it belongs to.
        stream: Stream,
        /// What of it is to stand before it as well, where the link can say so.
        headers: Headers,
        /// What is to go wrong with it on its way.
        faults: Faults,
    },
    /// Let the other side speak on a stream without being asked, where it can.
    Open(Stream),
    /// Give a stream up: whatever it would still bring is not wanted. From a
    /// server it only ends the connection, and the client comes back for the
    /// rest.
    Abort(Stream),
    /// Send what is queued, then end.
    Close,
}

impl Outgoing {
    /// A frame on a stream, with nothing before it.
    pub fn on(stream: Stream, frame: Frame) -> Outgoing {
        Outgoing::Send { frame, stream, headers: Headers::new(), faults: Faults::none() }
    }
}

/// What a link gives to a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// A frame.
    Frame {
        /// The frame.
        frame: Frame,
        /// The stream it came on.
        stream: Stream,
        /// What stood around it, on links that have such a thing.
        envelope: Option<Envelope>,
    },
    /// Something that is no frame: a banner, half a line, a line too long.
    Noise {
        /// What came.
        frame: Frame,
        /// The stream it came on.
        stream: Stream,
    },
    /// The other side gave a stream up, or it broke. On a shared channel this
    /// says that a request, or on the standing stream something else, could not
    /// be sent.
    StreamEnded {
        /// Which.
        stream: Stream,
        /// Why.
        cause: Cause,
    },
    /// Something of what the other side said unasked may not have come.
    Missed(Cause),
    /// The link has ended; nothing follows.
    Closed(Cause),
}

/// What stands around a frame over HTTP. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Envelope {
    /// The status, of a response.
    pub status: Option<u16>,
    /// The headers.
    pub headers: Headers,
}

/// Any header may be a secret, so only their names are shown.
impl std::fmt::Debug for Envelope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Envelope").field("status", &self.status).field("headers", &names).finish()
    }
}

impl Incoming {
    /// Sorts what was read off a shared channel: a frame, or noise.
    pub fn on_shared_channel(frame: Frame) -> Incoming {
        Incoming::on(Stream::Standing, frame, None)
    }

    /// Sorts what was read off a stream: a frame, or noise.
    pub fn on(stream: Stream, frame: Frame, envelope: Option<Envelope>) -> Incoming {
        match is_noise(&frame) {
            true => Incoming::Noise { frame, stream },
            false => Incoming::Frame { frame, stream, envelope },
        }
    }
}

/// Noise is what is not JSON, too large, or no object; a text that breaks off
/// after showing whose answer it is, is a bad frame instead.
fn is_noise(frame: &Frame) -> bool {
    use sparring_wire::Rule;
    let unreadable =
        |rule| matches!(rule, Rule::NotJson | Rule::TooLarge | Rule::TooDeep | Rule::NotAnObject);
    frame.violations().iter().any(|violation| unreadable(violation.rule))
        && !(frame.is_response_like() && frame.id().is_some())
}

/// Why a link or a stream ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The other side ended it in good order.
    #[error("the other side closed the connection")]
    EndOfInput,
    /// This side ended it.
    #[error("closed by this side")]
    ByUs,
    /// Something broke.
    #[error("{0}")]
    Broken(String),
    /// There is nobody to talk to: no such name, no such port, no trust.
    #[error("{0}")]
    Unreachable(String),
    /// The other side answered, but not with a frame.
    #[error("{what}{}", body_shown(body))]
    Http {
        /// The status of its answer.
        status: u16,
        /// What is wrong with the answer.
        what: String,
        /// How its body begins.
        body: String,
    },
    /// There is no way to be let in by the other side.
    #[error("{0}")]
    NotAuthorized(String),
    /// The other side does not know the session any more.
    #[error("the server has ended the session: {0}")]
    SessionLost(String),
    /// The process at the other end is gone, or will not talk any more.
    #[error("{how}{}", last_words(stderr))]
    Gone {
        /// What happened to it.
        how: String,
        /// The end of what it wrote to its stderr.
        stderr: String,
    },
}

fn body_shown(body: &str) -> String {
    match body.trim() {
        "" => String::new(),
        body => format!(": {body}"),
    }
}

fn last_words(stderr: &str) -> String {
    match stderr.trim_end() {
        "" => String::new(),
        words => format!("; its stderr ends with:\n{words}"),
    }
}

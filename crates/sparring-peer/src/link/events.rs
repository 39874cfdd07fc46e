//! The events that pass between a peer and its link, in both directions, and
//! the reasons why a link or a stream ends.

use std::sync::Arc;

use sparring_wire::{Frame, Headers, Id};

use super::{Era, Faults};
use crate::ReservedBytes;

/// The stream of a link that an event belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Stream {
    /// The connection itself: the shared channel, or the stream of messages that
    /// belong to no request.
    Connection,
    /// The stream of the request with this id.
    Request(Id),
}

/// An event that a peer gives to a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outgoing {
    /// Sends a frame.
    Send {
        /// The frame.
        frame: Frame,
        /// The stream that the frame belongs to.
        stream: Stream,
        /// The headers to send with the frame, on links that have headers.
        headers: Headers,
        /// The faults to apply to the frame.
        faults: Faults,
    },
    /// Lets the other side send on a stream without a request, if the link
    /// supports it.
    Open(Stream),
    /// Aborts a stream: the peer wants nothing more from it. A server's abort
    /// only ends the HTTP connection, and the client reconnects for the rest.
    Abort(Stream),
    /// The peer has determined the other side's era. A link may store it for later
    /// connections.
    EraDetected(Era),
    /// Ends the process at the other end and starts a fresh one. The link answers
    /// with [`Incoming::Restarted`] or [`Incoming::NotRestarted`].
    Restart,
    /// Sends everything queued, then closes the link.
    Close,
}

impl Outgoing {
    /// Sends a frame on a stream, without headers and faults.
    pub fn send_on(stream: Stream, frame: Frame) -> Outgoing {
        Outgoing::Send { frame, stream, headers: Headers::new(), faults: Faults::none() }
    }
}

impl From<Frame> for Outgoing {
    fn from(frame: Frame) -> Self {
        Outgoing::send_on(Stream::Connection, frame)
    }
}

/// An event that a link gives to a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// A frame arrived.
    Frame {
        /// The frame.
        frame: Frame,
        /// The stream that the frame arrived on.
        stream: Stream,
        /// The HTTP status and headers, on links that have them.
        envelope: Option<Envelope>,
    },
    /// Something arrived that is not a frame: a banner, half a line, a line that
    /// is too long.
    Noise {
        /// The bytes that arrived.
        frame: Frame,
        /// The stream that they arrived on.
        stream: Stream,
    },
    /// The other side aborted a stream, or the stream broke. On a shared channel:
    /// a request could not be sent, or, for [`Stream::Connection`], another
    /// message.
    StreamEnded {
        /// The stream that ended.
        stream: Stream,
        /// The reason.
        cause: Cause,
    },
    /// Messages that the other side sent without a request may have been lost.
    MessagesLost(Cause),
    /// A fresh process has replaced the one at the other end.
    Restarted,
    /// The link has no process that it could restart.
    NotRestarted,
    /// The link has ended. No event follows.
    Closed(Cause),
}

/// The HTTP status and headers of a frame. Cheap to clone.
#[derive(Clone, Default)]
pub struct Envelope {
    /// The status of a response.
    pub status: Option<u16>,
    /// The headers.
    pub headers: Headers,
    /// The part of a server's memory for requests that a request takes, until it is answered.
    pub reserved: Option<Arc<ReservedBytes>>,
}

impl PartialEq for Envelope {
    fn eq(&self, other: &Self) -> bool {
        (self.status, &self.headers) == (other.status, &other.headers)
    }
}

impl Eq for Envelope {}

/// Shows only the names of headers, because any value may be a secret.
impl std::fmt::Debug for Envelope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Envelope").field("status", &self.status).field("headers", &names).finish()
    }
}

impl Incoming {
    /// Classifies bytes from a shared channel as a frame or as noise.
    pub fn from_shared_channel(frame: Frame) -> Incoming {
        Incoming::from_frame(Stream::Connection, frame, None)
    }

    /// Classifies bytes from a stream as a frame or as noise.
    pub fn from_frame(stream: Stream, frame: Frame, envelope: Option<Envelope>) -> Incoming {
        match is_noise(&frame) {
            true => Incoming::Noise { frame, stream },
            false => Incoming::Frame { frame, stream, envelope },
        }
    }
}

/// Returns true if bytes are noise: not JSON, too large, or not an object. A
/// truncated text that still shows the id of its request is a malformed frame
/// instead.
fn is_noise(frame: &Frame) -> bool {
    use sparring_wire::Rule;
    let unreadable =
        |rule| matches!(rule, Rule::NotJson | Rule::TooLarge | Rule::TooDeep | Rule::NotAnObject);
    frame.violations().iter().any(|violation| unreadable(violation.rule))
        && !(frame.is_response_like() && frame.id().is_some())
}

/// The reason why a link or a stream ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The other side closed it normally.
    #[error("the other side closed the connection")]
    EndOfInput,
    /// This side closed it.
    #[error("this side closed the connection")]
    ClosedLocally,
    /// Reading, writing or the transport failed.
    #[error("{0}")]
    Broken(String),
    /// The other side cannot be reached: no such name, no such port, or an
    /// untrusted certificate.
    #[error("{0}")]
    Unreachable(String),
    /// The other side sent an HTTP response without a frame.
    #[error("{what}{}", render_body(body))]
    Http {
        /// The status of the response.
        status: u16,
        /// The problem with the response.
        what: String,
        /// The beginning of the response's body.
        body: String,
    },
    /// The other side requires authorization, and this side cannot get it.
    #[error("{0}")]
    NotAuthorized(String),
    /// The other side has ended the session.
    #[error("the server ended the session: {0}")]
    SessionLost(String),
    /// The process at the other end has exited, or no longer communicates.
    #[error("{reason}{}", render_stderr(stderr))]
    ProcessEnded {
        /// The end of the process as a verb phrase, such as `exited with status 3`.
        reason: String,
        /// The end of the process's stderr.
        stderr: String,
    },
}

fn render_body(body: &str) -> String {
    match body.trim() {
        "" => String::new(),
        body => format!(": {body}"),
    }
}

pub(crate) fn render_stderr(stderr: &str) -> String {
    match stderr.trim_end() {
        "" => String::new(),
        words => format!("; its stderr ends with:\n{words}"),
    }
}

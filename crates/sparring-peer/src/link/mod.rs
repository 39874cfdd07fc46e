//! The channel between a peer and its transport: events out, events in.
//!
//! A link carries events because bytes alone cannot express HTTP's streams and
//! headers. A link knows nothing of methods, revisions or sessions. A peer knows
//! nothing of pipes, sockets or HTTP requests.

mod events;
mod faults;
mod line_link;
mod memory_link;
mod memory_transport;
pub mod rate_limiter;
mod recorder;

use std::task::{Context, Poll};
use std::time::Duration;

pub(crate) use events::render_stderr;
pub use events::{Cause, Envelope, Incoming, Outgoing, Stream};
pub use faults::{Disconnect, Fault, Faults, Replacement};
pub use line_link::{LineLink, LineLinkOptions};
pub use memory_link::{MemoryLink, memory};
pub use memory_transport::MemoryTransport;
pub use recorder::Recorder;

/// The number of queued bytes above which the owner of a link stops sending until
/// they are written.
pub const BACKLOG_LIMIT: usize = 4 * 1024 * 1024;

/// The number of frames to receive before other work gets its turn.
pub(crate) const MAX_FRAMES_PER_POLL: usize = 256;

/// One end of a connection.
///
/// All methods return at once. The owner of a link polls it: [`Link::send`] only
/// queues, [`Link::poll_flush`] writes, [`Link::poll_receive`] reads.
pub trait Link: Send + Unpin + 'static {
    /// Returns the properties of the link.
    fn info(&self) -> LinkInfo;

    /// Sets the recorder for all later frames.
    fn set_recorder(&mut self, recorder: Recorder);

    /// Queues an event to send.
    fn send(&mut self, outgoing: Outgoing);

    /// Writes the queued bytes. Ready when all of them are on their way, or
    /// cannot be written. A link that fails reports the failure as a received
    /// event. A link that was full ([`BACKLOG_LIMIT`]) wakes the task when it has room again,
    /// even after this was ready.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Returns the number of queued bytes that are not yet written. An owner with
    /// too large a backlog receives nothing more.
    fn backlog(&self) -> usize {
        0
    }

    /// Returns the next event. After [`Incoming::Closed`] it returns the same
    /// event again.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming>;

    /// Describes the progress of a stream, for the message of a timeout.
    fn describe_progress(&self, stream: &Stream) -> Option<String> {
        let _ = stream;
        None
    }

    /// Returns true if the link waits for something with a separate deadline,
    /// such as the login of a user. Timeouts of requests are paused meanwhile.
    fn pauses_timeouts(&self) -> bool {
        false
    }

    /// Returns another link to the same server for a new session, if the
    /// transport supports it.
    fn new_session_link(&self) -> Option<Box<dyn Link>> {
        None
    }
}

/// The properties of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkInfo {
    /// The way in which the link carries several requests at once.
    pub kind: LinkKind,
    /// The name of the transport: `stdio`, `http`, `sse`, `memory`, `unix`, `pipes`.
    /// It is for messages only; no behaviour depends on it.
    pub transport_name: &'static str,
    /// The maximum time that the link takes to end after [`Outgoing::Close`]. After
    /// that its owner drops it.
    pub close_timeout: Duration,
    /// The other side's era, if an earlier connection has determined it.
    pub known_era: Option<Era>,
}

impl LinkInfo {
    /// Returns the properties of a link that takes at most a second to close and does
    /// not know the other side's era.
    pub const fn new(kind: LinkKind, transport_name: &'static str) -> Self {
        let close_timeout = Duration::from_secs(1);
        LinkInfo { kind, transport_name, close_timeout, known_era: None }
    }
}

/// The era of the revisions that a peer speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// Revisions that begin with a handshake (up to 2025-11-25).
    Legacy,
    /// Revisions whose requests carry their own metadata (since 2026-07-28).
    Modern,
}

/// A link whose type is known only at run time.
impl Link for Box<dyn Link> {
    fn info(&self) -> LinkInfo {
        (**self).info()
    }

    fn set_recorder(&mut self, recorder: Recorder) {
        (**self).set_recorder(recorder);
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

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        (**self).poll_receive(cx)
    }

    fn describe_progress(&self, stream: &Stream) -> Option<String> {
        (**self).describe_progress(stream)
    }

    fn pauses_timeouts(&self) -> bool {
        (**self).pauses_timeouts()
    }

    fn new_session_link(&self) -> Option<Box<dyn Link>> {
        (**self).new_session_link()
    }
}

/// The way in which a link carries several requests at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// All frames share one channel, as on stdio.
    Shared,
    /// Each request has its own stream, which can be aborted, as over Streamable
    /// HTTP.
    Streams,
}

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
pub mod pace;
mod recorder;

use std::task::{Context, Poll};
use std::time::Duration;

pub(crate) use events::render_stderr;
pub use events::{Cause, Envelope, Incoming, Outgoing, Stream};
pub use faults::{Change, Cut, Fault, Faults};
pub use line_link::{Lines, LinesOptions};
pub use memory_link::{MemoryLink, memory};
pub use memory_transport::MemoryTransport;
pub use recorder::Recorder;

/// The number of queued bytes above which the owner of a link stops sending until
/// they are written.
pub const FULL: usize = 4 * 1024 * 1024;

/// The number of frames to receive before other work gets its turn.
pub(crate) const MAX_FRAMES_PER_POLL: usize = 256;

/// One end of a connection.
///
/// All methods return at once. The owner of a link polls it: [`Link::send`] only
/// queues, [`Link::poll_flush`] writes, [`Link::poll_receive`] reads.
pub trait Link: Send + Unpin + 'static {
    /// Returns how the link carries several requests at once.
    fn kind(&self) -> LinkKind;

    /// Returns the name of the transport: `stdio`, `http`, `sse`, `memory`,
    /// `unix`, `pipes`. It is for messages only; no behaviour depends on it.
    fn transport(&self) -> &'static str;

    /// Sets the recorder for everything that passes from now on.
    fn record_to(&mut self, recorder: Recorder);

    /// Queues an event to send.
    fn send(&mut self, outgoing: Outgoing);

    /// Writes what is queued. Ready when all of it is on its way, or cannot be
    /// written. A link that fails reports it in what it receives. A link that was
    /// [`FULL`] wakes the task when it has room again, even after this was ready.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Returns the number of queued bytes that are not yet written. An owner with
    /// too large a backlog receives nothing more.
    fn backlog(&self) -> usize {
        0
    }

    /// Returns how long the link may take to end after [`Outgoing::Close`]. After
    /// that its owner drops it.
    fn closing_time(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// Returns the next event. After [`Incoming::Closed`] it returns the same
    /// event again.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming>;

    /// Describes the progress of a stream, for the message of a timeout.
    fn state_of(&self, stream: &Stream) -> Option<String> {
        let _ = stream;
        None
    }

    /// Returns whether the link waits for something that has a deadline
    /// elsewhere, such as a person who logs in. Timeouts of requests are paused
    /// meanwhile.
    fn is_held(&self) -> bool {
        false
    }

    /// Returns the other side's era if an earlier connection has determined it.
    fn known_era(&self) -> Option<Era> {
        None
    }

    /// Stores the other side's era for later connections.
    fn learn_era(&mut self, era: Era) {
        let _ = era;
    }

    /// Returns another link to the same server for a new session, where the
    /// transport supports it.
    fn again(&self) -> Option<Box<dyn Link>> {
        None
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
    /// Each request has its own stream, which can be aborted, as over Streamable
    /// HTTP.
    Streams,
}

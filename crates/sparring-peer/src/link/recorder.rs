//! Writes what passes a link's end into a transcript, with the time.

use std::time::Duration;

use sparring_wire::revision::Side;
use sparring_wire::{Conversation, Exchange, Frame, Transcript};
use tokio::time::Instant;

/// Where a link records: a conversation in a transcript, the side that the
/// link's owner is on, and when the record began. All clones are of the same
/// conversation.
#[derive(Debug, Clone)]
pub struct Recorder {
    conversation: Conversation,
    side: Side,
    start: Instant,
}

impl Recorder {
    /// Records for the owner of a link on that side, from now on.
    pub fn new(transcript: &Transcript, side: Side) -> Self {
        Recorder { conversation: transcript.conversation(), side, start: Instant::now() }
    }

    /// Records another conversation into the same transcript, whose times have
    /// the same beginning.
    #[must_use]
    pub fn another(&self) -> Self {
        Recorder { conversation: self.transcript().conversation(), ..*self }
    }

    /// Where it is recorded.
    pub fn transcript(&self) -> &Transcript {
        self.conversation.transcript()
    }

    /// Records what the link's owner sent.
    pub fn sent(&self, frame: &Frame) {
        self.conversation.record(self.elapsed(), self.side, frame);
    }

    /// Records what came in, noise included.
    pub fn received(&self, frame: &Frame) {
        self.conversation.record(self.elapsed(), self.side.other(), frame);
    }

    /// Records what came in an HTTP response, with its status.
    pub fn answered(&self, frame: &Frame, status: Option<u16>) {
        let (at, from) = (self.elapsed(), self.side.other());
        self.conversation.record_answer(at, from, frame, status);
    }

    /// Records an exchange over HTTP that has come to its end.
    pub fn exchanged(&self, exchange: Exchange) {
        self.transcript().record_exchange(exchange);
    }

    /// The time since the record began.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

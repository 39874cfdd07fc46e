//! Writes what passes a link's end into a transcript, with the time.

use std::time::Duration;

use sparring_wire::revision::Side;
use sparring_wire::{Exchange, Frame, Transcript};
use tokio::time::Instant;

/// Where a link records: a transcript, the side that the link's owner is on,
/// and when the conversation began.
#[derive(Debug, Clone)]
pub struct Recorder {
    transcript: Transcript,
    side: Side,
    start: Instant,
}

impl Recorder {
    /// Records for the owner of a link on that side, from now on.
    pub fn new(transcript: Transcript, side: Side) -> Self {
        Recorder { transcript, side, start: Instant::now() }
    }

    /// Records what the link's owner sent.
    pub fn sent(&self, frame: &Frame) {
        self.transcript.record(self.elapsed(), self.side, frame);
    }

    /// Records what came in, noise included.
    pub fn received(&self, frame: &Frame) {
        self.transcript.record(self.elapsed(), self.side.other(), frame);
    }

    /// Records an exchange over HTTP that has come to its end.
    pub fn exchanged(&self, exchange: Exchange) {
        self.transcript.record_exchange(exchange);
    }

    /// The time since the conversation began.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

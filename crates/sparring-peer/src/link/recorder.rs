//! Records the frames that pass a link's end in a transcript, with their times.

use std::time::Duration;

use sparring_wire::revision::Side;
use sparring_wire::{ConnectionRecorder, Exchange, Frame, HttpObservation, Transcript};
use tokio::time::Instant;

/// Records one connection in a transcript, from the side of the link's owner.
/// All clones record the same connection.
#[derive(Debug, Clone)]
pub struct Recorder {
    connection: ConnectionRecorder,
    side: Side,
    start: Instant,
}

impl Recorder {
    /// Creates a recorder for the owner of a link on `side`. Its clock starts
    /// now.
    pub fn new(transcript: &Transcript, side: Side) -> Self {
        Recorder { connection: transcript.recorder(), side, start: Instant::now() }
    }

    /// Creates a recorder for another connection in the same transcript, with
    /// the same start of time.
    #[must_use]
    pub fn for_another_connection(&self) -> Self {
        Recorder { connection: self.transcript().recorder(), ..*self }
    }

    /// Returns the transcript.
    pub fn transcript(&self) -> &Transcript {
        self.connection.transcript()
    }

    /// Records a frame that the link's owner sent.
    pub fn record_sent(&self, frame: &Frame) {
        self.connection.record(self.elapsed(), self.side, frame);
    }

    /// Records a frame or noise that arrived.
    pub fn record_received(&self, frame: &Frame) {
        self.connection.record(self.elapsed(), self.side.other(), frame);
    }

    /// Records a frame that arrived in an HTTP response, with the status.
    pub fn record_response(&self, frame: &Frame, status: Option<u16>) {
        let (at, from) = (self.elapsed(), self.side.other());
        self.connection.record_with_status(at, from, frame, status);
    }

    /// Records a frame that arrived in the HTTP response to a notification or a response.
    pub fn record_posted(&self, frame: &Frame, status: u16) {
        self.connection.record_posted(self.elapsed(), frame, status);
    }

    /// Checks what only HTTP shows, and records a violation.
    pub fn record_http(&self, observation: HttpObservation<'_>) {
        self.connection.record_http(observation);
    }

    /// Checks that the other side may go on after the end of its input, and records a
    /// violation.
    pub fn record_ignored_end_of_input(&self) {
        self.connection.record_ignored_end_of_input();
    }

    /// Records an HTTP exchange that has ended.
    pub fn record_exchange(&self, exchange: Exchange) {
        self.transcript().record_exchange(exchange);
    }

    /// Returns the time since the recorder was created.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

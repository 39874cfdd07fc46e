//! The transcript: all frames of one or more connections, in order and in both
//! directions, with their violations.
//!
//! Its size is bounded: it drops and counts the oldest entries, and keeps their
//! violations. Each frame is checked when it is recorded. The caller supplies the time.
//! HTTP exchanges are kept beside the frames, in at most a quarter of the same size.

mod buffer;
mod exchange;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use self::buffer::TranscriptBuffer;
pub use self::exchange::Exchange;
use crate::check::{ConnectionChecker, HttpObservation};
use crate::frame::{Frame, FrameKind, printed_line};
use crate::revision::Side;
use crate::rule::Rule;
use crate::violation::Violation;

/// An item that a transcript passes to its sink.
#[derive(Debug, Clone, Copy)]
pub enum TranscriptItem<'a> {
    /// A frame, or noise.
    Entry(&'a Entry),
    /// A finished HTTP exchange.
    Exchange(&'a Exchange),
    /// A violation of the server that no frame shows.
    Violation(&'a Violation),
}

/// One frame, or one piece of noise.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The time since the start of the connection.
    pub at: Duration,
    /// The sender.
    pub from: Side,
    /// The frame; for noise, the unreadable bytes.
    pub frame: Frame,
    /// The status of the HTTP response that carried it.
    pub status: Option<u16>,
    /// The violations of the frame.
    pub violations: Vec<Violation>,
}

impl Entry {
    /// Returns true if a server printed the text as a line of its stdout, and it is not
    /// JSON-RPC.
    pub fn is_printed_line(&self) -> bool {
        // Only frames in HTTP responses have a status.
        self.from == Side::Server && self.status.is_none() && self.frame.is_foreign_line()
    }
}

/// The record of one or more connections. Cheap to clone; all clones share it.
#[derive(Debug, Clone)]
pub struct Transcript(Arc<Mutex<TranscriptBuffer>>);

/// Records one connection in a transcript, and checks it separately from the other
/// connections there. Cheap to clone; all clones share the same state.
#[derive(Debug, Clone)]
pub struct ConnectionRecorder(Arc<RecorderState>);

#[derive(Debug)]
struct RecorderState {
    transcript: Transcript,
    checker: Mutex<ConnectionChecker>,
}

impl Transcript {
    /// The default size limit in bytes.
    pub const DEFAULT_BYTES: usize = 16 * 1024 * 1024;

    /// Creates an empty transcript that keeps at most about `max_size` bytes.
    pub fn with_max_bytes(max_size: usize) -> Self {
        Transcript(Arc::new(Mutex::new(TranscriptBuffer::new(max_size))))
    }

    /// Passes every later item to `sink` when it is recorded. The sink must not use the
    /// transcript.
    pub fn set_sink(&self, sink: impl FnMut(TranscriptItem<'_>) + Send + 'static) {
        self.buffer().set_sink(Box::new(sink));
    }

    /// Starts to record a connection.
    pub fn recorder(&self) -> ConnectionRecorder {
        let checker = Mutex::new(ConnectionChecker::new());
        ConnectionRecorder(Arc::new(RecorderState { transcript: self.clone(), checker }))
    }

    /// Adds a finished HTTP exchange.
    pub fn record_exchange(&self, exchange: Exchange) {
        self.buffer().add_exchange(exchange);
    }

    /// Adds a violation that no frame shows.
    pub fn record_violation(&self, violation: Violation) {
        self.buffer().add_violation(violation);
    }

    /// Returns the HTTP exchanges, in the order in which they finished.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.buffer().exchanges()
    }

    /// Returns all entries that are kept.
    pub fn entries(&self) -> Vec<Entry> {
        // Copies first and parses afterwards, so that recording does not wait.
        let snapshot = self.buffer().snapshot();
        snapshot.into_entries()
    }

    /// Returns the violations that no entry has, such as a wrong HTTP status.
    pub fn connection_violations(&self) -> Vec<Violation> {
        self.buffer().connection_violations()
    }

    /// Returns all violations so far, also those of dropped entries.
    pub fn violations(&self) -> Vec<Violation> {
        self.buffer().violations()
    }

    /// Returns the number of dropped entries and exchanges.
    pub fn dropped(&self) -> u64 {
        self.buffer().dropped()
    }

    /// Returns the number of entries that are kept.
    pub fn len(&self) -> usize {
        self.buffer().len()
    }

    /// Returns true if the transcript has no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn buffer(&self) -> MutexGuard<'_, TranscriptBuffer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionRecorder {
    /// Returns the transcript.
    pub fn transcript(&self) -> &Transcript {
        &self.0.transcript
    }

    /// Checks an observation over HTTP, and records a violation.
    pub fn record_http(&self, observation: HttpObservation<'_>) {
        let mut checker = self.0.checker.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(violation) = checker.check_http(observation) {
            self.0.transcript.buffer().add_violation(violation);
        }
    }

    /// Checks that a server may go on after the end of its input, and records a violation.
    pub fn record_ignored_end_of_input(&self) {
        let checker = self.0.checker.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(violation) = checker.check_ignored_end_of_input() {
            self.0.transcript.buffer().add_violation(violation);
        }
    }

    /// Checks and records a frame.
    pub fn record(&self, at: Duration, from: Side, frame: &Frame) {
        self.record_with_status(at, from, frame, None);
    }

    /// Checks and records a frame from an HTTP response with its status.
    pub fn record_with_status(&self, at: Duration, from: Side, frame: &Frame, status: Option<u16>) {
        self.add(at, from, frame, status, true);
    }

    /// Checks and records a frame of the server in the HTTP response to a notification or a
    /// response.
    pub fn record_posted(&self, at: Duration, frame: &Frame, status: u16) {
        self.add(at, Side::Server, frame, Some(status), false);
    }

    fn add(
        &self,
        at: Duration,
        from: Side,
        frame: &Frame,
        status: Option<u16>,
        answers_request: bool,
    ) {
        // The lock is held until the frame is recorded, so that frames are checked in
        // the order of the record.
        let mut checker = self.0.checker.lock().unwrap_or_else(PoisonError::into_inner);
        let mut violations = checker.check(from, frame);
        // The refusal of a message without a response can be an error without an id
        // (2025-03-26, basic/transports#sending-messages-to-the-server).
        if !answers_request && frame.kind() == FrameKind::Error && status >= Some(400) {
            violations.retain(|it| it.rule != Rule::IdMissing);
        }
        if from == Side::Server {
            checker.check_error_id(frame, status, &mut violations);
        }
        if let Some(status) = status.filter(|_| from == Side::Server) {
            checker.check_status_code(frame, status, &mut violations);
        }
        let mut entry = Entry { at, from, frame: frame.clone(), status, violations };
        if !entry.violations.is_empty() && entry.is_printed_line() {
            printed_line::explain(frame, &mut entry.violations);
        }
        self.0.transcript.buffer().add_entry(entry);
    }
}

impl Default for Transcript {
    fn default() -> Self {
        Transcript::with_max_bytes(Self::DEFAULT_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(recorder: &ConnectionRecorder, from: Side, text: &str) {
        recorder.record(Duration::ZERO, from, &Frame::parse(text));
    }

    #[test]
    fn keeps_order_and_attaches_violations() {
        let transcript = Transcript::default();
        let recorder = transcript.recorder();
        record(&recorder, Side::Client, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        record(&recorder, Side::Server, r#"{"jsonrpc":"1.0","id":1,"result":{}}"#);
        let entries = transcript.entries();
        assert_eq!(entries.len(), 2);
        assert!(entries[0].violations.is_empty());
        assert_eq!(entries[1].violations[0].rule.id(), "wire/wrong-jsonrpc");
        assert_eq!(transcript.violations().len(), entries[1].violations.len());
    }

    #[test]
    fn only_the_refusal_of_a_message_without_a_response_can_lack_the_id() {
        let transcript = Transcript::default();
        let recorder = transcript.recorder();
        let params = r#"{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
        let opening =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
        record(&recorder, Side::Client, &opening);
        let result = params.replace("clientInfo", "serverInfo");
        let opened = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        record(&recorder, Side::Server, &opened);
        let error = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"m"}}"#;
        let error = Frame::parse(error);
        let rules = || {
            let found = transcript.violations();
            found.iter().map(|it| it.rule.id()).collect::<Vec<_>>()
        };
        recorder.record_posted(Duration::ZERO, &error, 400);
        assert_eq!(rules(), [""; 0]);
        recorder.record_with_status(Duration::ZERO, Side::Server, &error, Some(400));
        assert_eq!(rules(), ["wire/id-missing"]);
    }

    #[test]
    fn connections_in_one_transcript_are_checked_separately() {
        let transcript = Transcript::default();
        let (one, other) = (transcript.recorder(), transcript.recorder());
        for recorder in [&one, &other] {
            record(recorder, Side::Client, r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#);
        }
        for recorder in [&one, &other, &one] {
            record(recorder, Side::Server, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        }
        let rules: Vec<_> = transcript.violations().iter().map(|it| it.rule.id()).collect();
        assert_eq!((transcript.len(), rules), (5, vec!["exchange/duplicate-response"]));
    }

    #[test]
    fn drops_and_counts_the_oldest_entries_but_keeps_their_violations() {
        let transcript = Transcript::with_max_bytes(300);
        let recorder = transcript.recorder();
        record(&recorder, Side::Server, "no json at all");
        for id in 0..10 {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x/y"}}"#);
            record(&recorder, Side::Client, &text);
        }
        assert_eq!(transcript.len() as u64 + transcript.dropped(), 11);
        assert!(transcript.len() <= 3);
        assert_eq!(transcript.violations()[0].rule.id(), "wire/not-json");
    }

    #[test]
    fn entries_have_the_recorded_bytes() {
        let transcript = Transcript::with_max_bytes(2_000);
        let texts: Vec<String> = (0..200)
            .map(|number| match number % 5 {
                0 => format!("noise {number}"),
                _ => format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"x/{number}"}}"#),
            })
            .collect();
        let recorder = transcript.recorder();
        for text in &texts {
            record(&recorder, Side::Client, text);
        }
        let entries = transcript.entries();
        assert!(entries.len() > 5 && entries.len() < 100);
        let expected = &texts[texts.len() - entries.len()..];
        let found: Vec<_> = entries.iter().map(|entry| entry.frame.text().into_owned()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_sink_receives_every_entry() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let transcript = Transcript::with_max_bytes(0);
        transcript.set_sink(move |recorded| {
            let TranscriptItem::Entry(entry) = recorded else { return };
            let _ = sender.send((entry.frame.clone(), entry.violations.len()));
        });
        let recorder = transcript.recorder();
        record(&recorder, Side::Server, "noise");
        record(&recorder, Side::Client, r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#);
        let seen: Vec<_> = receiver.try_iter().map(|(_, violations)| violations).collect();
        assert_eq!(seen, [1, 0]);
    }
}

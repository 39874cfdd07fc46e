//! The transcript: every frame of a conversation, or of several at once, both
//! ways, in order, with what is wrong with it.
//!
//! A bounded ring: the oldest entries give way, and are counted; what was wrong
//! with them is kept. An entry is judged as it is recorded, while it is at hand.
//! Of a clean one only the bytes are kept, one after the other in one buffer, so
//! that recording allocates nothing and dropping frees nothing; whoever looks
//! gets them parsed again. The clock is the caller's. Exchanges over HTTP are
//! kept beside the frames, within a quarter of the same bound.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::check::Referee;
use crate::exchange::Exchange;
use crate::frame::Frame;
use crate::revision::Side;
use crate::violation::Violation;

/// Violations of dropped entries that are kept.
const KEPT_VIOLATIONS: usize = 1024;

/// Whoever wants to have everything as it comes.
type Sink = Box<dyn FnMut(Recorded<'_>) + Send>;

/// What a sink is given.
#[derive(Debug, Clone, Copy)]
pub enum Recorded<'a> {
    /// A frame, or noise.
    Entry(&'a Entry),
    /// An exchange over HTTP, at its end.
    Exchange(&'a Exchange),
}

/// One frame, or one piece of noise, as it went over the wire.
#[derive(Debug, Clone)]
pub struct Entry {
    /// When, counted from the start of the conversation.
    pub at: Duration,
    /// Who sent it.
    pub from: Side,
    /// The frame itself; of noise, what could not be read.
    pub frame: Frame,
    /// The status of the HTTP response that it came in.
    pub status: Option<u16>,
    /// What is wrong with it.
    pub violations: Vec<Violation>,
}

/// The record of one conversation or more. Cheap to clone; all clones share it.
#[derive(Debug, Clone)]
pub struct Transcript(Arc<Mutex<Ring>>);

/// One conversation that is recorded in a transcript, and judged apart from the
/// others there. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub struct Conversation(Arc<Judged>);

#[derive(Debug)]
struct Judged {
    transcript: Transcript,
    referee: Mutex<Referee>,
}

struct Ring {
    /// The bytes of the clean entries, in order.
    bytes: VecDeque<u8>,
    records: VecDeque<Record>,
    /// What all of it takes in memory, about.
    size: usize,
    max_size: usize,
    dropped: u64,
    dropped_violations: Vec<Violation>,
    exchanges: VecDeque<Exchange>,
    /// What the exchanges take in memory, about.
    exchanges_size: usize,
    sink: Option<Sink>,
}

/// What is kept of an entry.
#[derive(Clone)]
struct Record {
    at: Duration,
    from: Side,
    status: Option<u16>,
    kept: Kept,
}

#[derive(Clone)]
enum Kept {
    /// So many bytes in the ring's buffer.
    Clean(usize),
    /// A frame that something is wrong with, and what.
    Wrong(Box<(Frame, Vec<Violation>)>),
}

impl Record {
    fn size(&self) -> usize {
        size_of::<Record>()
            + match &self.kept {
                Kept::Clean(length) => *length,
                Kept::Wrong(wrong) => 512 + 2 * wrong.0.bytes().len() + 256 * wrong.1.len(),
            }
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("entries", &self.records.len()).finish_non_exhaustive()
    }
}

impl Transcript {
    /// The bound of a transcript that nobody asked to be larger or smaller.
    pub const DEFAULT_BYTES: usize = 16 * 1024 * 1024;

    /// An empty transcript that keeps at most about `max_size` bytes.
    pub fn bounded(max_size: usize) -> Self {
        Transcript(Arc::new(Mutex::new(Ring {
            bytes: VecDeque::new(),
            records: VecDeque::new(),
            size: 0,
            max_size,
            dropped: 0,
            dropped_violations: Vec::new(),
            exchanges: VecDeque::new(),
            exchanges_size: 0,
            sink: None,
        })))
    }

    /// Gives everything later to `sink` as it is recorded. The sink must not
    /// use the transcript itself.
    pub fn stream_to(&self, sink: impl FnMut(Recorded<'_>) + Send + 'static) {
        self.ring().sink = Some(Box::new(sink));
    }

    /// Begins a conversation to be recorded here.
    pub fn conversation(&self) -> Conversation {
        let referee = Mutex::new(Referee::new());
        Conversation(Arc::new(Judged { transcript: self.clone(), referee }))
    }

    /// Adds an exchange over HTTP that has come to its end.
    pub fn record_exchange(&self, exchange: Exchange) {
        let mut ring = self.ring();
        if let Some(sink) = &mut ring.sink {
            sink(Recorded::Exchange(&exchange));
        }
        ring.exchanges_size += exchange.size();
        ring.exchanges.push_back(exchange);
        while ring.exchanges_size > ring.max_size / 4
            && ring.exchanges.len() > 1
            && let Some(oldest) = ring.exchanges.pop_front()
        {
            ring.exchanges_size -= oldest.size();
            ring.dropped += 1;
        }
    }

    /// The exchanges over HTTP that are kept, in the order of their ends.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.ring().exchanges.iter().cloned().collect()
    }

    /// All entries that are kept.
    pub fn entries(&self) -> Vec<Entry> {
        // Copied first and parsed later, so that nobody who records has to wait.
        let (bytes, records): (Vec<u8>, Vec<Record>) = {
            let ring = self.ring();
            let (front, back) = ring.bytes.as_slices();
            ([front, back].concat(), ring.records.iter().cloned().collect())
        };
        let mut rest = &bytes[..];
        let entries = records.into_iter().map(|record| {
            let (frame, violations) = match record.kept {
                Kept::Wrong(wrong) => *wrong,
                Kept::Clean(length) => {
                    let (bytes, following) = rest.split_at(length);
                    rest = following;
                    (Frame::parse(bytes), Vec::new())
                }
            };
            let Record { at, from, status, .. } = record;
            Entry { at, from, frame, status, violations }
        });
        entries.collect()
    }

    /// Everything found wrong so far, also in entries that were dropped.
    pub fn violations(&self) -> Vec<Violation> {
        let ring = self.ring();
        let kept = ring.records.iter().flat_map(|record| match &record.kept {
            Kept::Wrong(wrong) => &wrong.1[..],
            Kept::Clean(_) => &[],
        });
        ring.dropped_violations.iter().chain(kept).cloned().collect()
    }

    /// How many entries and exchanges had to give way.
    pub fn dropped(&self) -> u64 {
        self.ring().dropped
    }

    /// How many entries are kept.
    pub fn len(&self) -> usize {
        self.ring().records.len()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Conversation {
    /// Where it is recorded.
    pub fn transcript(&self) -> &Transcript {
        &self.0.transcript
    }

    /// Adds what went over the wire.
    pub fn record(&self, at: Duration, from: Side, frame: &Frame) {
        self.record_answer(at, from, frame, None);
    }

    /// Adds what came in an HTTP response, with its status.
    pub fn record_answer(&self, at: Duration, from: Side, frame: &Frame, status: Option<u16>) {
        // Held until it is recorded, so that it is judged in the order of the record.
        let mut referee = self.0.referee.lock().unwrap_or_else(PoisonError::into_inner);
        let violations = referee.observe(from, frame);
        let entry = Entry { at, from, frame: frame.clone(), status, violations };
        self.0.transcript.ring().add(entry);
    }
}

impl Default for Transcript {
    fn default() -> Self {
        Transcript::bounded(Self::DEFAULT_BYTES)
    }
}

impl Ring {
    fn add(&mut self, entry: Entry) {
        if let Some(sink) = &mut self.sink {
            sink(Recorded::Entry(&entry));
        }
        let Entry { at, from, frame, status, violations } = entry;
        let kept = match violations.is_empty() && frame.violations().is_empty() {
            true => {
                self.bytes.extend(frame.bytes());
                Kept::Clean(frame.bytes().len())
            }
            false => Kept::Wrong(Box::new((frame, violations))),
        };
        let record = Record { at, from, status, kept };
        self.size += record.size();
        self.records.push_back(record);
        while self.size > self.max_size && self.records.len() > 1 {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let Some(record) = self.records.pop_front() else { return };
        self.dropped += 1;
        self.size -= record.size();
        match record.kept {
            Kept::Clean(length) => drop(self.bytes.drain(..length)),
            Kept::Wrong(wrong) => {
                let room = KEPT_VIOLATIONS.saturating_sub(self.dropped_violations.len());
                self.dropped_violations.extend(wrong.1.into_iter().take(room));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(conversation: &Conversation, from: Side, text: &str) {
        conversation.record(Duration::ZERO, from, &Frame::parse(text));
    }

    #[test]
    fn keeps_order_and_attaches_violations() {
        let transcript = Transcript::default();
        let conversation = transcript.conversation();
        record(&conversation, Side::Client, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        record(&conversation, Side::Server, r#"{"jsonrpc":"1.0","id":1,"result":{}}"#);
        let entries = transcript.entries();
        assert_eq!(entries.len(), 2);
        assert!(entries[0].violations.is_empty());
        assert_eq!(entries[1].violations[0].rule.name(), "wrong-jsonrpc");
        assert_eq!(transcript.violations().len(), entries[1].violations.len());
    }

    #[test]
    fn conversations_in_one_transcript_are_judged_apart() {
        let transcript = Transcript::default();
        let (one, other) = (transcript.conversation(), transcript.conversation());
        for conversation in [&one, &other] {
            record(conversation, Side::Client, r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#);
        }
        for conversation in [&one, &other, &one] {
            record(conversation, Side::Server, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        }
        let wrong: Vec<_> = transcript.violations().iter().map(|it| it.rule.name()).collect();
        assert_eq!((transcript.len(), wrong), (5, vec!["duplicate-reply"]));
    }

    #[test]
    fn the_oldest_give_way_and_are_counted_but_their_violations_stay() {
        let transcript = Transcript::bounded(300);
        let conversation = transcript.conversation();
        record(&conversation, Side::Server, "no json at all");
        for id in 0..10 {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x/y"}}"#);
            record(&conversation, Side::Client, &text);
        }
        assert_eq!(transcript.len() as u64 + transcript.dropped(), 11);
        assert!(transcript.len() <= 3);
        assert_eq!(transcript.violations()[0].rule.name(), "not-json");
    }

    #[test]
    fn entries_come_back_as_they_were_recorded() {
        let transcript = Transcript::bounded(2_000);
        let texts: Vec<String> = (0..200)
            .map(|number| match number % 5 {
                0 => format!("noise {number}"),
                _ => format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"x/{number}"}}"#),
            })
            .collect();
        let conversation = transcript.conversation();
        for text in &texts {
            record(&conversation, Side::Client, text);
        }
        let entries = transcript.entries();
        assert!(entries.len() > 5 && entries.len() < 100);
        let expected = &texts[texts.len() - entries.len()..];
        let found: Vec<_> = entries.iter().map(|entry| entry.frame.text().into_owned()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_sink_gets_every_entry() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let transcript = Transcript::bounded(0);
        transcript.stream_to(move |recorded| {
            let Recorded::Entry(entry) = recorded else { return };
            let _ = sender.send((entry.frame.clone(), entry.violations.len()));
        });
        let conversation = transcript.conversation();
        record(&conversation, Side::Server, "noise");
        record(&conversation, Side::Client, r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#);
        let seen: Vec<_> = receiver.try_iter().map(|(_, violations)| violations).collect();
        assert_eq!(seen, [1, 0]);
    }
}

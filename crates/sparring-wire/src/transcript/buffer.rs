//! The bounded buffer of a transcript.
//!
//! A valid frame is stored as bytes only. All stored frames share one queue, so that
//! recording allocates nothing and dropping frees nothing. Reading parses the frames
//! again.

use std::collections::VecDeque;
use std::time::Duration;

use super::exchange::Exchange;
use super::{Entry, TranscriptItem};
use crate::frame::Frame;
use crate::revision::Side;
use crate::violation::Violation;

/// The maximum number of violations of dropped entries that are kept.
const MAX_DROPPED_VIOLATIONS: usize = 1024;

/// The maximum number of violations that no entry has.
const MAX_CONNECTION_VIOLATIONS: usize = 1024;

/// Receives every item of a transcript.
type Sink = Box<dyn FnMut(TranscriptItem<'_>) + Send>;

pub(super) struct TranscriptBuffer {
    /// The bytes of the valid frames, in order.
    bytes: VecDeque<u8>,
    records: VecDeque<Record>,
    /// The approximate memory of the records and bytes.
    size: usize,
    max_size: usize,
    dropped: u64,
    dropped_violations: Vec<Violation>,
    /// The violations that no entry has.
    connection_violations: Vec<Violation>,
    exchanges: VecDeque<Exchange>,
    /// The approximate memory of the exchanges.
    exchanges_size: usize,
    sink: Option<Sink>,
}

/// A stored entry.
#[derive(Clone)]
struct Record {
    at: Duration,
    from: Side,
    status: Option<u16>,
    frame: StoredFrame,
}

#[derive(Clone)]
enum StoredFrame {
    /// A valid frame: the number of its bytes in the buffer.
    Valid(usize),
    /// A frame with violations.
    Invalid(Box<(Frame, Vec<Violation>)>),
}

/// A copy of the buffer's content, so that parsing does not block recording.
pub(super) struct Snapshot {
    bytes: Vec<u8>,
    records: Vec<Record>,
}

impl Record {
    fn size(&self) -> usize {
        size_of::<Record>()
            + match &self.frame {
                StoredFrame::Valid(length) => *length,
                StoredFrame::Invalid(invalid) => {
                    512 + 2 * invalid.0.bytes().len() + 256 * invalid.1.len()
                }
            }
    }
}

impl std::fmt::Debug for TranscriptBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TranscriptBuffer")
            .field("entries", &self.records.len())
            .finish_non_exhaustive()
    }
}

impl TranscriptBuffer {
    pub(super) fn new(max_size: usize) -> Self {
        TranscriptBuffer {
            bytes: VecDeque::new(),
            records: VecDeque::new(),
            size: 0,
            max_size,
            dropped: 0,
            dropped_violations: Vec::new(),
            connection_violations: Vec::new(),
            exchanges: VecDeque::new(),
            exchanges_size: 0,
            sink: None,
        }
    }

    pub(super) fn set_sink(&mut self, sink: Sink) {
        self.sink = Some(sink);
    }

    pub(super) fn add_entry(&mut self, entry: Entry) {
        if let Some(sink) = &mut self.sink {
            sink(TranscriptItem::Entry(&entry));
        }
        let Entry { at, from, frame, status, violations } = entry;
        let frame = match violations.is_empty() && frame.violations().is_empty() {
            true => {
                self.bytes.extend(frame.bytes());
                StoredFrame::Valid(frame.bytes().len())
            }
            false => StoredFrame::Invalid(Box::new((frame, violations))),
        };
        let record = Record { at, from, status, frame };
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
        match record.frame {
            StoredFrame::Valid(length) => drop(self.bytes.drain(..length)),
            StoredFrame::Invalid(invalid) => {
                let room = MAX_DROPPED_VIOLATIONS.saturating_sub(self.dropped_violations.len());
                self.dropped_violations.extend(invalid.1.into_iter().take(room));
            }
        }
    }

    pub(super) fn add_violation(&mut self, violation: Violation) {
        if let Some(sink) = &mut self.sink {
            sink(TranscriptItem::Violation(&violation));
        }
        if self.connection_violations.len() < MAX_CONNECTION_VIOLATIONS {
            self.connection_violations.push(violation);
        }
    }

    pub(super) fn connection_violations(&self) -> Vec<Violation> {
        self.connection_violations.clone()
    }

    pub(super) fn add_exchange(&mut self, exchange: Exchange) {
        if let Some(sink) = &mut self.sink {
            sink(TranscriptItem::Exchange(&exchange));
        }
        self.exchanges_size += exchange.size();
        self.exchanges.push_back(exchange);
        while self.exchanges_size > self.max_size / 4
            && self.exchanges.len() > 1
            && let Some(oldest) = self.exchanges.pop_front()
        {
            self.exchanges_size -= oldest.size();
            self.dropped += 1;
        }
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let (front, back) = self.bytes.as_slices();
        let bytes = [front, back].concat();
        Snapshot { bytes, records: self.records.iter().cloned().collect() }
    }

    pub(super) fn exchanges(&self) -> Vec<Exchange> {
        self.exchanges.iter().cloned().collect()
    }

    pub(super) fn violations(&self) -> Vec<Violation> {
        let kept = self.records.iter().flat_map(|record| match &record.frame {
            StoredFrame::Invalid(invalid) => &invalid.1[..],
            StoredFrame::Valid(_) => &[],
        });
        let kept = kept.chain(&self.connection_violations);
        self.dropped_violations.iter().chain(kept).cloned().collect()
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }
}

impl Snapshot {
    /// Parses the stored frames again.
    pub(super) fn into_entries(self) -> Vec<Entry> {
        let mut rest = &self.bytes[..];
        let entries = self.records.into_iter().map(|record| {
            let (frame, violations) = match record.frame {
                StoredFrame::Invalid(invalid) => *invalid,
                StoredFrame::Valid(length) => {
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
}

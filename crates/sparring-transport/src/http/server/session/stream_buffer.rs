//! The frames of one stream of a session: delivered, waiting, or kept for resumption.
//!
//! A number identifies the reader, so that a later reader replaces an earlier one. Nothing here
//! waits or writes.

use std::collections::{HashSet, VecDeque};
use std::task::Waker;

use sparring_peer::link::Faults;
use sparring_wire::{Frame, Id};

/// The maximum number of unread frames that are kept.
const MAX_FRAMES: usize = 1_000;

/// The buffer of one stream.
#[derive(Debug, Default)]
pub(super) struct StreamBuffer {
    /// The kept frames, the oldest first.
    frames: VecDeque<Frame>,
    /// Scripted faults, by frame number.
    faults: VecDeque<(u64, Faults)>,
    /// The number of the newest frame; the first has 1.
    newest: u64,
    /// The number of the last frame that was delivered to a reader.
    delivered: u64,
    /// The size of the kept frames, and of those that are not delivered.
    bytes: usize,
    undelivered_bytes: usize,
    /// The current reader and its waker.
    reader: Option<u64>,
    waker: Option<Waker>,
    /// The number of readers so far.
    readers: u64,
    /// True if it is sent as events, so that a client knows its position.
    pub(super) started: bool,
    /// True if no more frames follow.
    pub(super) done: bool,
    /// True if the connection ends while the stream continues.
    pub(super) cut: bool,
    /// The requests that it answers.
    pub(super) requests: Vec<Id>,
    /// The requests that the client has cancelled.
    pub(super) cancelled: HashSet<Id>,
}

impl StreamBuffer {
    pub(super) fn for_requests(requests: Vec<Id>) -> Self {
        StreamBuffer { requests, ..StreamBuffer::default() }
    }

    /// Adds a frame and wakes the reader.
    pub(super) fn push(&mut self, frame: Frame, limit: usize) {
        self.bytes += frame.bytes().len();
        self.undelivered_bytes += frame.bytes().len();
        self.newest += 1;
        self.frames.push_back(frame);
        self.trim(limit);
        self.wake();
    }

    /// Returns true if all frames after this one are kept.
    pub(super) fn has_all_after(&self, number: u64) -> bool {
        number.saturating_add(self.frames.len() as u64) >= self.newest
    }

    /// Adds faults to the newest frame.
    pub(super) fn add_faults(&mut self, faults: Faults) {
        if faults.get().is_some() {
            self.faults.push_back((self.newest, faults));
        }
    }

    /// Takes the faults of a frame.
    pub(super) fn take_faults(&mut self, number: u64) -> Faults {
        let found = self.faults.iter().position(|(of, _)| *of == number);
        found.and_then(|at| self.faults.remove(at)).map_or(Faults::none(), |(_, faults)| faults)
    }

    /// Returns the next undelivered frame with its number.
    pub(super) fn next(&mut self) -> Option<(u64, Frame)> {
        let first = self.newest + 1 - self.frames.len() as u64;
        let number = (self.delivered + 1).max(first);
        let frame = self.frames.get(usize::try_from(number.checked_sub(first)?).ok()?)?.clone();
        self.delivered = number;
        self.undelivered_bytes = self.undelivered_bytes.saturating_sub(frame.bytes().len());
        Some((number, frame))
    }

    /// Returns the number of the last delivered frame.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Returns true if all frames were delivered.
    pub(super) fn is_empty(&self) -> bool {
        self.delivered == self.newest
    }

    /// Returns the only frame of the stream, if it is undelivered.
    pub(super) fn only_frame(&self) -> Option<&Frame> {
        self.frames.back().filter(|_| self.newest == 1 && self.delivered == 0)
    }

    /// Adds a reader, which replaces the previous one. It starts after frame `after`, or where
    /// the previous one stopped.
    pub(super) fn attach(&mut self, after: Option<u64>) -> u64 {
        self.readers += 1;
        self.reader = Some(self.readers);
        self.cut = false;
        if let Some(after) = after {
            self.delivered = after.min(self.newest);
            let again = (self.newest - self.delivered).min(self.frames.len() as u64) as usize;
            let again = self.frames.iter().rev().take(again);
            self.undelivered_bytes = again.map(|frame| frame.bytes().len()).sum();
        }
        self.wake();
        self.readers
    }

    /// Removes a reader, if it is the current one.
    pub(super) fn detach(&mut self, reader: u64, limit: usize) -> bool {
        let was = self.is_read_by(reader);
        if was {
            self.reader = None;
            self.waker = None;
            self.trim(limit);
        }
        was
    }

    pub(super) fn is_read_by(&self, reader: u64) -> bool {
        self.reader == Some(reader)
    }

    pub(super) fn is_read(&self) -> bool {
        self.reader.is_some()
    }

    /// Returns the bytes that the current reader has not received yet.
    pub(super) fn backlog(&self) -> usize {
        if self.is_read() { self.undelivered_bytes } else { 0 }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn register_waker(&mut self, waker: &Waker) {
        match &mut self.waker {
            Some(known) if known.will_wake(waker) => {}
            known => *known = Some(waker.clone()),
        }
    }

    pub(super) fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Drops the oldest frames beyond the limit; never one that a reader still needs.
    fn trim(&mut self, limit: usize) {
        while self.bytes > limit || self.frames.len() > MAX_FRAMES {
            let oldest = self.newest + 1 - self.frames.len() as u64;
            if self.is_read() && oldest > self.delivered {
                return;
            }
            let Some(frame) = self.frames.pop_front() else { return };
            self.bytes -= frame.bytes().len();
            if oldest > self.delivered {
                self.undelivered_bytes = self.undelivered_bytes.saturating_sub(frame.bytes().len());
                // Nothing waits for a frame that is gone.
                self.delivered = oldest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: u64) -> Frame {
        Frame::parse(format!("{{\"n\":{number}}}"))
    }

    fn all(buffer: &mut StreamBuffer) -> Vec<u64> {
        std::iter::from_fn(|| buffer.next()).map(|(number, _)| number).collect()
    }

    #[test]
    fn a_returning_reader_receives_the_following_frames() {
        let mut buffer = StreamBuffer::default();
        let first = buffer.attach(None);
        for number in 1..=3 {
            buffer.push(frame(number), 1_000);
        }
        assert_eq!(all(&mut buffer), [1, 2, 3]);
        assert!(buffer.detach(first, 1_000));
        buffer.push(frame(4), 1_000);
        let second = buffer.attach(Some(2));
        assert_eq!(buffer.backlog(), 2 * frame(3).bytes().len());
        assert_eq!(all(&mut buffer), [3, 4]);
        assert_eq!(buffer.backlog(), 0);
        let third = buffer.attach(None);
        assert!(!buffer.is_read_by(second) && buffer.is_read_by(third));
        assert_eq!(all(&mut buffer), [0; 0]);
        assert!(!buffer.detach(second, 1_000), "another took over");
    }

    #[test]
    fn limits_unread_frames_and_keeps_those_that_are_read() {
        let size = frame(1).bytes().len();
        let mut buffer = StreamBuffer::default();
        for number in 1..=9 {
            buffer.push(frame(number), 3 * size);
        }
        let reader = buffer.attach(None);
        assert_eq!(all(&mut buffer), [7, 8, 9]);
        for number in 1..=9 {
            buffer.push(frame(number), 3 * size);
        }
        assert_eq!(all(&mut buffer), (10..=18).collect::<Vec<_>>());
        assert!(buffer.detach(reader, 3 * size));
        assert_eq!(buffer.bytes(), 3 * size);
        assert_eq!([14, 15, 18, 99].map(|it| buffer.has_all_after(it)), [false, true, true, true]);
        buffer.attach(Some(15));
        assert_eq!(all(&mut buffer), [16, 17, 18]);
    }

    #[test]
    fn ignores_an_unknown_frame_number() {
        let mut buffer = StreamBuffer::default();
        buffer.push(frame(1), 1_000);
        buffer.attach(Some(u64::MAX));
        assert_eq!(all(&mut buffer), [0; 0]);
        buffer.push(frame(2), 1_000);
        assert_eq!(all(&mut buffer), [2]);
    }
}

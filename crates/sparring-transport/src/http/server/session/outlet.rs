//! One stream of a session: frames in order, some sent, some waiting, and some
//! kept for a client that comes back.
//!
//! Who reads is told by a number, so that a later reader takes over from an
//! earlier one. Nothing here waits or writes.

use std::collections::{HashSet, VecDeque};
use std::task::Waker;

use sparring_peer::link::Faults;
use sparring_wire::{Frame, Id};

/// How many frames are kept that nobody reads.
const MOST: usize = 1_000;

/// One stream.
#[derive(Debug, Default)]
pub(super) struct Outlet {
    /// Those that are kept, the oldest first.
    kept: VecDeque<Frame>,
    /// What is to go wrong with some of them, by their numbers.
    faults: VecDeque<(u64, Faults)>,
    /// The number of the newest frame; the first has 1.
    newest: u64,
    /// The number of the last frame that was given to a reader.
    given: u64,
    /// Bytes that are kept, and of those the ones that were not given.
    bytes: usize,
    waiting: usize,
    /// Who reads, and how to wake it.
    reader: Option<u64>,
    waker: Option<Waker>,
    /// How many readers there have been.
    readers: u64,
    /// Whether it is sent as events, so that a client knows where it is in it.
    pub(super) begun: bool,
    /// Whether nothing follows any more.
    pub(super) done: bool,
    /// Whether the connection is to end, and the stream is not.
    pub(super) cut: bool,
    /// The requests that it belongs to.
    pub(super) requests: Vec<Id>,
    /// Those of them that the client has cancelled.
    pub(super) cancelled: HashSet<Id>,
}

impl Outlet {
    pub(super) fn of(requests: Vec<Id>) -> Self {
        Outlet { requests, ..Outlet::default() }
    }

    /// Adds a frame and wakes who reads.
    pub(super) fn push(&mut self, frame: Frame, limit: usize) {
        self.bytes += frame.bytes().len();
        self.waiting += frame.bytes().len();
        self.newest += 1;
        self.kept.push_back(frame);
        self.trim(limit);
        self.wake();
    }

    /// Whether everything that followed that frame is kept.
    pub(super) fn keeps_all_after(&self, number: u64) -> bool {
        number.saturating_add(self.kept.len() as u64) >= self.newest
    }

    /// Lets something go wrong with the newest frame.
    pub(super) fn fail_with(&mut self, faults: Faults) {
        if faults.get().is_some() {
            self.faults.push_back((self.newest, faults));
        }
    }

    /// What is to go wrong with a frame, once.
    pub(super) fn faults_of(&mut self, number: u64) -> Faults {
        let found = self.faults.iter().position(|(of, _)| *of == number);
        found.and_then(|at| self.faults.remove(at)).map_or(Faults::none(), |(_, faults)| faults)
    }

    /// The next frame that was not given yet, with its number.
    pub(super) fn next(&mut self) -> Option<(u64, Frame)> {
        let first = self.newest + 1 - self.kept.len() as u64;
        let number = (self.given + 1).max(first);
        let frame = self.kept.get(usize::try_from(number.checked_sub(first)?).ok()?)?.clone();
        self.given = number;
        self.waiting = self.waiting.saturating_sub(frame.bytes().len());
        Some((number, frame))
    }

    /// Where the stream is.
    pub(super) fn given(&self) -> u64 {
        self.given
    }

    /// Whether all was given.
    pub(super) fn is_empty(&self) -> bool {
        self.given == self.newest
    }

    /// The only frame there ever was, if it was not given yet.
    pub(super) fn only(&self) -> Option<&Frame> {
        self.kept.back().filter(|_| self.newest == 1 && self.given == 0)
    }

    /// A new reader, who takes over; it goes on after the given frame, or
    /// where the one before it stopped.
    pub(super) fn attach(&mut self, after: Option<u64>) -> u64 {
        self.readers += 1;
        self.reader = Some(self.readers);
        self.cut = false;
        if let Some(after) = after {
            self.given = after.min(self.newest);
            let again = (self.newest - self.given).min(self.kept.len() as u64) as usize;
            let again = self.kept.iter().rev().take(again);
            self.waiting = again.map(|frame| frame.bytes().len()).sum();
        }
        self.wake();
        self.readers
    }

    /// The reader has gone, if it was this one.
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

    /// Bytes that somebody who reads has not been given yet.
    pub(super) fn backlog(&self) -> usize {
        if self.is_read() { self.waiting } else { 0 }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn wake_with(&mut self, waker: &Waker) {
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

    /// Forgets what is too much, the oldest first; never what a reader is still
    /// to be given, and never the newest.
    fn trim(&mut self, limit: usize) {
        while self.kept.len() > 1 && (self.bytes > limit || self.kept.len() > MOST) {
            let oldest = self.newest + 1 - self.kept.len() as u64;
            if self.is_read() && oldest > self.given {
                return;
            }
            let Some(frame) = self.kept.pop_front() else { return };
            self.bytes -= frame.bytes().len();
            if oldest > self.given {
                self.waiting = self.waiting.saturating_sub(frame.bytes().len());
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

    fn all(outlet: &mut Outlet) -> Vec<u64> {
        std::iter::from_fn(|| outlet.next()).map(|(number, _)| number).collect()
    }

    #[test]
    fn a_reader_that_comes_back_gets_what_followed() {
        let mut outlet = Outlet::default();
        let first = outlet.attach(None);
        for number in 1..=3 {
            outlet.push(frame(number), 1_000);
        }
        assert_eq!(all(&mut outlet), [1, 2, 3]);
        assert!(outlet.detach(first, 1_000));
        outlet.push(frame(4), 1_000);
        let second = outlet.attach(Some(2));
        assert_eq!(outlet.backlog(), 2 * frame(3).bytes().len());
        assert_eq!(all(&mut outlet), [3, 4]);
        assert_eq!(outlet.backlog(), 0);
        let third = outlet.attach(None);
        assert!(!outlet.is_read_by(second) && outlet.is_read_by(third));
        assert_eq!(all(&mut outlet), [0; 0]);
        assert!(!outlet.detach(second, 1_000), "another took over");
    }

    #[test]
    fn what_nobody_reads_is_bounded_and_what_is_read_is_not_lost() {
        let size = frame(1).bytes().len();
        let mut outlet = Outlet::default();
        for number in 1..=9 {
            outlet.push(frame(number), 3 * size);
        }
        let reader = outlet.attach(None);
        assert_eq!(all(&mut outlet), [7, 8, 9]);
        for number in 1..=9 {
            outlet.push(frame(number), 3 * size);
        }
        assert_eq!(all(&mut outlet), (10..=18).collect::<Vec<_>>());
        assert!(outlet.detach(reader, 3 * size));
        assert_eq!(outlet.bytes(), 3 * size);
        assert_eq!(
            [14, 15, 18, 99].map(|it| outlet.keeps_all_after(it)),
            [false, true, true, true]
        );
        outlet.attach(Some(15));
        assert_eq!(all(&mut outlet), [16, 17, 18]);
    }

    #[test]
    fn a_number_from_nowhere_does_no_harm() {
        let mut outlet = Outlet::default();
        outlet.push(frame(1), 1_000);
        outlet.attach(Some(u64::MAX));
        assert_eq!(all(&mut outlet), [0; 0]);
        outlet.push(frame(2), 1_000);
        assert_eq!(all(&mut outlet), [2]);
    }
}

//! All that is said in a test, for whoever wants to see it afterwards.
//!
//! What is said between two tests is of the one that comes next. Where tests run
//! at once on one server, nobody can tell whose a frame is: each has all that
//! was said while it ran, and says so.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sparring_transport::Secrets;
use sparring_wire::{Entry, Side};
use tokio::time::Instant;

use crate::event::{Said, Traffic};
use crate::hide;

/// The most frames of a test that are kept, and their bytes: the first ones say
/// what was asked, the last ones what came of it.
const FRAMES: usize = 200;
const BYTES: usize = 256 * 1024;

/// How much of one frame is kept.
const LONGEST: usize = 16 * 1024;

/// The most bytes of all tests of a run.
pub(super) const OF_A_RUN: usize = 256 * 1024 * 1024;

/// What runs on one server. All clones are one.
#[derive(Debug, Clone)]
pub(super) struct Tape(Arc<Mutex<Tapes>>);

#[derive(Debug)]
struct Tapes {
    secrets: Secrets,
    /// How many bytes the run may still keep.
    room: Arc<AtomicUsize>,
    open: Vec<Open>,
    /// What was said since the last test ended.
    between: Kept,
}

/// A test that goes on.
#[derive(Debug)]
struct Open {
    test: usize,
    begun: Instant,
    kept: Kept,
}

#[derive(Debug, Default)]
struct Kept {
    frames: Vec<Said>,
    bytes: usize,
    left_out: usize,
    shared: bool,
}

impl Tape {
    /// One that hides these secrets, and keeps no more than there is room for.
    pub(super) fn new(secrets: Secrets, room: Arc<AtomicUsize>) -> Self {
        let tapes = Tapes { secrets, room, open: Vec::new(), between: Kept::default() };
        Tape(Arc::new(Mutex::new(tapes)))
    }

    /// A test begins.
    pub(super) fn begin(&self, test: usize) {
        let mut tapes = self.tapes();
        let kept = match tapes.open.is_empty() {
            true => std::mem::take(&mut tapes.between),
            false => Kept::default(),
        };
        tapes.open.push(Open { test, begun: Instant::now(), kept });
        let shared = tapes.open.len() > 1;
        tapes.open.iter_mut().for_each(|open| open.kept.shared |= shared);
    }

    /// A test is over; gives all that was said.
    pub(super) fn end(&self, test: usize) -> Traffic {
        let mut tapes = self.tapes();
        let Some(at) = tapes.open.iter().position(|open| open.test == test) else {
            return Traffic::default();
        };
        let Kept { frames, left_out, shared, .. } = tapes.open.remove(at).kept;
        Traffic { frames, left_out, shared }
    }

    /// Something was said.
    pub(super) fn keep(&self, entry: &Entry) {
        let mut tapes = self.tapes();
        let Tapes { secrets, room, open, between } = &mut *tapes;
        let text = entry.frame.text();
        let text = secrets.mask(&text);
        let said = Said {
            at: Duration::ZERO,
            by_server: entry.from == Side::Server,
            text: cut(&hide::without_secrets(&text)),
            bytes: entry.frame.bytes().len(),
            status: entry.status,
            violations: entry.violations.clone(),
        };
        for Open { begun, kept, .. } in open.iter_mut() {
            kept.add(Said { at: begun.elapsed(), ..said.clone() }, room);
        }
        if open.is_empty() {
            between.add(said, room);
        }
    }

    fn tapes(&self) -> MutexGuard<'_, Tapes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Adds a frame; where there are too many, those in the middle make room.
    fn add(&mut self, said: Said, room: &AtomicUsize) {
        let size = said.text.len();
        let less = |room: usize| room.checked_sub(size);
        if room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
            self.left_out += 1;
            return;
        }
        self.bytes += size;
        self.frames.push(said);
        while self.frames.len() > FRAMES || self.bytes > BYTES {
            let middle = self.frames.remove(self.frames.len() / 2);
            self.bytes -= middle.text.len();
            room.fetch_add(middle.text.len(), Ordering::Relaxed);
            self.left_out += 1;
        }
    }
}

/// The beginning of a text that is too long.
fn cut(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let end = (0..=LONGEST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use sparring_wire::Frame;

    use super::*;

    fn keep(tape: &Tape, text: &str) {
        tape.keep(&Entry {
            at: Duration::ZERO,
            from: Side::Server,
            frame: Frame::parse(text),
            status: None,
            violations: Vec::new(),
        });
    }

    fn tape(secrets: &[&str], room: usize) -> Tape {
        let known = Secrets::default();
        secrets.iter().for_each(|secret| known.add(secret));
        Tape::new(known, Arc::new(AtomicUsize::new(room)))
    }

    #[test]
    fn what_is_said_between_tests_is_of_the_next() {
        let tape = tape(&[], OF_A_RUN);
        keep(&tape, "before");
        tape.begin(0);
        keep(&tape, "during");
        let texts =
            |traffic: Traffic| traffic.frames.into_iter().map(|said| said.text).collect::<Vec<_>>();
        assert_eq!(texts(tape.end(0)), ["before", "during"]);
        keep(&tape, "after");
        tape.begin(1);
        assert_eq!(texts(tape.end(1)), ["after"]);
        assert_eq!(texts(tape.end(1)), Vec::<String>::new());
    }

    #[test]
    fn a_run_keeps_so_much_and_counts_the_rest() {
        let tape = tape(&[], 10);
        tape.begin(0);
        (0..5).for_each(|_| keep(&tape, "four"));
        let traffic = tape.end(0);
        assert_eq!((traffic.frames.len(), traffic.left_out), (2, 3));
    }

    #[test]
    fn a_secret_is_hidden_before_it_could_be_cut_in_two() {
        let tape = tape(&["hunter-2-hunter"], OF_A_RUN);
        tape.begin(0);
        keep(&tape, &format!("{}hunter-2-hunter{}", "x".repeat(LONGEST - 5), "y".repeat(100)));
        let text = tape.end(0).frames.remove(0).text;
        assert!(text.ends_with("x(hidd…"), "{}", &text[LONGEST - 20..]);
    }
}

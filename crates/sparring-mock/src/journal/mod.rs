//! What came in: every request that a mock was to serve, with the answer it
//! got, if it got one.
//!
//! Recording keeps what is there already and looks into nothing; the oldest
//! give way.

mod expect;
mod line;
mod received;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use jiff::Timestamp;
use sparring_peer::server::{Answer, Context};

pub use expect::{Expectation, Miss};
#[cfg(feature = "http")]
pub(crate) use line::is_secret;
pub use received::Received;

use received::Given;

/// How much is kept: requests, and the bytes of them and their answers.
const MOST: usize = 10_000;
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Somebody who hears of every request.
type Ear = Box<dyn Fn(&Received) + Send + Sync>;

/// All that came in, as far as it is kept.
#[derive(Default)]
pub(crate) struct Journal {
    kept: Mutex<Kept>,
    ear: OnceLock<Ear>,
}

#[derive(Default)]
struct Kept {
    requests: VecDeque<Received>,
    bytes: usize,
    dropped: u64,
}

/// A request that waits for its answer. Dropped, it has none.
pub(crate) struct Noting<'a> {
    journal: &'a Journal,
    received: Received,
}

impl Journal {
    /// Keeps a request as it comes.
    pub(crate) fn begin(&self, cx: &Context) -> Noting<'_> {
        let mut kept = self.lock();
        let received = Received {
            number: kept.dropped + kept.requests.len() as u64,
            at: Timestamp::now(),
            frame: cx.request().clone(),
            revision: cx.revision(),
            transport: cx.transport(),
            session: cx.session(),
            headers: cx.headers().cloned(),
            given: Arc::new(OnceLock::new()),
        };
        kept.bytes += received.size();
        kept.requests.push_back(received.clone());
        kept.trim();
        drop(kept);
        Noting { journal: self, received }
    }

    /// Tells somebody of every request from now on; only the first who wants to
    /// know.
    pub(crate) fn tell(&self, ear: Ear) {
        let _ = self.ear.set(ear);
    }

    pub(crate) fn all(&self) -> Vec<Received> {
        self.lock().requests.iter().cloned().collect()
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        *self.lock() = Kept::default();
    }

    /// How many came, kept or not.
    pub(crate) fn total(&self) -> u64 {
        let kept = self.lock();
        kept.dropped + kept.requests.len() as u64
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn trim(&mut self) {
        while self.requests.len() > MOST || self.bytes > MOST_BYTES && self.requests.len() > 1 {
            let oldest = self.requests.pop_front();
            self.bytes = self.bytes.saturating_sub(oldest.map_or(0, |oldest| oldest.size()));
            self.dropped += 1;
        }
    }
}

impl Noting<'_> {
    /// The answer is this.
    pub(crate) fn end(self, answer: Answer) -> Answer {
        let given = Given::of(&answer);
        let size = given.size();
        let _ = self.received.given.set(given);
        let mut kept = self.journal.lock();
        // One that gave way meanwhile is not counted any more.
        let at = self.received.number.checked_sub(kept.dropped);
        let found = at.and_then(|at| kept.requests.get(usize::try_from(at).ok()?));
        if found.is_some_and(|found| Arc::ptr_eq(&found.given, &self.received.given)) {
            kept.bytes += size;
            kept.trim();
        }
        drop(kept);
        answer
    }
}

impl Drop for Noting<'_> {
    fn drop(&mut self) {
        if let Some(ear) = self.journal.ear.get() {
            ear(&self.received);
        }
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("kept", &self.lock().requests.len()).finish_non_exhaustive()
    }
}

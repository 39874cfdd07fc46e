//! What came in: every request that a mock served, with the answer it got.
//!
//! Recording keeps what is there already and looks into nothing; the oldest
//! give way.

mod expect;
mod received;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use jiff::Timestamp;
use sparring_peer::server::{Answer, Context, Failure};
use sparring_wire::{ErrorObject, RawJson};

pub use expect::{Expectation, Miss};
pub use received::Received;

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

impl Journal {
    /// Keeps a request and its answer.
    pub(crate) fn note(&self, cx: &Context, answer: &Answer) {
        let received = Received {
            at: Timestamp::now(),
            frame: cx.request().clone(),
            revision: cx.revision(),
            headers: cx.headers().cloned(),
            answer: answered(answer),
        };
        if let Some(ear) = self.ear.get() {
            ear(&received);
        }
        let mut kept = self.lock();
        kept.bytes += received.size();
        kept.requests.push_back(received);
        while kept.requests.len() > MOST || kept.bytes > MOST_BYTES && kept.requests.len() > 1 {
            let oldest = kept.requests.pop_front();
            kept.bytes -= oldest.map_or(0, |oldest| oldest.size());
            kept.dropped += 1;
        }
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

    pub(crate) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer as it will stand on the wire; a question back is none yet.
fn answered(answer: &Answer) -> Option<Result<RawJson, ErrorObject>> {
    match answer {
        Ok(reply) => Some(Ok(reply.json().clone())),
        Err(Failure::Error(error)) => Some(Err(error.clone())),
        Err(Failure::InputRequired(_)) => None,
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("kept", &self.lock().requests.len()).finish_non_exhaustive()
    }
}

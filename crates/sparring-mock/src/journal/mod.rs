//! The journal of a mock: its requests and their answers, also those that the protocol's server
//! answers or refuses itself.
//!
//! Recording stores frames without parsing them. The oldest entries are dropped when it is full.

mod expectation;
mod json_line;
mod received;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use jiff::Timestamp;
use sparring_peer::server::{Context, HandlerResult};

pub use expectation::{Expectation, UnmetExpectation};
pub use received::ReceivedRequest;

use received::RecordedAnswer;

/// The maximum number of requests that are kept, and their total size with answers.
const MAX_REQUESTS: usize = 10_000;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Called for every recorded request.
type Observer = Box<dyn Fn(&ReceivedRequest) + Send + Sync>;

/// The recorded requests.
#[derive(Default)]
pub(crate) struct Journal {
    entries: Mutex<JournalEntries>,
    observer: OnceLock<Observer>,
}

#[derive(Default)]
struct JournalEntries {
    requests: VecDeque<ReceivedRequest>,
    bytes: usize,
    dropped: u64,
}

/// A recorded request without an answer yet. Dropping it records that there was none.
pub(crate) struct OpenEntry<'a> {
    journal: &'a Journal,
    received: ReceivedRequest,
}

impl Journal {
    /// Records a request.
    pub(crate) fn begin(&self, cx: &Context) -> OpenEntry<'_> {
        let mut entries = self.lock();
        let received = ReceivedRequest {
            number: entries.dropped + entries.requests.len() as u64,
            at: Timestamp::now(),
            frame: cx.request().clone(),
            revision: cx.revision(),
            transport: cx.transport(),
            session: cx.session(),
            headers: cx.headers().cloned(),
            client: cx.handshake_client().cloned(),
            answer: Arc::new(OnceLock::new()),
        };
        entries.bytes += received.size();
        entries.requests.push_back(received.clone());
        entries.trim();
        drop(entries);
        OpenEntry { journal: self, received }
    }

    /// Calls `observer` for every request from now on. Only the first observer is used.
    pub(crate) fn set_observer(&self, observer: Observer) {
        let _ = self.observer.set(observer);
    }

    pub(crate) fn all(&self) -> Vec<ReceivedRequest> {
        self.lock().requests.iter().cloned().collect()
    }

    /// Drops all entries.
    pub(crate) fn clear(&self) {
        *self.lock() = JournalEntries::default();
    }

    /// Returns the number of requests, including dropped ones.
    pub(crate) fn total(&self) -> u64 {
        let entries = self.lock();
        entries.dropped + entries.requests.len() as u64
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    fn lock(&self) -> MutexGuard<'_, JournalEntries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JournalEntries {
    fn trim(&mut self) {
        while self.requests.len() > MAX_REQUESTS
            || self.bytes > MAX_BYTES && self.requests.len() > 1
        {
            let oldest = self.requests.pop_front();
            self.bytes = self.bytes.saturating_sub(oldest.map_or(0, |oldest| oldest.size()));
            self.dropped += 1;
        }
    }
}

impl OpenEntry<'_> {
    /// Records the answer and returns it.
    pub(crate) fn finish(self, answer: HandlerResult) -> HandlerResult {
        let recorded = RecordedAnswer::from_answer(&answer);
        let size = recorded.size();
        let mut entries = self.journal.lock();
        // With the lock, since an entry that is dropped meanwhile counts with its answer.
        let _ = self.received.answer.set(recorded);
        // An entry that was dropped meanwhile does not count.
        let at = self.received.number.checked_sub(entries.dropped);
        let found = at.and_then(|at| entries.requests.get(usize::try_from(at).ok()?));
        if found.is_some_and(|found| Arc::ptr_eq(&found.answer, &self.received.answer)) {
            entries.bytes += size;
            entries.trim();
        }
        drop(entries);
        answer
    }
}

impl Drop for OpenEntry<'_> {
    fn drop(&mut self) {
        if let Some(observer) = self.journal.observer.get() {
            observer(&self.received);
        }
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal")
            .field("requests", &self.lock().requests.len())
            .finish_non_exhaustive()
    }
}

//! The requests of batches. Only some of them run at the same time, so that a large batch does
//! not delay other clients, also those of the servers behind a gateway.

use std::collections::{HashSet, VecDeque};

use crate::server::core::HandlerRequest;

/// The number of requests of batches that run at the same time in one session.
const MAX_RUNNING: usize = 8;

/// The requests of batches that run or wait.
#[derive(Default)]
pub(super) struct BatchQueue {
    /// The core's keys.
    running: HashSet<u64>,
    waiting: VecDeque<HandlerRequest>,
}

impl BatchQueue {
    /// Adds a request, which waits until [`BatchQueue::start_next`] returns it.
    pub(super) fn add(&mut self, request: HandlerRequest) {
        self.waiting.push_back(request);
    }

    /// Returns the next request to start, unless enough of them run.
    pub(super) fn start_next(&mut self) -> Option<HandlerRequest> {
        if !self.can_start() {
            return None;
        }
        let request = self.waiting.pop_front()?;
        self.running.insert(request.key);
        Some(request)
    }

    /// Returns true if a request can start.
    pub(super) fn can_start(&self) -> bool {
        self.running.len() < MAX_RUNNING && !self.waiting.is_empty()
    }

    /// Counts a request as finished, if it is one of a batch.
    pub(super) fn finish(&mut self, key: u64) {
        self.running.remove(&key);
    }

    /// Removes a cancelled request, if it is one of a batch.
    pub(super) fn cancel(&mut self, key: u64) {
        if !self.running.remove(&key) {
            self.waiting.retain(|request| request.key != key);
        }
    }
}

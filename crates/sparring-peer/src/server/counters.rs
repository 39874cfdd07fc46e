//! What a server has done so far, in numbers.

use std::sync::atomic::{AtomicU64, Ordering};

/// The running count; one for all sessions of a server.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    requests: AtomicU64,
    responses: AtomicU64,
    errors: AtomicU64,
    notifications: AtomicU64,
}

/// The counts at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Requests received, unreadable ones included.
    pub requests: u64,
    /// Responses sent, errors included.
    pub responses: u64,
    /// Responses with a JSON-RPC error.
    pub errors: u64,
    /// Notifications received.
    pub notifications: u64,
}

impl Counters {
    pub(crate) fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn response(&self, error: bool) {
        self.responses.fetch_add(1, Ordering::Relaxed);
        if error {
            self.errors.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn notification(&self) {
        self.notifications.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> Counts {
        Counts {
            requests: self.requests.load(Ordering::Relaxed),
            responses: self.responses.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            notifications: self.notifications.load(Ordering::Relaxed),
        }
    }
}

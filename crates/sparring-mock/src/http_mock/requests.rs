//! What a server for tests was asked, kept until somebody takes it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::HttpRequest;

/// How many requests are kept that nobody took.
const MOST: usize = 10_000;

/// Requests in the order in which they came; the oldest give way.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    kept: Mutex<Kept>,
    came: Notify,
}

#[derive(Debug, Default)]
struct Kept {
    requests: VecDeque<HttpRequest>,
    dropped: u64,
}

impl Requests {
    pub(crate) fn keep(&self, request: HttpRequest) {
        let mut kept = self.kept();
        if kept.requests.len() >= MOST {
            kept.requests.pop_front();
            kept.dropped += 1;
        }
        kept.requests.push_back(request);
        drop(kept);
        self.came.notify_waiters();
    }

    /// The oldest one, waiting for one if there is none.
    pub(crate) async fn take(&self, within: Duration) -> Option<HttpRequest> {
        let taken = async {
            loop {
                let came = self.came.notified();
                if let Some(request) = self.kept().requests.pop_front() {
                    return request;
                }
                came.await;
            }
        };
        tokio::time::timeout(within, taken).await.ok()
    }

    pub(crate) fn all(&self) -> Vec<HttpRequest> {
        self.kept().requests.iter().cloned().collect()
    }

    /// How many are not kept any more.
    pub(crate) fn dropped(&self) -> u64 {
        self.kept().dropped
    }

    /// How many there are, kept or not.
    pub(crate) fn total(&self) -> u64 {
        let kept = self.kept();
        kept.dropped + kept.requests.len() as u64
    }

    pub(crate) fn clear(&self) {
        *self.kept() = Kept::default();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! What a server for tests was asked, kept until somebody takes it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::HttpRequest;

/// How much is kept that nobody took: requests, and the bytes of them.
const MOST: usize = 10_000;
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// Requests in the order in which they came; the oldest give way.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    kept: Mutex<Kept>,
    came: Notify,
}

#[derive(Debug, Default)]
struct Kept {
    requests: VecDeque<HttpRequest>,
    bytes: usize,
    dropped: u64,
}

impl Kept {
    fn pop(&mut self) -> Option<HttpRequest> {
        let oldest = self.requests.pop_front()?;
        self.bytes = self.bytes.saturating_sub(size(&oldest));
        Some(oldest)
    }
}

/// About how many bytes a request takes.
fn size(request: &HttpRequest) -> usize {
    let headers = request.headers.iter().map(|(name, value)| name.len() + value.len());
    let query = request.query.as_ref().map_or(0, String::len);
    request.body.len() + request.path.len() + query + headers.sum::<usize>()
}

impl Requests {
    pub(crate) fn keep(&self, request: HttpRequest) {
        let mut kept = self.kept();
        kept.bytes += size(&request);
        kept.requests.push_back(request);
        // The last one is kept however large it is.
        while kept.requests.len() > MOST || kept.bytes > MOST_BYTES && kept.requests.len() > 1 {
            kept.pop();
            kept.dropped += 1;
        }
        drop(kept);
        self.came.notify_waiters();
    }

    /// The oldest one, waiting for one if there is none.
    pub(crate) async fn take(&self, within: Duration) -> Option<HttpRequest> {
        let taken = async {
            loop {
                let came = self.came.notified();
                if let Some(request) = self.kept().pop() {
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

#[cfg(test)]
mod tests {
    use sparring_wire::Headers;

    use super::*;

    fn request(bytes: usize) -> HttpRequest {
        let (method, path) = ("POST".to_owned(), String::new());
        HttpRequest { method, path, query: None, headers: Headers::new(), body: vec![0; bytes] }
    }

    #[test]
    fn the_oldest_give_way_to_many_and_to_large_ones() {
        let requests = Requests::default();
        (0..MOST + 5).for_each(|_| requests.keep(request(1)));
        assert_eq!((requests.all().len(), requests.dropped()), (MOST, 5));
        requests.keep(request(MOST_BYTES + 1));
        assert_eq!((requests.all().len(), requests.dropped()), (1, MOST as u64 + 5));
        requests.keep(request(1));
        assert_eq!(requests.all().len(), 1, "the large one gave way");
        requests.clear();
        assert_eq!((requests.all().len(), requests.dropped()), (0, 0));
    }
}

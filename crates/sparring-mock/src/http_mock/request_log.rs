//! Records the requests of a test server until the test takes them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::HttpRequest;

/// The maximum number of requests that are kept, and their total size.
const MAX_REQUESTS: usize = 10_000;
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// Requests in order of arrival; the oldest are dropped when it is full.
#[derive(Debug, Default)]
pub(crate) struct RequestLog {
    logged: Mutex<LoggedRequests>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct LoggedRequests {
    requests: VecDeque<HttpRequest>,
    bytes: usize,
    dropped: u64,
}

impl LoggedRequests {
    fn pop(&mut self) -> Option<HttpRequest> {
        let oldest = self.requests.pop_front()?;
        self.bytes = self.bytes.saturating_sub(size(&oldest));
        Some(oldest)
    }
}

/// Estimates the size of a request in bytes.
fn size(request: &HttpRequest) -> usize {
    let headers = request.headers.iter().map(|(name, value)| name.len() + value.len());
    let query = request.query.as_ref().map_or(0, String::len);
    request.body.len() + request.path.len() + query + headers.sum::<usize>()
}

impl RequestLog {
    pub(crate) fn push(&self, request: HttpRequest) {
        let mut logged = self.lock();
        logged.bytes += size(&request);
        logged.requests.push_back(request);
        // The latest request is always kept, even if it is too large.
        while logged.requests.len() > MAX_REQUESTS
            || logged.bytes > MAX_BYTES && logged.requests.len() > 1
        {
            logged.pop();
            logged.dropped += 1;
        }
        drop(logged);
        self.arrived.notify_waiters();
    }

    /// Takes the oldest request, waiting for one if necessary.
    pub(crate) async fn take(&self, within: Duration) -> Option<HttpRequest> {
        let take_oldest = async {
            loop {
                let arrived = self.arrived.notified();
                if let Some(request) = self.lock().pop() {
                    return request;
                }
                arrived.await;
            }
        };
        tokio::time::timeout(within, take_oldest).await.ok()
    }

    pub(crate) fn all(&self) -> Vec<HttpRequest> {
        self.lock().requests.iter().cloned().collect()
    }

    /// Returns the number of dropped requests.
    pub(crate) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    /// Returns the number of requests, including dropped ones.
    pub(crate) fn total(&self) -> u64 {
        let logged = self.lock();
        logged.dropped + logged.requests.len() as u64
    }

    pub(crate) fn clear(&self) {
        *self.lock() = LoggedRequests::default();
    }

    fn lock(&self) -> MutexGuard<'_, LoggedRequests> {
        self.logged.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn drops_the_oldest_when_there_are_too_many_or_too_large() {
        let requests = RequestLog::default();
        (0..MAX_REQUESTS + 5).for_each(|_| requests.push(request(1)));
        assert_eq!((requests.all().len(), requests.dropped()), (MAX_REQUESTS, 5));
        requests.push(request(MAX_BYTES + 1));
        assert_eq!((requests.all().len(), requests.dropped()), (1, MAX_REQUESTS as u64 + 5));
        requests.push(request(1));
        assert_eq!(requests.all().len(), 1, "the large one was dropped");
        requests.clear();
        assert_eq!((requests.all().len(), requests.dropped()), (0, 0));
    }
}

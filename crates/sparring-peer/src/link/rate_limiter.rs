//! Limits the rate of a writer to a number of bytes a second.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Sleep;

/// The time between two writes.
const WRITE_INTERVAL: Duration = Duration::from_millis(20);

/// Limits the rate of a writer.
#[derive(Debug)]
pub struct RateLimiter {
    /// The number of bytes of one write, and the time to wait before it.
    max_bytes: usize,
    interval: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl RateLimiter {
    /// Creates a limiter for a number of bytes a second, at least one.
    pub fn new(bytes_per_second: u64) -> Self {
        let rate = bytes_per_second.max(1);
        let per_interval = rate * 20 / 1_000;
        let (max_bytes, interval) = match usize::try_from(per_interval).unwrap_or(usize::MAX) {
            0 => (1, Duration::from_secs(1) / u32::try_from(rate).unwrap_or(1)),
            max_bytes => (max_bytes, WRITE_INTERVAL),
        };
        RateLimiter { max_bytes, interval, sleep: None }
    }

    /// Returns the number of bytes that may be written now. Ready again after the
    /// interval.
    pub fn poll_ready_bytes(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        let interval = self.interval;
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(tokio::time::sleep(interval)));
        std::task::ready!(sleep.as_mut().poll(cx));
        self.sleep = None;
        Poll::Ready(self.max_bytes)
    }
}

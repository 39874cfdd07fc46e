//! Writing slowly: so many bytes a second, a few at a time.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Sleep;

/// How often something is written.
const EVERY: Duration = Duration::from_millis(20);

/// A slow writer's patience.
#[derive(Debug)]
pub struct Pace {
    /// How many bytes at a time, and how long to wait in between.
    most: usize,
    every: Duration,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl Pace {
    /// So many bytes a second, at least one.
    pub fn new(bytes_per_second: u64) -> Self {
        let rate = bytes_per_second.max(1);
        let per_turn = rate * 20 / 1_000;
        let (most, every) = match usize::try_from(per_turn).unwrap_or(usize::MAX) {
            0 => (1, Duration::from_secs(1) / u32::try_from(rate).unwrap_or(1)),
            most => (most, EVERY),
        };
        Pace { most, every, alarm: None }
    }

    /// How many bytes may be written now; the next are for later.
    pub fn poll_allowed(&mut self, cx: &mut Context<'_>) -> Poll<usize> {
        let every = self.every;
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep(every)));
        std::task::ready!(alarm.as_mut().poll(cx));
        self.alarm = None;
        Poll::Ready(self.most)
    }
}

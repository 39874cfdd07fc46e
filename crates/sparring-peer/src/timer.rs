//! The clock of a driver: gives a core the current time and wakes the driver at
//! the core's next deadline.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

/// A clock that starts at zero, is read once a round, and has one wakeup.
///
/// The wakeup is set again only when a deadline is earlier than it. A wakeup that
/// fires too early costs less than setting one for each request.
#[derive(Debug)]
pub(crate) struct Timer {
    start: Instant,
    now: Option<Duration>,
    wakeup: Option<Wakeup>,
    /// The time at which the clock was paused, if it is paused.
    paused_at: Option<Instant>,
}

#[derive(Debug)]
struct Wakeup {
    sleep: Pin<Box<Sleep>>,
    /// The task that the wakeup wakes.
    waker: Waker,
}

impl Timer {
    pub(crate) fn start() -> Self {
        Timer { start: Instant::now(), now: Some(Duration::ZERO), wakeup: None, paused_at: None }
    }

    /// Starts a new round: the next call of [`Timer::now`] reads the clock again.
    pub(crate) fn refresh(&mut self) {
        self.now = None;
    }

    /// Pauses the clock, or lets it continue from the time at which it was
    /// paused.
    pub(crate) fn set_paused(&mut self, paused: bool) {
        match self.paused_at {
            None if paused => self.paused_at = Some(Instant::now()),
            Some(since) if !paused => {
                self.start += since.elapsed();
                self.paused_at = None;
            }
            _ => {}
        }
    }

    /// Returns the time since the start; the same throughout a round.
    pub(crate) fn now(&mut self) -> Duration {
        *self.now.get_or_insert_with(|| match self.paused_at {
            Some(since) => since - self.start,
            None => self.start.elapsed(),
        })
    }

    /// Returns ready when the clock has reached `wake_at`.
    pub(crate) fn poll(&mut self, wake_at: Option<Duration>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(wake_at) = wake_at else { return Poll::Pending };
        // Under load the wakeup may fire late; the clock is always right.
        if self.now() >= wake_at {
            return Poll::Ready(());
        }
        // The driver polls again after it lets the clock continue.
        if self.paused_at.is_some() {
            return Poll::Pending;
        }
        let Some(deadline) = self.start.checked_add(wake_at) else { return Poll::Pending };
        let wakeup = match &mut self.wakeup {
            Some(wakeup) => {
                // The wakeup is set and cannot have fired yet, so polling it is
                // unnecessary.
                let fires_at = wakeup.sleep.deadline();
                let is_ahead = self.now.is_some_and(|now| self.start + now < fires_at);
                if fires_at <= deadline && is_ahead && wakeup.waker.will_wake(cx.waker()) {
                    return Poll::Pending;
                }
                if fires_at > deadline {
                    wakeup.sleep.as_mut().reset(deadline);
                }
                wakeup.waker.clone_from(cx.waker());
                wakeup
            }
            wakeup => wakeup.insert(Wakeup {
                sleep: Box::pin(sleep_until(deadline)),
                waker: cx.waker().clone(),
            }),
        };
        // Outside of tokio's budget, so that polling always sets the wakeup.
        let mut sleep = unconstrained(wakeup.sleep.as_mut());
        if Pin::new(&mut sleep).poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.wakeup = None;
        if self.start.elapsed() >= wake_at {
            self.refresh();
            return Poll::Ready(());
        }
        // The wakeup fired for a deadline that has been removed.
        self.poll(Some(wake_at), cx)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use tokio::time::advance;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    async fn is_due(timer: &mut Timer, at: Duration) -> bool {
        timer.refresh();
        poll_fn(|cx| Poll::Ready(timer.poll(Some(at), cx).is_ready())).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_clock_continues_from_the_same_time() {
        let mut timer = Timer::start();
        advance(SECOND).await;
        assert!(!is_due(&mut timer, 3 * SECOND).await, "the wakeup is set");
        timer.set_paused(true);
        advance(60 * SECOND).await;
        timer.set_paused(true);
        assert!(!is_due(&mut timer, 3 * SECOND).await, "the clock is paused");
        assert_eq!(timer.now(), SECOND);
        assert!(is_due(&mut timer, SECOND).await, "a deadline before the pause stays due");
        timer.set_paused(false);
        assert!(!is_due(&mut timer, 3 * SECOND).await, "the clock continues");
        advance(2 * SECOND).await;
        assert!(is_due(&mut timer, 3 * SECOND).await);
    }

    #[tokio::test(start_paused = true)]
    async fn wakes_the_task_that_polled_last() {
        let mut timer = Timer::start();
        let wakers = [(); 2].map(|()| Arc::new(Counter::default()));
        for counter in &wakers {
            let waker = Waker::from(Arc::clone(counter));
            for _ in 0..2 {
                timer.refresh();
                let polled = timer.poll(Some(SECOND), &mut Context::from_waker(&waker));
                assert!(polled.is_pending());
            }
        }
        // Past the millisecond that tokio's timer wheel rounds up to.
        advance(SECOND + Duration::from_millis(1)).await;
        assert_eq!(wakers.map(|counter| counter.0.load(Ordering::Relaxed)), [0, 1]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_earlier_deadline_replaces_a_later_one() {
        let mut timer = Timer::start();
        assert!(!is_due(&mut timer, 60 * SECOND).await);
        assert!(!is_due(&mut timer, SECOND).await);
        let fired = tokio::time::timeout(
            2 * SECOND,
            poll_fn(|cx| {
                timer.refresh();
                timer.poll(Some(SECOND), cx)
            }),
        );
        assert!(fired.await.is_ok());
    }

    /// Counts its wakes.
    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

//! The clock of a driver: tells a core what time it is and wakes it when it
//! asked to be woken.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::task::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

/// A clock that starts at zero, read once a round, and one alarm.
///
/// The alarm is only set anew when it must ring earlier than it would; that it
/// may ring too early costs less than setting it for each request.
#[derive(Debug)]
pub(crate) struct Timer {
    start: Instant,
    now: Option<Duration>,
    alarm: Option<Alarm>,
    /// Since when the clock stands still, if it does.
    held: Option<Instant>,
}

#[derive(Debug)]
struct Alarm {
    sleep: Pin<Box<Sleep>>,
    /// Who is woken when it rings.
    woken: Waker,
}

impl Timer {
    pub(crate) fn start() -> Self {
        Timer { start: Instant::now(), now: Some(Duration::ZERO), alarm: None, held: None }
    }

    /// A new round begins: the next look at the clock is a fresh one.
    pub(crate) fn renew(&mut self) {
        self.now = None;
    }

    /// Lets the clock stand still, or go on from where it stood.
    pub(crate) fn hold(&mut self, held: bool) {
        match self.held {
            None if held => self.held = Some(Instant::now()),
            Some(since) if !held => {
                self.start += since.elapsed();
                self.held = None;
            }
            _ => {}
        }
    }

    /// The time since the start, the same throughout a round.
    pub(crate) fn now(&mut self) -> Duration {
        *self.now.get_or_insert_with(|| match self.held {
            Some(since) => since - self.start,
            None => self.start.elapsed(),
        })
    }

    /// Ready when the time has come.
    pub(crate) fn poll(&mut self, wake_at: Option<Duration>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(wake_at) = wake_at else { return Poll::Pending };
        // Under load the alarm may ring late; the clock is always right.
        if self.now() >= wake_at {
            return Poll::Ready(());
        }
        // Whoever lets it go on asks again.
        if self.held.is_some() {
            return Poll::Pending;
        }
        let Some(deadline) = self.start.checked_add(wake_at) else { return Poll::Pending };
        let alarm = match &mut self.alarm {
            Some(alarm) => {
                // It is set, and cannot have rung yet: there is nothing to ask it.
                let rings_at = alarm.sleep.deadline();
                let to_come = self.now.is_some_and(|now| self.start + now < rings_at);
                if rings_at <= deadline && to_come && alarm.woken.will_wake(cx.waker()) {
                    return Poll::Pending;
                }
                if rings_at > deadline {
                    alarm.sleep.as_mut().reset(deadline);
                }
                alarm.woken.clone_from(cx.waker());
                alarm
            }
            alarm => alarm.insert(Alarm {
                sleep: Box::pin(sleep_until(deadline)),
                woken: cx.waker().clone(),
            }),
        };
        // Beside tokio's budget: once it was asked, it is set.
        let mut rings = unconstrained(alarm.sleep.as_mut());
        if Pin::new(&mut rings).poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.alarm = None;
        if self.start.elapsed() >= wake_at {
            self.renew();
            return Poll::Ready(());
        }
        // It rang for something that is no longer awaited.
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
        timer.renew();
        poll_fn(|cx| Poll::Ready(timer.poll(Some(at), cx).is_ready())).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_is_held_goes_on_from_where_it_stood() {
        let mut timer = Timer::start();
        advance(SECOND).await;
        assert!(!is_due(&mut timer, 3 * SECOND).await, "the alarm is set");
        timer.hold(true);
        advance(60 * SECOND).await;
        timer.hold(true);
        assert!(!is_due(&mut timer, 3 * SECOND).await, "the clock stands still");
        assert_eq!(timer.now(), SECOND);
        assert!(is_due(&mut timer, SECOND).await, "what was due stays due");
        timer.hold(false);
        assert!(!is_due(&mut timer, 3 * SECOND).await, "and goes on from there");
        advance(2 * SECOND).await;
        assert!(is_due(&mut timer, 3 * SECOND).await);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_asked_last_is_woken() {
        let mut timer = Timer::start();
        let wakers = [(); 2].map(|()| Arc::new(Counter::default()));
        for counter in &wakers {
            let waker = Waker::from(Arc::clone(counter));
            for _ in 0..2 {
                timer.renew();
                let asked = timer.poll(Some(SECOND), &mut Context::from_waker(&waker));
                assert!(asked.is_pending());
            }
        }
        // Past the millisecond that the clock's wheel is rounded up to.
        advance(SECOND + Duration::from_millis(1)).await;
        assert_eq!(wakers.map(|counter| counter.0.load(Ordering::Relaxed)), [0, 1]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_to_ring_earlier_does_although_the_alarm_is_set() {
        let mut timer = Timer::start();
        assert!(!is_due(&mut timer, 60 * SECOND).await);
        assert!(!is_due(&mut timer, SECOND).await);
        let rung = tokio::time::timeout(
            2 * SECOND,
            poll_fn(|cx| {
                timer.renew();
                timer.poll(Some(SECOND), cx)
            }),
        );
        assert!(rung.await.is_ok());
    }

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

//! Decides when a running statement must stop: at its timeout, when its caller gives
//! up, or when the database closes.
//!
//! SQLite calls the clock every [`STEPS_BETWEEN_CHECKS`] steps. This always stops the right
//! statement; an interrupt from outside could arrive late and stop the next one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The steps of SQLite's virtual machine between two checks of the clock.
pub(super) const STEPS_BETWEEN_CHECKS: i32 = 1_000;

/// Stops statements of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    deadline: Option<Instant>,
    cancel_flags: Vec<CancelFlag>,
    stop_reason: Option<StopReason>,
}

/// True when the caller no longer waits for the result.
pub(super) type CancelFlag = Arc<AtomicBool>;

/// The reason why a statement was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopReason {
    TimedOut,
    Cancelled,
}

impl Clock {
    /// Starts a job, which stops when one of these flags is set.
    pub(super) fn start(&self, cancel_flags: Vec<CancelFlag>) {
        *self.state() = State { cancel_flags, ..State::default() };
    }

    /// Sets the deadline of the statements that follow.
    pub(super) fn set_timeout(&self, time: Duration) {
        self.state().deadline = Instant::now().checked_add(time);
    }

    /// Returns true if the running statement must stop.
    pub(super) fn must_stop(&self) -> bool {
        let mut state = self.state();
        let cancelled = state.cancel_flags.iter().any(|it| it.load(Ordering::Relaxed));
        let timed_out = || state.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let stop_reason = match cancelled {
            true => Some(StopReason::Cancelled),
            false => timed_out().then_some(StopReason::TimedOut),
        };
        state.stop_reason = state.stop_reason.or(stop_reason);
        state.stop_reason.is_some()
    }

    /// The reason why a statement of this job was stopped, if one was.
    pub(super) fn stop_reason(&self) -> Option<StopReason> {
        self.state().stop_reason
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

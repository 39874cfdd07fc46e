//! Decides when a running statement must stop: at its timeout, when its caller gives
//! up, or when the database closes.
//!
//! SQLite calls the clock every [`STEPS`] steps. This always stops the right statement;
//! an interrupt from outside could arrive late and stop the next one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The steps of SQLite's virtual machine between two checks of the clock.
pub(super) const STEPS: i32 = 1_000;

/// Stops statements of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    until: Option<Instant>,
    given_up: Vec<GivenUp>,
    stopped: Option<Stopped>,
}

/// True when the caller no longer waits for the result.
pub(super) type GivenUp = Arc<AtomicBool>;

/// The reason why a statement was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    Late,
    GivenUp,
}

impl Clock {
    /// Starts a job, which stops when one of these flags is set.
    pub(super) fn start(&self, given_up: Vec<GivenUp>) {
        *self.state() = State { given_up, ..State::default() };
    }

    /// Sets the deadline of the statements that follow.
    pub(super) fn limit(&self, time: Duration) {
        self.state().until = Instant::now().checked_add(time);
    }

    /// Returns true if the running statement must stop.
    pub(super) fn is_over(&self) -> bool {
        let mut state = self.state();
        let given_up = state.given_up.iter().any(|it| it.load(Ordering::Relaxed));
        let late = || state.until.is_some_and(|until| Instant::now() >= until);
        let stopped = match given_up {
            true => Some(Stopped::GivenUp),
            false => late().then_some(Stopped::Late),
        };
        state.stopped = state.stopped.or(stopped);
        state.stopped.is_some()
    }

    /// The reason why a statement of this job was stopped, if one was.
    pub(super) fn stopped(&self) -> Option<Stopped> {
        self.state().stopped
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

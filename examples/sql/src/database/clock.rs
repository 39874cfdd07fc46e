//! When a statement that runs is to stop: its time is over, nobody waits for it
//! any more, or the database is being closed.
//!
//! SQLite asks every so many steps whether to go on. That is exact to the
//! statement, where an interrupt from outside that comes too late would hit
//! whichever runs next.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// After how many steps of its machine SQLite asks.
pub(super) const STEPS: i32 = 1_000;

/// What SQLite asks.
#[derive(Debug, Clone, Default)]
pub(super) struct Clock(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    until: Option<Instant>,
    given_up: Vec<GivenUp>,
    stopped: Option<Stopped>,
}

/// Whether nobody waits any more.
pub(super) type GivenUp = Arc<AtomicBool>;

/// Why a statement was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    Late,
    GivenUp,
}

impl Clock {
    /// Starts a job, which stops when one of these says so.
    pub(super) fn start(&self, given_up: Vec<GivenUp>) {
        *self.state() = State { given_up, ..State::default() };
    }

    /// Lets what follows take so long.
    pub(super) fn limit(&self, time: Duration) {
        self.state().until = Instant::now().checked_add(time);
    }

    /// Whether what runs is to stop.
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

    /// Why something was stopped since the job began.
    pub(super) fn stopped(&self) -> Option<Stopped> {
        self.state().stopped
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

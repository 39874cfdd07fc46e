//! Which log messages clients want, all sessions together, for a handler that has
//! to ask others for them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sparring_wire::types::LogLevel;
use tokio::sync::watch;

/// The levels that the clients of a server have set.
#[derive(Debug, Default)]
pub(super) struct Levels {
    sessions: Mutex<HashMap<u64, LogLevel>>,
    next: AtomicU64,
    least: watch::Sender<Option<LogLevel>>,
}

/// The level of one session, until it is dropped.
#[derive(Debug)]
pub(super) struct Level {
    key: u64,
    levels: Arc<Levels>,
}

impl Levels {
    /// The least severe of all, as it is and as it changes; none while nobody has
    /// set any.
    pub(super) fn least(&self) -> watch::Receiver<Option<LogLevel>> {
        self.least.subscribe()
    }

    /// A session that sets its level for the first time.
    pub(super) fn join(self: &Arc<Self>) -> Level {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        Level { key, levels: Arc::clone(self) }
    }

    fn set(&self, key: u64, level: Option<LogLevel>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        match level {
            Some(level) => sessions.insert(key, level),
            None => sessions.remove(&key),
        };
        let least = sessions.values().min().copied();
        // Within the lock, so that what is newer is told later.
        self.least.send_if_modified(|known| std::mem::replace(known, least) != least);
    }
}

impl Level {
    pub(super) fn set(&self, level: LogLevel) {
        self.levels.set(self.key, Some(level));
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        self.levels.set(self.key, None);
    }
}

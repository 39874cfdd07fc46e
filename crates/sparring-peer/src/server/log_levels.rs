//! The lowest log level over all sessions of a server, for a handler that
//! forwards it to other servers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use sparring_wire::types::LogLevel;
use tokio::sync::watch;

/// The levels that the clients of a server have set.
#[derive(Debug, Default)]
pub(super) struct LogLevels {
    sessions: Mutex<HashMap<u64, LogLevel>>,
    next: AtomicU64,
    lowest: watch::Sender<Option<LogLevel>>,
}

/// The level of one session. Dropping it removes the level.
#[derive(Debug)]
pub(super) struct SessionLogLevel {
    key: u64,
    levels: Arc<LogLevels>,
}

impl LogLevels {
    /// Returns the lowest level and its changes; none while no client has set
    /// one.
    pub(super) fn subscribe_lowest(&self) -> watch::Receiver<Option<LogLevel>> {
        self.lowest.subscribe()
    }

    /// Adds a session that sets its level for the first time.
    pub(super) fn add_session(self: &Arc<Self>) -> SessionLogLevel {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        SessionLogLevel { key, levels: Arc::clone(self) }
    }

    fn set(&self, key: u64, level: Option<LogLevel>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        match level {
            Some(level) => sessions.insert(key, level),
            None => sessions.remove(&key),
        };
        let lowest = sessions.values().min().copied();
        // Sent inside the lock, so that receivers see the changes in order.
        self.lowest.send_if_modified(|known| std::mem::replace(known, lowest) != lowest);
    }
}

impl SessionLogLevel {
    pub(super) fn set(&self, level: LogLevel) {
        self.levels.set(self.key, Some(level));
    }
}

impl Drop for SessionLogLevel {
    fn drop(&mut self) {
        self.levels.set(self.key, None);
    }
}

//! The resources that any session of a server subscribes to, for a handler that
//! forwards subscriptions to other servers.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// The resources that the clients of a server subscribe to.
#[derive(Debug)]
pub(super) struct SubscribedUris {
    /// By session; sessions without subscriptions have no entry.
    sessions: Mutex<HashMap<u64, Vec<String>>>,
    next: AtomicU64,
    all: watch::Sender<Arc<BTreeSet<String>>>,
}

/// The resources of one session. Dropping it removes them.
#[derive(Debug)]
pub(super) struct SessionUris {
    key: u64,
    subscriptions: Arc<SubscribedUris>,
}

impl Default for SubscribedUris {
    fn default() -> Self {
        let (sessions, next) = (Mutex::default(), AtomicU64::new(0));
        SubscribedUris { sessions, next, all: watch::Sender::default() }
    }
}

impl SubscribedUris {
    /// Returns all resources and their changes.
    pub(super) fn subscribe(&self) -> watch::Receiver<Arc<BTreeSet<String>>> {
        self.all.subscribe()
    }

    /// Adds a session that subscribes for the first time.
    pub(super) fn add_session(self: &Arc<Self>) -> SessionUris {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        SessionUris { key, subscriptions: Arc::clone(self) }
    }

    fn set(&self, key: u64, uris: Vec<String>) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        match uris.is_empty() {
            true => sessions.remove(&key),
            false => sessions.insert(key, uris),
        };
        let mut all = BTreeSet::new();
        for uris in sessions.values() {
            all.extend(uris.iter().cloned());
        }
        // Sent inside the lock, so that receivers see the changes in order.
        self.all.send_if_modified(|known| {
            let changed = **known != all;
            if changed {
                *known = Arc::new(all);
            }
            changed
        });
    }
}

impl SessionUris {
    pub(super) fn set(&self, uris: Vec<String>) {
        self.subscriptions.set(self.key, uris);
    }
}

impl Drop for SessionUris {
    fn drop(&mut self) {
        self.set(Vec::new());
    }
}

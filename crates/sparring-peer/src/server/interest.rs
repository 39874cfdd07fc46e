//! Which resources clients want to hear of, all sessions together, for a handler
//! that has to ask others for them.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

/// What the clients of a server want to hear of.
#[derive(Debug)]
pub(super) struct Interests {
    /// By session, those that want to hear of anything.
    sessions: Mutex<HashMap<u64, Vec<String>>>,
    next: AtomicU64,
    all: watch::Sender<Arc<BTreeSet<String>>>,
}

/// What one session wants to hear of, until it is dropped.
#[derive(Debug)]
pub(super) struct Interest {
    key: u64,
    interests: Arc<Interests>,
}

impl Default for Interests {
    fn default() -> Self {
        let (sessions, next) = (Mutex::default(), AtomicU64::new(0));
        Interests { sessions, next, all: watch::Sender::default() }
    }
}

impl Interests {
    /// All of them, as they are and as they change.
    pub(super) fn all(&self) -> watch::Receiver<Arc<BTreeSet<String>>> {
        self.all.subscribe()
    }

    /// A session that wants to hear of something for the first time.
    pub(super) fn join(self: &Arc<Self>) -> Interest {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        Interest { key, interests: Arc::clone(self) }
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
        // Within the lock, so that what is newer is told later.
        self.all.send_if_modified(|known| {
            let changed = **known != all;
            if changed {
                *known = Arc::new(all);
            }
            changed
        });
    }
}

impl Interest {
    pub(super) fn set(&self, uris: Vec<String>) {
        self.interests.set(self.key, uris);
    }
}

impl Drop for Interest {
    fn drop(&mut self) {
        self.set(Vec::new());
    }
}

//! The sessions there are, by the ids that clients know them by.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sparring_peer::server::Running;
use sparring_wire::Revision;

use super::hub::Hub;

/// What a client must know to use a session: 192 random bits, in letters that
/// may stand in a header and in a URL.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(in crate::http::server) struct SessionId(Arc<str>);

impl SessionId {
    /// A new one; none where the system has no randomness to give.
    pub(in crate::http::server) fn random() -> Option<Self> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).ok()?;
        Some(SessionId(URL_SAFE_NO_PAD.encode(bytes).into()))
    }

    pub(in crate::http::server) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whoever knows it can use the session, so it is not shown.
impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId")
    }
}

impl std::borrow::Borrow<str> for SessionId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// One session: where its sides meet, and the peer at work.
#[derive(Debug)]
pub(in crate::http::server) struct Entry {
    pub(in crate::http::server) hub: Arc<Hub>,
    pub(in crate::http::server) running: Running,
    /// What the handshake agreed on; none over HTTP+SSE, where it is not asked.
    pub(in crate::http::server) revision: Option<Revision>,
}

/// All sessions of a server. Dropped, they are stopped at once.
#[derive(Debug)]
pub(in crate::http::server) struct Registry {
    sessions: Mutex<HashMap<SessionId, Entry>>,
    most: usize,
}

impl Registry {
    pub(in crate::http::server) fn new(most: usize) -> Arc<Self> {
        Arc::new(Registry { sessions: Mutex::default(), most })
    }

    /// Whether there is room for one more.
    pub(in crate::http::server) fn has_room(&self) -> bool {
        self.lock().len() < self.most
    }

    /// Keeps a session; gives it back where there is no room.
    pub(in crate::http::server) fn keep(&self, id: SessionId, entry: Entry) -> Result<(), Entry> {
        let mut sessions = self.lock();
        if sessions.len() >= self.most {
            return Err(entry);
        }
        sessions.insert(id, entry);
        Ok(())
    }

    pub(in crate::http::server) fn find(&self, id: &str) -> Option<(Arc<Hub>, Option<Revision>)> {
        self.lock().get(id).map(|entry| (Arc::clone(&entry.hub), entry.revision))
    }

    /// To be dropped by the caller, when the lock is not held any more.
    pub(in crate::http::server) fn remove(&self, id: &SessionId) -> Option<Entry> {
        self.take(id.as_str())
    }

    pub(in crate::http::server) fn take(&self, id: &str) -> Option<Entry> {
        self.lock().remove(id)
    }

    pub(in crate::http::server) fn take_all(&self) -> Vec<Entry> {
        std::mem::take(&mut *self.lock()).into_values().collect()
    }

    /// What stands open ends as soon as it may.
    pub(in crate::http::server) fn drain(&self) {
        for entry in self.lock().values() {
            entry.hub.drain();
        }
    }

    /// Whether a request is in flight in any of them.
    pub(in crate::http::server) fn is_serving(&self) -> bool {
        self.lock().values().any(|entry| entry.hub.is_serving())
    }

    pub(in crate::http::server) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Entry>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The sessions of a server, by their ids.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sparring_peer::server::ServerTask;
use sparring_wire::Revision;

use super::session_state::Session;
use crate::http::server::auth::Owner;

/// The id of a session: 192 random bits, in characters that are valid in headers and URLs.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(in crate::http::server) struct SessionId(Arc<str>);

impl SessionId {
    /// Creates an id; `None` if the system has no random bytes.
    pub(in crate::http::server) fn random() -> Option<Self> {
        let mut bytes = [0; 24];
        getrandom::fill(&mut bytes).ok()?;
        Some(SessionId(URL_SAFE_NO_PAD.encode(bytes).into()))
    }

    pub(in crate::http::server) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Not shown, since it gives access to the session.
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

/// A session and its peer.
#[derive(Debug)]
pub(in crate::http::server) struct SessionEntry {
    pub(in crate::http::server) session: Arc<Session>,
    pub(in crate::http::server) running: ServerTask,
    /// The negotiated revision; `None` over HTTP+SSE, where it is not needed.
    pub(in crate::http::server) revision: Option<Revision>,
    /// The credential that opened it; no other may use it.
    pub(in crate::http::server) owner: Owner,
}

/// All sessions of a server. Dropping it stops them at once.
#[derive(Debug)]
pub(in crate::http::server) struct Registry {
    sessions: Mutex<HashMap<SessionId, SessionEntry>>,
    max_sessions: usize,
    kept_bytes: Arc<AtomicUsize>,
}

impl Registry {
    pub(in crate::http::server) fn new(max_sessions: usize) -> Arc<Self> {
        Arc::new(Registry { sessions: Mutex::default(), max_sessions, kept_bytes: Arc::default() })
    }

    /// Returns true if another session can be added, in the place of an idle one if needed.
    pub(in crate::http::server) fn can_make_room(&self) -> bool {
        let sessions = self.lock();
        sessions.len() < self.max_sessions
            || sessions.values().any(|entry| !entry.session.is_serving())
    }

    /// Adds a session. At the limit it takes the place of the session that was idle for the
    /// longest time; without an idle one it is returned.
    pub(in crate::http::server) fn insert(
        &self,
        id: SessionId,
        entry: SessionEntry,
    ) -> Result<(), SessionEntry> {
        let mut sessions = self.lock();
        let mut evicted = None;
        if sessions.len() >= self.max_sessions {
            let idle = sessions.iter().filter_map(|(id, entry)| Some((entry.session.idle()?, id)));
            let Some((_, longest)) = idle.min_by_key(|(idle, _)| *idle) else { return Err(entry) };
            let longest = longest.clone();
            evicted = sessions.remove(&longest);
        }
        sessions.insert(id, entry);
        drop(sessions);
        // Dropped after the lock is released, since this stops its peer.
        drop(evicted);
        Ok(())
    }

    /// The bytes that all sessions keep for resumption.
    pub(in crate::http::server) fn kept_bytes(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.kept_bytes)
    }

    /// Finds a session of this owner.
    pub(in crate::http::server) fn find(
        &self,
        id: &str,
        owner: &Owner,
    ) -> Option<(Arc<Session>, Option<Revision>)> {
        let sessions = self.lock();
        let entry = sessions.get(id).filter(|entry| entry.owner == *owner)?;
        Some((Arc::clone(&entry.session), entry.revision))
    }

    pub(in crate::http::server) fn contains(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    /// Removes a session; the caller drops it after the lock is released.
    pub(in crate::http::server) fn remove(&self, id: &SessionId) -> Option<SessionEntry> {
        self.take(id.as_str())
    }

    pub(in crate::http::server) fn take(&self, id: &str) -> Option<SessionEntry> {
        self.lock().remove(id)
    }

    pub(in crate::http::server) fn take_all(&self) -> Vec<SessionEntry> {
        std::mem::take(&mut *self.lock()).into_values().collect()
    }

    /// Ends the standing streams as soon as possible.
    pub(in crate::http::server) fn begin_shutdown(&self) {
        for entry in self.lock().values() {
            entry.session.begin_shutdown();
        }
    }

    /// Returns true if any session has a running request.
    pub(in crate::http::server) fn is_serving(&self) -> bool {
        self.lock().values().any(|entry| entry.session.is_serving())
    }

    pub(in crate::http::server) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, SessionEntry>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The sessions of a server, by their ids.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sparring_peer::server::ServerTask;
use sparring_wire::Revision;

use super::session_state::Session;

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
}

/// All sessions of a server. Dropping it stops them at once.
#[derive(Debug)]
pub(in crate::http::server) struct Registry {
    sessions: Mutex<HashMap<SessionId, SessionEntry>>,
    max_sessions: usize,
}

impl Registry {
    pub(in crate::http::server) fn new(max_sessions: usize) -> Arc<Self> {
        Arc::new(Registry { sessions: Mutex::default(), max_sessions })
    }

    /// Returns true if another session can be added.
    pub(in crate::http::server) fn has_room(&self) -> bool {
        self.lock().len() < self.max_sessions
    }

    /// Adds a session; returns it if the limit is reached.
    pub(in crate::http::server) fn insert(
        &self,
        id: SessionId,
        entry: SessionEntry,
    ) -> Result<(), SessionEntry> {
        let mut sessions = self.lock();
        if sessions.len() >= self.max_sessions {
            return Err(entry);
        }
        sessions.insert(id, entry);
        Ok(())
    }

    pub(in crate::http::server) fn find(
        &self,
        id: &str,
    ) -> Option<(Arc<Session>, Option<Revision>)> {
        self.lock().get(id).map(|entry| (Arc::clone(&entry.session), entry.revision))
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

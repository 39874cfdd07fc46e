//! The state that all sessions of a server share: its handler, its description,
//! the list of sessions and the counters.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use sparring_wire::{Frame, Revision};

use super::change_queue::SessionList;
use super::core::ServerDescription;
use super::dispatch::ErasedHandler;
use super::log_levels::LogLevels;
use super::request_observer::RequestObserver;
use super::subscribed_uris::SubscribedUris;
use crate::link::Outgoing;

/// The state that all sessions of a server share. The handler's type is erased,
/// because otherwise every crate with a server would compile this code again.
pub(super) struct Shared {
    pub(super) handler: Arc<dyn ErasedHandler>,
    pub(super) revisions: Vec<Revision>,
    pub(super) description: CurrentDescription,
    pub(super) counters: Arc<Counters>,
    pub(super) sessions: SessionList,
    pub(super) subscribed_uris: Arc<SubscribedUris>,
    pub(super) log_levels: Arc<LogLevels>,
    /// The bytes that wait for the clients of all sessions.
    pub(super) unread_bytes: Arc<AtomicUsize>,
    /// The maximum time without a read while a client's backlog is full, if it was set.
    pub(super) write_timeout: OnceLock<Duration>,
    pub(super) observer: Arc<RequestObserver>,
    /// Masks the frames that leave the server.
    pub(super) mask: Option<MaskOutput>,
}

/// Masks parts of a frame; returns the same bytes if there is nothing to mask.
pub(super) type MaskOutput = Box<dyn Fn(&[u8]) -> Cow<'_, [u8]> + Send + Sync>;

impl Shared {
    /// Masks a frame that leaves the server. A frame keeps its id, since its receiver could
    /// not find the request otherwise.
    pub(super) fn mask_output(&self, action: Outgoing) -> Outgoing {
        let Some(mask) = &self.mask else { return action };
        match action {
            Outgoing::Send { frame, stream, headers, faults } => {
                let masked = match mask(frame.bytes()) {
                    Cow::Owned(bytes) => Some(Frame::parse(bytes)),
                    Cow::Borrowed(_) => None,
                };
                let masked = masked.filter(|masked| masked.id() == frame.id());
                let frame = masked.unwrap_or(frame);
                Outgoing::Send { frame, stream, headers, faults }
            }
            other => other,
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("revisions", &self.revisions)
            .field("description", &self.description)
            .finish_non_exhaustive()
    }
}

/// The server's current description, with a version number that counts its
/// changes.
#[derive(Debug)]
pub(super) struct CurrentDescription {
    current: RwLock<(ServerDescription, u64)>,
    /// A copy of the version, to check for a change without the lock.
    version: AtomicU64,
}

impl CurrentDescription {
    pub(super) fn new(description: ServerDescription) -> Self {
        CurrentDescription { current: RwLock::new((description, 0)), version: AtomicU64::new(0) }
    }

    pub(super) fn current(&self) -> (ServerDescription, u64) {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn is_newer_than(&self, version: u64) -> bool {
        self.version.load(Ordering::Acquire) != version
    }

    pub(super) fn set(&self, description: ServerDescription) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let version = current.1 + 1;
        *current = (description, version);
        self.version.store(version, Ordering::Release);
    }
}

/// The counters of a server, for all its sessions.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    requests: AtomicU64,
    responses: AtomicU64,
    errors: AtomicU64,
    notifications: AtomicU64,
}

/// A snapshot of a server's counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Requests received, unreadable ones included.
    pub requests: u64,
    /// Responses sent, errors included.
    pub responses: u64,
    /// Responses with a JSON-RPC error.
    pub errors: u64,
    /// Notifications received.
    pub notifications: u64,
}

impl Counters {
    pub(crate) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_response(&self, error: bool) {
        self.responses.fetch_add(1, Ordering::Relaxed);
        if error {
            self.errors.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn count_notification(&self) {
        self.notifications.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self) -> Counts {
        Counts {
            requests: self.requests.load(Ordering::Relaxed),
            responses: self.responses.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
            notifications: self.notifications.load(Ordering::Relaxed),
        }
    }
}

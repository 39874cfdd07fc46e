//! Events of a manager.

use std::sync::Arc;

use sparring_peer::client::Listing;

use super::server_set::Changes;
use super::server_state::State;
use crate::events::LagEvent;

/// An event of a manager.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// The state of a server has changed.
    State {
        /// The server.
        server: Arc<str>,
        /// The new state.
        state: State,
    },
    /// A list of a connected server has changed.
    Listed {
        /// The server.
        server: Arc<str>,
        /// Which list.
        what: Listing,
    },
    /// A list has changed but cannot be fetched; the old one stays.
    Stale {
        /// The server.
        server: Arc<str>,
        /// Which list.
        what: Listing,
        /// The reason.
        why: Arc<str>,
    },
    /// A list has malformed items. They are left out, and the others are
    /// listed.
    Malformed {
        /// The server.
        server: Arc<str>,
        /// Which list.
        what: Listing,
        /// The malformed items and what is wrong with them.
        why: Arc<str>,
    },
    /// The server declares list changes, but the subscription to them failed.
    NotListening {
        /// The server.
        server: Arc<str>,
        /// The reason.
        why: Arc<str>,
    },
    /// A process of the server may still run in its container after it was
    /// stopped.
    Left {
        /// The server.
        server: Arc<str>,
        /// The process, and the reason.
        what: Arc<str>,
    },
    /// A new configuration is in force. Changes of its servers follow as state
    /// events.
    Reloaded(Arc<Changes>),
    /// The changed configuration cannot be used; the old one stays in force.
    NotReloaded {
        /// What is wrong with it.
        problem: Arc<str>,
    },
    /// This subscriber was too slow and missed so many events.
    Missed(u64),
}

/// Events since the moment of subscribing.
pub type Events = crate::events::Events<Event>;

pub(super) type EventSender = crate::events::EventSender<Event>;

impl LagEvent for Event {
    fn missed(events: u64) -> Self {
        Event::Missed(events)
    }
}

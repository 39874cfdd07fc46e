//! Events of a manager.

use std::sync::Arc;

use sparring_peer::client::ListKind;

use super::server_set::Changes;
use super::server_state::ServerState;
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
        state: ServerState,
    },
    /// A list of a connected server has changed.
    ListChanged {
        /// The server.
        server: Arc<str>,
        /// The list.
        what: ListKind,
    },
    /// A list has changed but cannot be fetched; the old one stays.
    ListStale {
        /// The server.
        server: Arc<str>,
        /// The list.
        what: ListKind,
        /// The reason.
        why: Arc<str>,
    },
    /// A list has malformed items. They are left out, and the others are
    /// listed.
    ListMalformed {
        /// The server.
        server: Arc<str>,
        /// The list.
        what: ListKind,
        /// The malformed items, each with its problem.
        why: Arc<str>,
    },
    /// The server declares list changes, but the subscription to them failed.
    SubscriptionFailed {
        /// The server.
        server: Arc<str>,
        /// The reason.
        why: Arc<str>,
    },
    /// A process of the server may still run in its container after it was
    /// stopped.
    LeftRunning {
        /// The server.
        server: Arc<str>,
        /// The process, and the reason.
        what: Arc<str>,
    },
    /// A new configuration is in force. Changes of its servers follow as state
    /// events.
    Reloaded(Arc<Changes>),
    /// The changed configuration cannot be used; the old one stays in force.
    ReloadFailed {
        /// The problem.
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

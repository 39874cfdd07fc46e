//! What happens, for whoever wants to know.

use std::sync::Arc;

use sparring_peer::client::Listing;

use super::reload::Changes;
use super::state::State;
use crate::events::Missable;

/// Something that happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A server is in another state.
    State {
        /// The server.
        server: Arc<str>,
        /// How it is.
        state: State,
    },
    /// A list of a connected server is another one.
    Listed {
        /// The server.
        server: Arc<str>,
        /// Which list.
        what: Listing,
    },
    /// A list should be another one, and could not be had: the old one stays.
    Stale {
        /// The server.
        server: Arc<str>,
        /// Which list.
        what: Listing,
        /// Why.
        why: Arc<str>,
    },
    /// A list has malformed items: they are left out, and the others are listed.
    Malformed {
        /// The server.
        server: Arc<str>,
        /// Which list.
        what: Listing,
        /// Which items, and what is wrong with them.
        why: Arc<str>,
    },
    /// A server does not tell of changes, although it says that it would.
    NotListening {
        /// The server.
        server: Arc<str>,
        /// Why not.
        why: Arc<str>,
    },
    /// Something of a server may still run in its container, although it was
    /// ended.
    Left {
        /// The server.
        server: Arc<str>,
        /// What, and why.
        what: Arc<str>,
    },
    /// Another configuration is in force. What comes of its servers is told by
    /// their states.
    Reloaded(Arc<Changes>),
    /// There is another configuration, and it cannot be used: what runs stays.
    NotReloaded {
        /// What is wrong with it.
        problem: Arc<str>,
    },
    /// So many events came too fast for this subscriber.
    Missed(u64),
}

/// Events from the moment of subscribing on.
pub type Events = crate::events::Events<Event>;

pub(super) type Announcer = crate::events::Announcer<Event>;

impl Missable for Event {
    fn missed(events: u64) -> Self {
        Event::Missed(events)
    }
}

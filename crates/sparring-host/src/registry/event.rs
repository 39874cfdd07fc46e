//! What changes, for whoever wants to know.

use std::sync::Arc;

use crate::events::Missable;

/// Something that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A server has other tools, or none any more.
    Tools {
        /// The server.
        server: Arc<str>,
    },
    /// Other tools may be called, and other ones are hidden.
    Permissions,
    /// Something that somebody should know.
    Note(Arc<str>),
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

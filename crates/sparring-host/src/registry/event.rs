//! What changes, for whoever wants to know.

use std::sync::Arc;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// How many events wait for a subscriber; of more it is only told how many.
const WAITING: usize = 1_024;

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

/// Tells everybody who subscribed.
#[derive(Debug)]
pub(super) struct Announcer(broadcast::Sender<Event>);

/// Events from the moment of subscribing on.
#[derive(Debug)]
pub struct Events(broadcast::Receiver<Event>);

impl Default for Announcer {
    fn default() -> Self {
        Announcer(broadcast::channel(WAITING).0)
    }
}

impl Announcer {
    pub(super) fn tell(&self, event: Event) {
        // Nobody may have subscribed.
        let _ = self.0.send(event);
    }

    pub(super) fn subscribe(&self) -> Events {
        Events(self.0.subscribe())
    }
}

impl Events {
    /// The next one; none when the registry is gone.
    pub async fn next(&mut self) -> Option<Event> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(missed)) => Some(Event::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }
}

//! What happens, for whoever wants to know.

use std::sync::Arc;

use sparring_peer::client::Listing;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::reload::Changes;
use super::state::State;

/// How many events wait for a subscriber; of more it is only told how many.
const WAITING: usize = 1_024;

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

/// Tells everybody who subscribed.
#[derive(Debug, Clone)]
pub(super) struct Announcer(broadcast::Sender<Event>);

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

/// Events from the moment of subscribing on.
#[derive(Debug)]
pub struct Events(broadcast::Receiver<Event>);

impl Events {
    /// The next one; none when the manager is gone.
    pub async fn next(&mut self) -> Option<Event> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(missed)) => Some(Event::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_subscriber_is_told_how_much_it_missed() {
        let announcer = Announcer::default();
        let mut events = announcer.subscribe();
        for number in 0..WAITING + 10 {
            announcer.tell(Event::NotReloaded { problem: number.to_string().into() });
        }
        let Some(Event::Missed(missed)) = events.next().await else { panic!("nothing is told") };
        let Some(Event::NotReloaded { problem }) = events.next().await else { panic!("no event") };
        assert_eq!(*problem, *missed.to_string(), "what follows is the first that was kept");
        drop(announcer);
        while events.next().await.is_some() {}
    }
}

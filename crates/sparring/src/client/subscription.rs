//! A subscription of a test: the peer's, with the line that waited in every
//! failure.

use std::ops::Deref;
use std::panic::Location;
use std::time::Duration;

use sparring_wire::Frame;

use crate::scene::Scene;
use crate::{Error, client};

/// A subscription that stands. Dropped, it ends.
#[must_use = "a subscription that is dropped ends"]
pub struct Subscription {
    peer: sparring_peer::client::Subscription,
    scene: Scene,
}

impl Subscription {
    pub(super) fn new(peer: sparring_peer::client::Subscription, scene: Scene) -> Self {
        Subscription { peer, scene }
    }

    /// The next notification.
    ///
    /// # Errors
    /// When none came in that time, or the subscription has ended.
    #[track_caller]
    pub fn next(&mut self, within: Duration) -> impl Future<Output = Result<Frame, Error>> + Send {
        let at = Location::caller();
        async move {
            let next = self.peer.next(within).await;
            next.map_err(|error| match error {
                client::Error::Timeout { after, .. } => {
                    let missed =
                        format!("no notification of the subscription came within {after:?}");
                    Error::missed(missed, at, &self.scene)
                }
                error => Error::client(error, at, &self.scene),
            })
        }
    }

    /// Waits until the server ends the subscription: a good end, or why not.
    ///
    /// # Errors
    /// When it did not end in good order. Before 2026-07-28 only the
    /// connection ends.
    #[track_caller]
    pub fn ended(&mut self) -> impl Future<Output = Result<(), Error>> + Send {
        let at = Location::caller();
        async move {
            let ended = self.peer.ended().await;
            ended.map_err(|error| Error::client(error, at, &self.scene))
        }
    }

    /// Ends the subscription from this side.
    ///
    /// # Errors
    /// When the server refuses to, where it is asked.
    #[track_caller]
    pub fn close(self) -> impl Future<Output = Result<(), Error>> + Send {
        let at = Location::caller();
        let Subscription { peer, scene } = self;
        async move { peer.close().await.map_err(|error| Error::client(error, at, &scene)) }
    }
}

impl Deref for Subscription {
    type Target = sparring_peer::client::Subscription;

    fn deref(&self) -> &sparring_peer::client::Subscription {
        &self.peer
    }
}

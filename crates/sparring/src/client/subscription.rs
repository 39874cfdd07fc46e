//! A subscription of a test, with the line of the caller in every failure.

use std::ops::Deref;
use std::panic::Location;
use std::time::Duration;

use sparring_wire::Frame;

use crate::failure_context::FailureContext;
use crate::{Error, client};

/// An active subscription. Dropping it ends it.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{Client, MockServer};
/// # let mock = MockServer::from_yaml("resources: [{uri: 'memo:1', text: milk}]", ".")?;
/// # let client = Client::in_memory(mock).wait()?;
/// let changes = client.subscribe("memo:1").wait()?;
/// assert_eq!(changes.acknowledged().uris, ["memo:1"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping the subscription ends it"]
pub struct Subscription {
    peer: sparring_peer::client::Subscription,
    context: FailureContext,
}

impl Subscription {
    pub(super) fn new(peer: sparring_peer::client::Subscription, context: FailureContext) -> Self {
        Subscription { peer, context }
    }

    /// Waits for the next notification.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # use std::time::Duration;
    /// # let mock = MockServer::from_yaml("resources: [{uri: 'memo:1', text: milk}]", ".")?;
    /// # let client = Client::in_memory(&mock).wait()?;
    /// let mut changes = client.subscribe("memo:1").wait()?;
    /// mock.notify("notifications/resources/updated", Some(json!({"uri": "memo:1"}).into()));
    /// let change = changes.next(Duration::from_secs(5)).wait()?;
    /// assert_eq!(change.method(), Some("notifications/resources/updated"));
    /// assert!(changes.next(Duration::from_millis(50)).wait().is_err(), "there was one");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the timeout has passed, or the subscription has ended.
    #[track_caller]
    pub fn next(&mut self, within: Duration) -> impl Future<Output = Result<Frame, Error>> + Send {
        let at = Location::caller();
        async move {
            let next = self.peer.next(within).await;
            next.map_err(|error| match error {
                client::Error::Timeout { after, .. } => {
                    let message = format!("the subscription received nothing within {after:?}");
                    Error::not_received(message, at, &self.context)
                }
                error => Error::client(error, at, &self.context),
            })
        }
    }

    /// Waits until the server ends the subscription.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("resources: [{uri: 'memo:1', text: milk}]", ".")?;
    /// # let (here, there) = sparring::memory(sparring::LinkKind::Shared);
    /// # let serving = mock.spawn(there);
    /// # let client = Client::connect(here).await?;
    /// let mut changes = client.subscribe("memo:1").await?;
    /// serving.stop().await;
    /// changes.ended().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the server did not end it regularly. Before 2026-07-28 a subscription ends
    /// only with the connection.
    #[track_caller]
    pub fn ended(&mut self) -> impl Future<Output = Result<(), Error>> + Send {
        let at = Location::caller();
        async move {
            let ended = self.peer.ended().await;
            ended.map_err(|error| Error::client(error, at, &self.context))
        }
    }

    /// Ends the subscription from this side.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer, Revision, Step};
    /// # let mock = MockServer::from_yaml("resources: [{uri: 'memo:1', text: milk}]", ".")?;
    /// # let old = Client::builder().revision(Revision::V2025_11_25);
    /// # let client = old.in_memory(mock).wait()?;
    /// let changes = client.subscribe("memo:1").wait()?;
    /// changes.close().wait()?;
    /// client.snapshot().assert_order([Step::response("resources/unsubscribe")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the server rejects the request to unsubscribe.
    #[track_caller]
    pub fn close(self) -> impl Future<Output = Result<(), Error>> + Send {
        let at = Location::caller();
        let Subscription { peer, context } = self;
        async move { peer.close().await.map_err(|error| Error::client(error, at, &context)) }
    }
}

impl Deref for Subscription {
    type Target = sparring_peer::client::Subscription;

    fn deref(&self) -> &sparring_peer::client::Subscription {
        &self.peer
    }
}

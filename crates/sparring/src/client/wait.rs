//! Waits for a number of notifications or requests from the server.

use std::future::IntoFuture;
use std::panic::Location;
use std::pin::Pin;
use std::time::Duration;

use sparring_peer::client::Inbox;
use sparring_wire::Frame;

use super::connection::Client;
use crate::Error;

/// A wait for notifications or requests; it starts when it is awaited.
///
/// Messages that the client has already received count.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{Client, MockServer};
/// # use serde_json::json;
/// # let mock = MockServer::from_yaml(
/// #     "tools: [{name: copy, text: done, during: [{progress: 1}, {progress: 2}]}]",
/// #     ".",
/// # )?;
/// # let client = Client::in_memory(mock).wait()?;
/// let copy = client.call_tool("copy", json!({})).on_progress(|_| ());
/// copy.wait()?.assert_success();
/// assert_eq!(client.wait_for_notifications(2).wait()?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the wait starts when it is awaited"]
pub struct MessageWait<'c> {
    client: &'c Client,
    kind: Kind,
    count: u64,
    method: Option<String>,
    within: Duration,
    at: &'static Location<'static>,
}

#[derive(Clone, Copy)]
enum Kind {
    Notifications,
    Requests,
}

impl Client {
    /// Waits until the client has received `count` notifications since it connected
    /// [default timeout: the client's timeout]. Returns those that are still buffered.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: copy, text: done, during: [{progress: 1}, {progress: 2}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).await?;
    /// let copy = client.call_tool("copy", serde_json::json!({})).on_progress(|_| ());
    /// copy.await?.assert_success();
    /// let came = client.wait_for_notifications(2).method("notifications/progress").await?;
    /// assert_eq!(came.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the timeout has passed, or the connection ended. The error lists the
    /// received messages by method.
    #[track_caller]
    pub fn wait_for_notifications(&self, count: u64) -> MessageWait<'_> {
        MessageWait::new(self, Kind::Notifications, count)
    }

    /// Waits until the client has received `count` requests since it connected
    /// [default timeout: the client's timeout]. Pings do not count.
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: where, ask: {it: {roots: {}}}, text: here}]",
    /// #     ".",
    /// # )?;
    /// let client = Client::builder().roots(["file:///home"]).in_memory(mock).await?;
    /// client.call_tool("where", serde_json::json!({})).await?.assert_text("here");
    /// client.wait_for_requests(1).method("roots/list").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the timeout has passed, or the connection ended. The error lists the
    /// received messages by method.
    #[track_caller]
    pub fn wait_for_requests(&self, count: u64) -> MessageWait<'_> {
        MessageWait::new(self, Kind::Requests, count)
    }
}

impl<'c> MessageWait<'c> {
    #[track_caller]
    fn new(client: &'c Client, kind: Kind, count: u64) -> Self {
        let (within, at) = (client.timeout(), Location::caller());
        MessageWait { client, kind, count, method: None, within, at }
    }

    /// Counts only messages of this method.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml(
    /// #     "tools: [{name: run, text: ok, during: [{notify: acme/begun}, {notify: acme/done}]}]",
    /// #     ".",
    /// # )?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("run", json!({})).wait()?.assert_success();
    /// let done = client.wait_for_notifications(1).method("notifications/acme/done").wait()?;
    /// assert_eq!(done.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn method(self, method: &str) -> Self {
        MessageWait { method: Some(method.to_owned()), ..self }
    }

    /// Sets the timeout [default: the client's timeout].
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use std::time::Duration;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let none = client.wait_for_notifications(1).within(Duration::from_millis(50)).wait();
    /// let error = none.expect_err("the server sends no notification");
    /// assert!(error.to_string().starts_with("received 0 of 1 notification within 50ms"), "{error}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn within(self, within: Duration) -> Self {
        MessageWait { within, ..self }
    }

    fn inbox(&self) -> &'c Inbox {
        match self.kind {
            Kind::Notifications => self.client.notifications(),
            Kind::Requests => self.client.requests(),
        }
    }

    fn received(&self, inbox: &Inbox) -> u64 {
        self.method.as_ref().map_or_else(|| inbox.total(), |method| inbox.count(method))
    }

    async fn wait(self) -> Result<Vec<Frame>, Error> {
        let inbox = self.inbox();
        let enough = |inbox: &Inbox| self.received(inbox) >= self.count;
        let waited = tokio::time::timeout(self.within, async {
            tokio::select! {
                biased;
                () = inbox.wait_until(enough) => None,
                cause = self.client.closed() => Some(cause),
            }
        });
        let why = match waited.await {
            Ok(Some(cause)) => format!("before the connection ended: {cause}"),
            _ => format!("within {:?}", self.within),
        };
        // The last messages may have arrived together with the end of the connection.
        match enough(inbox) {
            true => Ok(self.method.as_ref().map_or_else(|| inbox.all(), |it| inbox.by_name(it))),
            false => Err(Error::not_received(
                self.render_missing(inbox, &why),
                self.at,
                &self.client.context,
            )),
        }
    }

    /// Renders the missing messages, and those that were received instead.
    fn render_missing(&self, inbox: &Inbox, why: &str) -> String {
        let kind = match (self.kind, self.count) {
            (Kind::Notifications, 1) => "notification",
            (Kind::Notifications, _) => "notifications",
            (Kind::Requests, 1) => "request",
            (Kind::Requests, _) => "requests",
        };
        let of = self.method.as_ref().map(|method| format!(" `{method}`")).unwrap_or_default();
        let all = inbox.counts().into_iter().map(|(name, count)| format!("\n  {count} {name}"));
        let all: String = all.collect();
        let all = if all.is_empty() { " none".to_owned() } else { all };
        let (count, received) = (self.count, self.received(inbox));
        format!("received {received} of {count} {kind}{of} {why}\nreceived:{all}")
    }
}

impl<'c> IntoFuture for MessageWait<'c> {
    type Output = Result<Vec<Frame>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'c>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.wait())
    }
}

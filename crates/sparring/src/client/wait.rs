//! Waiting until the server has said so much unasked, or has asked so much.

use std::future::IntoFuture;
use std::panic::Location;
use std::pin::Pin;
use std::time::Duration;

use sparring_peer::client::Inbox;
use sparring_wire::Frame;

use super::Client;
use crate::Error;

/// Something to be waited for; awaiting it waits.
///
/// What came before counts as well: a notification that is there already is not
/// waited for.
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
#[must_use = "nothing is waited for until it is awaited"]
pub struct Wait<'c> {
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
    /// Waits until so many notifications have come since the start, for as long
    /// as a request may take. It gives those that are kept.
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
    /// let came = client.wait_for_notifications(2).of("notifications/progress").await?;
    /// assert_eq!(came.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When they have not come in that time, or the connection ended first; the
    /// error says how many of which came.
    #[track_caller]
    pub fn wait_for_notifications(&self, count: u64) -> Wait<'_> {
        Wait::new(self, Kind::Notifications, count)
    }

    /// Waits until the server has asked for so much since the start, for as long
    /// as a request of this side may take. Pings are not counted.
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
    /// client.wait_for_requests(1).of("roots/list").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When it has not in that time, or the connection ended first; the error
    /// says how many of which came.
    #[track_caller]
    pub fn wait_for_requests(&self, count: u64) -> Wait<'_> {
        Wait::new(self, Kind::Requests, count)
    }
}

impl<'c> Wait<'c> {
    #[track_caller]
    fn new(client: &'c Client, kind: Kind, count: u64) -> Self {
        let (within, at) = (client.timeout(), Location::caller());
        Wait { client, kind, count, method: None, within, at }
    }

    /// Only those of this method.
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
    /// let done = client.wait_for_notifications(1).of("notifications/acme/done").wait()?;
    /// assert_eq!(done.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(self, method: &str) -> Self {
        Wait { method: Some(method.to_owned()), ..self }
    }

    /// For this long, and no longer.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use std::time::Duration;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let none = client.wait_for_notifications(1).within(Duration::from_millis(50)).wait();
    /// let error = none.expect_err("the server says nothing unasked");
    /// assert!(error.to_string().starts_with("0 of 1 notification came within 50ms"), "{error}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn within(self, within: Duration) -> Self {
        Wait { within, ..self }
    }

    fn inbox(&self) -> &'c Inbox {
        match self.kind {
            Kind::Notifications => self.client.notifications(),
            Kind::Requests => self.client.requests(),
        }
    }

    fn came(&self, inbox: &Inbox) -> u64 {
        self.method.as_ref().map_or_else(|| inbox.total(), |method| inbox.count(method))
    }

    async fn wait(self) -> Result<Vec<Frame>, Error> {
        let inbox = self.inbox();
        let enough = |inbox: &Inbox| self.came(inbox) >= self.count;
        let waited = tokio::time::timeout(self.within, async {
            tokio::select! {
                biased;
                () = inbox.until(enough) => None,
                cause = self.client.closed() => Some(cause),
            }
        });
        let why = match waited.await {
            Ok(Some(cause)) => format!("before the connection ended: {cause}"),
            _ => format!("within {:?}", self.within),
        };
        // What came last may have come with the end.
        match enough(inbox) {
            true => Ok(self.method.as_ref().map_or_else(|| inbox.all(), |it| inbox.of(it))),
            false => Err(Error::missed(self.told(inbox, &why), self.at, &self.client.scene)),
        }
    }

    /// How many of which came instead.
    fn told(&self, inbox: &Inbox, why: &str) -> String {
        let kind = match (self.kind, self.count) {
            (Kind::Notifications, 1) => "notification",
            (Kind::Notifications, _) => "notifications",
            (Kind::Requests, 1) => "request",
            (Kind::Requests, _) => "requests",
        };
        let of = self.method.as_ref().map(|method| format!(" of {method}")).unwrap_or_default();
        let all = inbox.counts().into_iter().map(|(name, count)| format!("\n  {count} {name}"));
        let all: String = all.collect();
        let all = if all.is_empty() { " none".to_owned() } else { all };
        let (count, came) = (self.count, self.came(inbox));
        format!("{came} of {count} {kind}{of} came {why}\ncame:{all}")
    }
}

impl<'c> IntoFuture for Wait<'c> {
    type Output = Result<Vec<Frame>, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send + 'c>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.wait())
    }
}

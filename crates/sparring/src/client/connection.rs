//! The connection of a test to a server.

use std::any::Any;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use super::builder::ClientBuilder;
use crate::connect::{Connect, InMemory};
use crate::failure_context::FailureContext;

/// A connection to a server, in a test. It dereferences to the underlying
/// [`peer::Client`](crate::peer::Client), and adds checks to its responses and the
/// failure context to its failures. Cheap to clone. Dropping the last clone closes
/// the connection and stops the child process or server that was started for it.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{Client, MockServer};
/// # use serde_json::json;
/// # let mock = MockServer::from_yaml(
/// #     "tools: [{name: greet, input: {name: string}, text: \"hello ${args.name}\"}]",
/// #     ".",
/// # )?;
/// let client = Client::in_memory(mock).wait()?;
/// client.call_tool("greet", json!({"name": "Ada"})).wait()?.assert_text("hello Ada");
/// let clone = client.clone();
/// drop(client);
/// clone.ping().wait()?; // The connection is still open.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Client {
    pub(super) peer: sparring_peer::Client,
    pub(super) context: FailureContext,
    pub(super) _keep_alive: Option<Arc<dyn Any + Send + Sync>>,
}

impl Client {
    /// Connects to a target, or over a link, with the default options.
    ///
    /// ```no_run
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{ChildTarget, Client};
    /// let client = Client::connect(ChildTarget::new("my-server").arg("--stdio")).wait()?;
    /// client.list_tools().wait()?.assert_has("greet");
    /// # Ok::<(), sparring::Error>(())
    /// ```
    ///
    /// Connects over a link to a mock:
    ///
    /// ```
    /// # use sparring::{Client, MockServer};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let client = Client::connect(mock.connect()).await?;
    /// client.list_tools().await?.assert_has("greet");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the target cannot be started or reached, or the handshake fails.
    #[track_caller]
    pub fn connect<Kind>(
        target: impl Connect<Kind>,
    ) -> impl Future<Output = Result<Client, crate::Error>> {
        ClientBuilder::default().connect(target)
    }

    /// Connects to a server in this process, with the default options.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let client = Client::in_memory(mock).wait()?;
    /// client.call_tool("greet", json!({})).wait()?.assert_text("hello");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A type that is not a server does not compile:
    ///
    /// ```compile_fail,E0277
    /// # async fn check() -> Result<(), sparring::Error> {
    /// let client = sparring::Client::in_memory("a server").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the handshake fails.
    #[track_caller]
    pub fn in_memory<Kind>(
        service: impl InMemory<Kind>,
    ) -> impl Future<Output = Result<Client, crate::Error>> {
        ClientBuilder::default().in_memory(service)
    }

    /// Returns a builder for a client with other options.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// let client = Client::builder().roots(["file:///home"]).in_memory(mock).wait()?;
    /// client.list_tools().wait()?.assert_has("greet");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Returns a client of the same connection with another request timeout.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # use serde_json::json;
    /// # use std::time::Duration;
    /// # let mock = MockServer::from_yaml("tools: [{name: stuck, fault: {silent: true}}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// let hasty = client.with_timeout(Duration::from_millis(50));
    /// assert!(hasty.call_tool("stuck", json!({})).wait().is_err());
    /// client.ping().wait()?; // The connection stands, and this handle is as patient as before.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Client {
        Client { peer: self.peer.with_timeout(timeout), ..self.clone() }
    }

    /// Describes the target.
    ///
    /// ```
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{Client, MockServer};
    /// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
    /// # let client = Client::in_memory(mock).wait()?;
    /// assert!(client.target().starts_with("mock "), "{}", client.target());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn target(&self) -> &str {
        self.context.target()
    }

    pub(crate) fn failure_context(&self) -> &FailureContext {
        &self.context
    }

    /// Returns the end of the target's stderr; empty if it has none.
    ///
    /// ```no_run
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{ChildTarget, Client};
    /// let client = Client::connect(ChildTarget::new("my-server").arg("--stdio")).wait()?;
    /// client.close().wait();
    /// assert!(!client.stderr().contains("WARN"), "{}", client.stderr());
    /// # Ok::<(), sparring::Error>(())
    /// ```
    pub fn stderr(&self) -> String {
        self.context.stderr().map(sparring_transport::Stderr::text).unwrap_or_default()
    }
}

impl Deref for Client {
    type Target = sparring_peer::Client;

    fn deref(&self) -> &sparring_peer::Client {
        &self.peer
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("target", &self.target()).finish_non_exhaustive()
    }
}

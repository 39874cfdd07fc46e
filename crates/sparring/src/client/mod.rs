//! The client of a test: the peer's own, what it is connected to, and the line
//! that asked in every failure.

mod asking;
mod builder;
mod call;
mod subscription;
mod wait;
mod when;

use std::any::Any;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

pub use builder::ClientBuilder;
pub use call::{Call, InFlight};
pub use sparring_peer::client::{
    ClientOptions, Error, Filter, Inbox, Listing, Progress, Protocol, Question, Session,
    accept_with_defaults,
};
pub use subscription::Subscription;
pub use wait::Wait;
pub use when::When;

use crate::connect::{Connect, InMemory};
use crate::scene::Scene;

/// A connection to a server, in a test. It is the peer's client, which it
/// dereferences to, with answers that can be checked and failures that show the
/// scene. Cheap to clone; when the last clone is gone, the connection is
/// closed, and with it what was started for it.
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
/// clone.ping().wait()?; // It is the same connection, which still stands.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Client {
    peer: sparring_peer::Client,
    scene: Scene,
    _kept: Option<Arc<dyn Any + Send + Sync>>,
}

impl Client {
    /// Connects to a target, or over a link, with everything as it is by default.
    ///
    /// ```no_run
    /// # use sparring::blocking::Wait as _;
    /// # use sparring::{ChildTarget, Client};
    /// let client = Client::connect(ChildTarget::new("my-server").arg("--stdio")).wait()?;
    /// client.list_tools().wait()?.assert_has("greet");
    /// # Ok::<(), sparring::Error>(())
    /// ```
    ///
    /// A link can lead anywhere, here to a mock:
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
    /// When the target cannot be reached or talked to; the error says why.
    #[track_caller]
    pub fn connect<Kind>(
        target: impl Connect<Kind>,
    ) -> impl Future<Output = Result<Client, crate::Error>> {
        ClientBuilder::default().connect(target)
    }

    /// Connects to a service in this process, with everything as it is by default.
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
    /// What is no service does not compile:
    ///
    /// ```compile_fail,E0277
    /// # async fn check() -> Result<(), sparring::Error> {
    /// let client = sparring::Client::in_memory("a server").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the two do not come to terms; the error says why.
    #[track_caller]
    pub fn in_memory<Kind>(
        service: impl InMemory<Kind>,
    ) -> impl Future<Output = Result<Client, crate::Error>> {
        ClientBuilder::default().in_memory(service)
    }

    /// A client that differs from the default.
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

    /// The same connection, with another time for each request.
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

    /// Whom the client talks to, in words.
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
        self.scene.target()
    }

    pub(crate) fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The end of what the target wrote to its stderr; nothing where it has none.
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
        self.scene.stderr().map(sparring_transport::Stderr::text).unwrap_or_default()
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

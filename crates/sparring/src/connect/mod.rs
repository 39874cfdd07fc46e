//! The traits of everything that a client connects to: targets, links, and servers
//! in this process.
//!
//! The type parameter of both traits keeps their implementations apart. The
//! compiler always infers it.

mod implementations;
#[cfg(feature = "rmcp")]
pub(crate) mod rmcp_service;

use std::any::Any;

use sparring_peer::Link;
use sparring_transport::{OpenError, Stderr};

/// The buffer of an in-process byte stream; a writer waits when it is full.
pub(crate) const DUPLEX_BUFFER_BYTES: usize = 64 * 1024;

/// A link to a target, with the target's description and stderr.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::connect::{InMemory, OpenedLink};
/// # use sparring::{Client, MockServer};
/// # struct Greeter(MockServer);
/// impl InMemory<Greeter> for Greeter {
///     fn attach(self) -> OpenedLink {
///         self.0.attach()
///     }
/// }
/// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
/// let client = Client::in_memory(Greeter(mock)).wait()?;
/// # client.list_tools().wait()?.assert_has("greet");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OpenedLink {
    pub(crate) link: Box<dyn Link>,
    pub(crate) target: String,
    pub(crate) stderr: Option<Stderr>,
    pub(crate) keep_alive: Option<KeepAlive>,
}

/// Something that must live as long as the connection; dropped with it.
pub(crate) type KeepAlive = Box<dyn Any + Send + Sync>;

impl OpenedLink {
    pub(crate) fn new(link: impl Link, target: impl Into<String>) -> Self {
        OpenedLink { link: Box::new(link), target: target.into(), stderr: None, keep_alive: None }
    }

    /// Adds a value that is dropped with the link.
    pub(crate) fn with_keep_alive(self, keep_alive: impl Any + Send + Sync) -> Self {
        OpenedLink { keep_alive: Some(Box::new(keep_alive)), ..self }
    }
}

/// The argument of [`Client::connect`](crate::Client::connect):
/// [`ChildTarget`](crate::ChildTarget), [`ContainerTarget`](crate::ContainerTarget),
/// `UnixTarget`, `HttpTarget`, `HttpProcessTarget`, any [`Target`](crate::Target), and any [`Link`].
///
/// ```
/// # use sparring::{Client, MockServer, connect::Connect};
/// async fn greets<Kind>(server: impl Connect<Kind>) -> Result<(), sparring::Error> {
///     Client::connect(server).await?.list_tools().await?.assert_has("greet");
///     Ok(())
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
/// greets(mock.connect()).await?;
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "a client cannot connect to `{Self}`",
    label = "neither a target nor a link",
    note = "a target is a `ChildTarget`, `ContainerTarget`, `UnixTarget`, `HttpTarget`, `HttpProcessTarget` or `Target`",
    note = "a link is anything that implements `sparring::Link`: for bytes, `LineLink::from_stream(stream)`",
    note = "for a server in this process use `Client::in_memory`"
)]
pub trait Connect<Kind>: Send {
    /// Starts or connects to the target.
    fn open(self) -> impl Future<Output = Result<OpenedLink, OpenError>> + Send;
}

/// The argument of [`Client::in_memory`](crate::Client::in_memory): a
/// [`Server`](crate::Server), a [`Handler`](crate::Handler), a `MockServer`, or
/// with the feature `rmcp` any service of the official SDK.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{Client, MockServer, connect::InMemory};
/// async fn greets<Kind>(server: impl InMemory<Kind>) -> Result<(), sparring::Error> {
///     Client::in_memory(server).await?.list_tools().await?.assert_has("greet");
///     Ok(())
/// }
/// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
/// greets(mock).wait()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Anything else does not compile:
///
/// ```compile_fail,E0277
/// sparring::Client::in_memory("my-server --stdio");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be served in memory",
    label = "not a server",
    note = "a server is a `sparring::Server`, a `MockServer`, or anything that implements `sparring::Handler`",
    note = "with the feature `rmcp` of sparring it can be any `rmcp::Service<RoleServer>`, such as a `ServerHandler`",
    note = "for a child process, a URL or a link use `Client::connect`"
)]
pub trait InMemory<Kind>: Send {
    /// Serves one client in this process and returns the link to it.
    fn attach(self) -> OpenedLink;
}

/// Markers that keep the implementations of the traits apart.
pub mod kind {
    /// Marks a [`Link`](crate::Link).
    pub enum Link {}
    /// Marks a [`Target`](crate::Target).
    pub enum Target {}
    /// Marks a [`Handler`](crate::Handler).
    pub enum Handler {}
    /// Marks a [`Server`](crate::Server).
    pub enum Server {}
    /// Marks a `MockServer`.
    #[cfg(feature = "mock")]
    pub enum Mock {}
    /// Marks a service of the official SDK.
    #[cfg(feature = "rmcp")]
    pub enum Rmcp {}
}

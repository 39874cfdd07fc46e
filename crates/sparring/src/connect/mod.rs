//! What a client can be connected to: targets that are plain data, links of the
//! caller's own, and services in this process.
//!
//! The parameter of both traits only keeps their implementations apart; it is
//! always inferred.

mod in_memory;
#[cfg(feature = "rmcp")]
pub(crate) mod of_rmcp;
mod targets;

use std::any::Any;

use sparring_peer::Link;
use sparring_transport::{OpenError, Stderr};

/// A link to a target, and what comes with it.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::connect::{InMemory, Opened};
/// # use sparring::{Client, MockServer};
/// # struct Greeter(MockServer);
/// impl InMemory<Greeter> for Greeter {
///     fn attach(self) -> Opened {
///         self.0.attach()
///     }
/// }
/// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
/// let client = Client::in_memory(Greeter(mock)).wait()?;
/// # client.list_tools().wait()?.assert_has("greet");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Opened {
    pub(crate) link: Box<dyn Link>,
    pub(crate) target: String,
    pub(crate) stderr: Option<Stderr>,
    /// What lives as long as the client does.
    pub(crate) kept: Option<Kept>,
}

/// What a connection needs to live on; dropped with it.
pub(crate) type Kept = Box<dyn Any + Send + Sync>;

impl Opened {
    pub(crate) fn of(link: impl Link, target: impl Into<String>) -> Self {
        Opened { link: Box::new(link), target: target.into(), stderr: None, kept: None }
    }

    /// The same, and what is dropped with it.
    pub(crate) fn keeping(self, kept: impl Any + Send + Sync) -> Self {
        Opened { kept: Some(Box::new(kept)), ..self }
    }
}

/// What [`Client::connect`](crate::Client::connect) takes:
/// [`ChildTarget`](crate::ChildTarget), [`ContainerTarget`](crate::ContainerTarget),
/// `UnixTarget`, `HttpTarget`, any [`Target`](crate::Target), and any [`Link`].
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
    message = "a client cannot be connected to `{Self}`",
    label = "neither a target nor a link",
    note = "a target is a `ChildTarget`, `ContainerTarget`, `UnixTarget`, `HttpTarget` or `Target`",
    note = "a link is anything that implements `sparring::Link`: for bytes, `Lines::over(stream)`",
    note = "for a server in this process there is `Client::in_memory`"
)]
pub trait Connect<Kind>: Send {
    /// Starts or reaches it.
    fn open(self) -> impl Future<Output = Result<Opened, OpenError>> + Send;
}

/// What [`Client::in_memory`](crate::Client::in_memory) takes: a
/// [`Server`](crate::Server), a [`Handler`](crate::Handler), a `MockServer`, and
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
/// Anything else does not compile, and the compiler says what would:
///
/// ```compile_fail,E0277
/// sparring::Client::in_memory("my-server --stdio");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be served in memory",
    label = "not a server",
    note = "a server is a `sparring::Server`, a `MockServer`, or anything that implements `sparring::Handler`",
    note = "with the feature `rmcp` of sparring it can be any `rmcp::Service<RoleServer>`, as every `ServerHandler` is",
    note = "for a child, a URL or a link there is `Client::connect`"
)]
pub trait InMemory<Kind>: Send {
    /// Serves one client in this process.
    fn attach(self) -> Opened;
}

/// How the implementations are told apart.
pub mod kind {
    /// A link of the caller's own.
    pub enum OfLink {}
    /// A target that is plain data.
    pub enum OfTarget {}
    /// A handler.
    pub enum OfHandler {}
    /// A server.
    pub enum OfServer {}
    /// A mocked one.
    #[cfg(feature = "mock")]
    pub enum OfMock {}
    /// A service of the official SDK.
    #[cfg(feature = "rmcp")]
    pub enum OfRmcp {}
}

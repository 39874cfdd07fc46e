//! What makes servers, and what a server can be put on, whatever it is.

use sparring_peer::Link;
use sparring_wire::Revision;
use tokio::io::{AsyncRead, AsyncWrite};

use super::Transport;
use crate::connect::Kept;

/// What [`everywhere`](super::everywhere) takes: a closure that makes a
/// [`Server`](crate::Server), a [`Handler`](crate::Handler), a `MockServer`, or
/// with the feature `rmcp` a `ServerHandler` of the official SDK. The parameter
/// only keeps the implementations apart.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{MockServer, everywhere};
/// # fn mock() -> MockServer {
/// #     MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".").unwrap()
/// # }
/// use sparring::everywhere::{Everywhere, Factory, Transport};
///
/// fn nearby<Kind>(make: impl Factory<Kind>) -> Everywhere {
///     everywhere(make).only([Transport::Memory, Transport::Duplex])
/// }
/// nearby(mock).run(async |client| client.list_tools().await.map(drop)).wait();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` makes no server",
    label = "not a closure that gives a server",
    note = "give a closure that makes one for each combination: `everywhere(|| MyServer::new())`",
    note = "a server is a `sparring::Server`, a `MockServer`, or anything that implements `sparring::Handler`",
    note = "with the feature `rmcp` of sparring it can be any `rmcp::ServerHandler`"
)]
pub trait Factory<Kind>: Send + Sync + 'static {
    /// The same for servers of whatever kind.
    fn hosts(self) -> Hosts;
}

/// A factory of servers of whatever kind.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{MockServer, everywhere};
/// # fn mock() -> MockServer {
/// #     MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".").unwrap()
/// # }
/// use sparring::everywhere::{Factory, Hosts};
///
/// # struct Mine;
/// # enum OfMine {}
/// impl Factory<OfMine> for Mine {
///     fn hosts(self) -> Hosts {
///         mock.hosts()
///     }
/// }
/// everywhere(Mine).run(async |client| client.list_tools().await.map(drop)).wait();
/// ```
pub struct Hosts(Box<dyn Fn() -> Box<dyn Host> + Send + Sync>);

impl Hosts {
    pub(super) fn of<S: Host + 'static>(make: impl Fn() -> S + Send + Sync + 'static) -> Self {
        Hosts(Box::new(move || Box::new(make())))
    }

    pub(super) fn make(&self) -> Box<dyn Host> {
        (self.0)()
    }
}

/// A server that is to be put on something.
pub(super) trait Host: Send + Sync {
    /// What it is called in messages.
    fn name(&self) -> &'static str;

    /// The revisions that it speaks.
    fn revisions(&self) -> Vec<Revision>;

    /// What it can be put on.
    fn transports(&self) -> Vec<Transport>;

    /// Serves a link for as long as what this gives is kept.
    fn on_link(&self, link: Box<dyn Link>) -> Kept;

    /// Serves a stream of bytes for as long as what this gives is kept.
    fn on_stream(&self, stream: Box<dyn Bytes>) -> Kept;

    /// Serves whoever connects, for as long as what this gives is kept.
    #[cfg(feature = "http")]
    fn on_port(&self, listener: tokio::net::TcpListener) -> Result<OnPort, String>;
}

/// A stream that goes both ways.
pub(super) trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Bytes for T {}

/// Where a server is over HTTP.
#[cfg(feature = "http")]
pub(super) struct OnPort {
    pub(super) mcp: String,
    pub(super) sse: Option<String>,
    pub(super) kept: Kept,
}

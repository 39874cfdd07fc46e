//! Makes servers of any kind, and serves them over a transport.

use sparring_peer::Link;
#[cfg(feature = "check")]
use sparring_peer::{LineLink, LinkKind, memory};
use sparring_wire::Revision;
use tokio::io::{AsyncRead, AsyncWrite};

use super::transport::Transport;
use crate::connect::KeepAlive;
#[cfg(feature = "check")]
use crate::connect::{DUPLEX_BUFFER_BYTES, OpenedLink};

/// The argument of [`everywhere`](crate::everywhere()): a closure that makes a
/// [`Server`](crate::Server), a [`Handler`](crate::Handler), a `MockServer`, or
/// with the feature `rmcp` a `ServerHandler` of the official SDK. The type
/// parameter keeps the implementations apart.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{MockServer, everywhere};
/// # fn mock() -> MockServer {
/// #     MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".").unwrap()
/// # }
/// use sparring::everywhere::Factory;
/// use sparring::{Everywhere, Transport};
///
/// fn nearby<Kind>(make: impl Factory<Kind>) -> Everywhere {
///     everywhere(make).only([Transport::Memory, Transport::Duplex])
/// }
/// nearby(mock).run(async |client| client.list_tools().await.map(drop)).wait();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not make a server",
    label = "not a closure that returns a server",
    note = "pass a closure that makes a server for each combination: `everywhere(|| MyServer::new())`",
    note = "a server is a `sparring::Server`, a `MockServer`, or anything that implements `sparring::Handler`",
    note = "with the feature `rmcp` of sparring it can be any `rmcp::ServerHandler`"
)]
pub trait Factory<Kind>: Send + Sync + 'static {
    /// Converts the closure into a factory of servers of any kind.
    fn into_server_factory(self) -> ServerFactory;
}

/// A factory of servers of any kind.
///
/// ```
/// # use sparring::blocking::Wait as _;
/// # use sparring::{MockServer, everywhere};
/// # fn mock() -> MockServer {
/// #     MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".").unwrap()
/// # }
/// use sparring::everywhere::{Factory, ServerFactory};
///
/// # struct Mine;
/// # enum MyKind {}
/// impl Factory<MyKind> for Mine {
///     fn into_server_factory(self) -> ServerFactory {
///         mock.into_server_factory()
///     }
/// }
/// everywhere(Mine).run(async |client| client.list_tools().await.map(drop)).wait();
/// ```
pub struct ServerFactory(Box<dyn Fn() -> Box<dyn Servable> + Send + Sync>);

impl ServerFactory {
    pub(super) fn new<S: Servable + 'static>(make: impl Fn() -> S + Send + Sync + 'static) -> Self {
        ServerFactory(Box::new(move || Box::new(make())))
    }

    /// Makes a server and connects to it in this process.
    #[cfg(feature = "check")]
    pub(crate) fn open_in_memory(&self) -> OpenedLink {
        let server = self.make();
        if server.transports().contains(&Transport::Memory) {
            let (here, there) = memory(LinkKind::Shared);
            let serving = server.serve_link(Box::new(there));
            return OpenedLink::new(here, server.name()).with_keep_alive((serving, server));
        }
        let (here, there) = tokio::io::duplex(DUPLEX_BUFFER_BYTES);
        let serving = server.serve_stream(Box::new(there));
        let link = LineLink::from_stream(here).with_transport_name("duplex");
        OpenedLink::new(link, server.name()).with_keep_alive((serving, server))
    }

    pub(super) fn make(&self) -> Box<dyn Servable> {
        (self.0)()
    }
}

/// A server that can be served over a transport.
pub(super) trait Servable: Send + Sync {
    /// The name of the server in messages.
    fn name(&self) -> &'static str;

    /// The revisions that it supports.
    fn revisions(&self) -> Vec<Revision>;

    /// The transports that it can be served over.
    fn transports(&self) -> Vec<Transport>;

    /// Serves a link until the returned value is dropped.
    fn serve_link(&self, link: Box<dyn Link>) -> KeepAlive;

    /// Serves a byte stream until the returned value is dropped.
    fn serve_stream(&self, stream: Box<dyn ByteStream>) -> KeepAlive;

    /// Serves HTTP clients until the returned value is dropped.
    #[cfg(feature = "http")]
    fn serve_http(&self, listener: tokio::net::TcpListener) -> Result<HttpEndpoints, String>;
}

/// A bidirectional byte stream.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for T {}

/// The URLs of a server over HTTP.
#[cfg(feature = "http")]
pub(super) struct HttpEndpoints {
    pub(super) mcp: String,
    pub(super) sse: Option<String>,
    pub(super) keep_alive: KeepAlive,
}

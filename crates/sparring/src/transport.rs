//! Transports to other processes and machines: stdio, Unix sockets, named pipes,
//! containers and HTTP.
//!
//! ```
//! # #[cfg(unix)]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use sparring::transport::{UnixTarget, listen_unix};
//! use sparring::{Client, MockServer, Project};
//!
//! let project = Project::new();
//! let listener = listen_unix(&project.join("mcp.sock"))?;
//! # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
//! tokio::spawn(async move { mock.serve(listener.accept().await.unwrap()).await });
//! let client = Client::connect(UnixTarget::new(project.join("mcp.sock"))).await?;
//! client.list_tools().await?.find_tool("greet");
//! # Ok(())
//! # }
//! # #[cfg(not(unix))]
//! # fn main() {}
//! ```

pub use sparring_transport::{ChildError, OpenError, OpenedTarget, Secret, Stderr, stdio};
#[cfg(feature = "containers")]
pub use sparring_transport::{Container, ContainerError};
#[cfg(unix)]
pub use sparring_transport::{Listener, NamedPipes, UnixTarget, connect_unix, listen_unix};

/// HTTP clients and servers.
///
/// ```
/// use sparring::transport::http::HttpTransport;
/// use sparring::{Client, HttpTarget};
/// # use sparring::MockServer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mock = MockServer::from_yaml("tools: [{name: greet, text: hello}]", ".")?;
/// let (_serving, urls) = mock.listen_locally().await?;
/// let target = HttpTarget { transport: HttpTransport::Streamable, ..HttpTarget::new(urls.mcp) };
/// Client::connect(target).await?.list_tools().await?.find_tool("greet");
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "http")]
pub mod http {
    pub use sparring_transport::http::client::InvalidUrl;
    pub use sparring_transport::http::server::{Body, ExtraRoutes, Listener};
    pub use sparring_transport::http::{
        Auth, ExtraRequest, HttpError, HttpServerHandle, HttpTransport, ProtectedResource, Proxies,
        Tls, TlsError, TokenVerifier,
    };
}

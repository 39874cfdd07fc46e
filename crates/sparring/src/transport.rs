//! Links to other processes, and to other machines.
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

pub use sparring_transport::{
    ChildError, ChildLink, ChildTarget, OpenError, Opened, Stderr, Target, stdio,
};
#[cfg(feature = "containers")]
pub use sparring_transport::{Container, ContainerError, ContainerTarget};
#[cfg(unix)]
pub use sparring_transport::{Listener, NamedPipes, UnixTarget, connect_unix, listen_unix};

/// Over HTTP, both halves.
///
/// ```
/// use sparring::transport::http::{HttpTarget, HttpTransport};
/// # use sparring::{Client, MockServer};
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
    pub use sparring_transport::http::client::BadUrl;
    pub use sparring_transport::http::server::{Beside, Body, Listener};
    pub use sparring_transport::http::{
        Auth, Credentials, HttpError, HttpLink, HttpOptions, HttpServer, HttpTarget, HttpTransport,
        ProtectedResource, Proxies, Serving, Tls, TlsError, TokenCheck, Visit,
    };
    #[cfg(feature = "oauth")]
    pub use sparring_transport::http::{Grant, OAuth, Proof, Visitor};
}

//! Serves a mock over HTTP with the settings of its script.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use sparring_transport::Secret;
use sparring_transport::http::{HttpOptions, HttpServer, HttpServerHandle, listen_tcp};

use crate::control::ControlEndpoints;
use crate::mock_issuer::MockIssuer;
use crate::serve::MockHandler;
use crate::server::MockServer;
use crate::upstream::LazyTls;

/// The HTTP settings of a script.
#[derive(Debug)]
pub(crate) struct HttpConfig {
    pub(crate) options: HttpOptions,
    pub(crate) control: ControlAccess,
    /// TLS for requests of replies to HTTP servers.
    pub(crate) tls: LazyTls,
    pub(crate) issuer: MockIssuer,
}

/// Access to the control endpoints.
#[derive(Clone, Default)]
pub(crate) struct ControlAccess {
    /// The required bearer token, if any.
    pub(crate) token: Option<Secret>,
    /// True if other machines may use them.
    pub(crate) anywhere: bool,
}

/// Shows that a token is set, but not the token.
impl fmt::Debug for ControlAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = self.token.is_some();
        f.debug_struct("ControlAccess")
            .field("token", &token)
            .field("anywhere", &self.anywhere)
            .finish()
    }
}

/// The URLs of a mock over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Urls {
    /// Streamable HTTP.
    pub mcp: String,
    /// The HTTP+SSE stream, if it is served.
    pub sse: Option<String>,
}

impl MockServer {
    /// Returns the HTTP server of the mock, with the paths and credentials of the script.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn http(&self) -> HttpServer<MockHandler> {
        self.start_scheduler();
        let mut options = self.initial_http().options.clone();
        options.extra_routes = Some(ControlEndpoints::for_server(self.server()));
        HttpServer::new(self.server().clone(), options)
    }

    /// Serves over HTTP in the background.
    ///
    /// # Errors
    /// If it cannot listen on the address.
    pub async fn listen(&self, address: SocketAddr) -> std::io::Result<HttpServerHandle> {
        let listener = listen_tcp(address)?;
        self.initial_http().issuer.set_address(listener.local_addr()?);
        Ok(self.http().serve(listener))
    }

    /// Serves over HTTP in the background, on a free port that only this machine can reach, and
    /// returns the URLs.
    ///
    /// # Errors
    /// If it cannot listen.
    pub async fn listen_locally(&self) -> std::io::Result<(HttpServerHandle, Urls)> {
        let listener = listen_tcp((Ipv4Addr::LOCALHOST, 0).into())?;
        let address = listener.local_addr()?;
        self.initial_http().issuer.set_address(address);
        Ok((self.http().serve(listener), self.urls(address)))
    }

    /// Returns the URLs at an address.
    pub fn urls(&self, address: SocketAddr) -> Urls {
        let options = &self.initial_http().options;
        let at = |path: &str| format!("http://{address}{path}");
        Urls { mcp: at(&options.path), sse: options.sse_path.as_deref().map(at) }
    }

    /// Returns the token that the control endpoints require, if any.
    pub fn control_token(&self) -> Option<Secret> {
        self.initial_http().control.token.clone()
    }

    fn initial_http(&self) -> &HttpConfig {
        &self.server().handler().initial_http
    }
}

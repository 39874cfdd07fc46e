//! A mock over HTTP: what its script says of that, and how it is served.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};

use sparring_transport::http::{HttpOptions, HttpServer, Serving};
use tokio::net::TcpListener;

use crate::control;
use crate::issuing::Issuing;
use crate::serve::Mock;
use crate::server::MockServer;
use crate::upstream::Trust;

/// What a script says of HTTP.
#[derive(Debug)]
pub(crate) struct OverHttp {
    pub(crate) options: HttpOptions,
    pub(crate) control: Control,
    /// Whom to trust when HTTP servers are asked.
    pub(crate) trust: Trust,
    pub(crate) issuing: Issuing,
}

/// Who may control the mock over HTTP.
#[derive(Clone, Default)]
pub(crate) struct Control {
    /// What they must know, where they must know something.
    pub(crate) token: Option<String>,
    /// Whether also from other machines.
    pub(crate) anywhere: bool,
}

/// Says whether there is a token, never what it is.
impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = self.token.is_some();
        f.debug_struct("Control").field("token", &token).field("anywhere", &self.anywhere).finish()
    }
}

/// Where a mock is over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Urls {
    /// Streamable HTTP.
    pub mcp: String,
    /// The beginning of HTTP+SSE, where it is served.
    pub sse: Option<String>,
}

impl MockServer {
    /// The mock over HTTP, on the paths and for those whom the script names.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn http(&self) -> HttpServer<Mock> {
        self.start();
        let mut options = self.at_first().options.clone();
        options.beside = Some(control::Control::of(self.server()));
        HttpServer::new(self.server().clone(), options)
    }

    /// Serves over HTTP in the background.
    ///
    /// # Errors
    /// When the address cannot be listened on.
    pub async fn listen(&self, address: SocketAddr) -> std::io::Result<Serving> {
        let listener = TcpListener::bind(address).await?;
        self.at_first().issuing.lives_at(listener.local_addr()?);
        Ok(self.http().serve(listener))
    }

    /// Serves over HTTP in the background, on a free port that only this machine
    /// can reach, and says where that is.
    ///
    /// # Errors
    /// When nothing can be listened on.
    pub async fn listen_locally(&self) -> std::io::Result<(Serving, Urls)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        self.at_first().issuing.lives_at(address);
        Ok((self.http().serve(listener), self.urls(address)))
    }

    /// Where it is over HTTP, at an address.
    pub fn urls(&self, address: SocketAddr) -> Urls {
        let options = &self.at_first().options;
        let at = |path: &str| format!("http://{address}{path}");
        Urls { mcp: at(&options.path), sse: options.sse_path.as_deref().map(at) }
    }

    fn at_first(&self) -> &OverHttp {
        &self.server().handler().at_first
    }
}

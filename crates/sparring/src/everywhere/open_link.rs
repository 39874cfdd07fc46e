//! Starts a new server and connects to it over a transport.

use sparring_peer::{LineLink, LinkKind, memory};
use sparring_transport::Target;
#[cfg(unix)]
use sparring_transport::{NamedPipes, UnixTarget};

#[cfg(any(unix, feature = "http"))]
use super::factory::Servable;
use super::factory::ServerFactory;
use super::runner::Everywhere;
use super::transport::Transport;
use crate::connect::{Connect, DUPLEX_BUFFER_BYTES, OpenedLink};
#[cfg(unix)]
use crate::fixture::project::create_temporary_folder;

#[cfg(unix)]
const PIPE_OPEN_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

impl Everywhere {
    /// Starts the server and connects to it.
    pub(super) async fn open(&self, transport: Transport) -> Result<OpenedLink, String> {
        match (transport, &self.command) {
            (Transport::Stdio, Some(command)) => {
                let target = Target::Child(command.clone());
                Connect::open(target).await.map_err(|error| error.to_string())
            }
            _ => {
                let servers = self.servers.as_ref().ok_or("no server in this process")?;
                open_in_process(servers, transport).await
            }
        }
    }
}

async fn open_in_process(
    servers: &ServerFactory,
    transport: Transport,
) -> Result<OpenedLink, String> {
    let server = servers.make();
    let description = format!("{} over {transport}", server.name());
    let opened = match transport {
        Transport::Memory => {
            let (here, there) = memory(LinkKind::Shared);
            OpenedLink::new(here, description).with_keep_alive(server.serve_link(Box::new(there)))
        }
        Transport::Duplex => {
            let (here, there) = tokio::io::duplex(DUPLEX_BUFFER_BYTES);
            let link = LineLink::from_stream(here).with_transport_name("duplex");
            let keep_alive = server.serve_stream(Box::new(there));
            OpenedLink::new(link, description).with_keep_alive(keep_alive)
        }
        #[cfg(unix)]
        Transport::Unix => open_unix_socket(&*server).await.map_err(|error| error.to_string())?,
        #[cfg(unix)]
        Transport::Pipes => {
            open_pipes(&*server, description).await.map_err(|error| error.to_string())?
        }
        #[cfg(feature = "http")]
        Transport::Http | Transport::Sse => open_http(&*server, transport).await?,
        other => return Err(format!("a server in this process cannot be served over {other}")),
    };
    // Dropping a mock stops it.
    let keep_alive = opened.keep_alive;
    Ok(OpenedLink { keep_alive: Some(Box::new((keep_alive, server))), ..opened })
}

/// Serves a Unix socket in a new temporary folder.
#[cfg(unix)]
async fn open_unix_socket(server: &dyn Servable) -> Result<OpenedLink, Box<dyn std::error::Error>> {
    let folder = create_temporary_folder("spar-")?;
    let path = folder.path().join("mcp.sock");
    let listener = tokio::net::UnixListener::bind(&path)?;
    let connecting = Connect::open(UnixTarget::new(&path));
    let (opened, accepted) = tokio::join!(connecting, listener.accept());
    let (stream, _) = accepted?;
    let opened = opened?;
    Ok(opened.with_keep_alive((server.serve_stream(Box::new(stream)), folder)))
}

/// Serves two named pipes in a new temporary folder.
#[cfg(unix)]
async fn open_pipes(server: &dyn Servable, description: String) -> std::io::Result<OpenedLink> {
    let folder = create_temporary_folder("spar-")?;
    let pipes = NamedPipes::from_base(&folder.path().join("mcp"));
    pipes.create()?;
    let (here, there) = tokio::try_join!(
        pipes.open_as_client(PIPE_OPEN_TIMEOUT),
        pipes.open_as_server(PIPE_OPEN_TIMEOUT)
    )?;
    let keep_alive = (server.serve_link(Box::new(there)), folder);
    Ok(OpenedLink::new(here, description).with_keep_alive(keep_alive))
}

/// Serves HTTP on a free port.
#[cfg(feature = "http")]
async fn open_http(server: &dyn Servable, transport: Transport) -> Result<OpenedLink, String> {
    use sparring_transport::http::{HttpTarget, HttpTransport};

    let bound = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await;
    let listener = bound.map_err(|error| format!("cannot listen on 127.0.0.1: {error}"))?;
    let endpoints = server.serve_http(listener)?;
    let (url, http_transport) = match transport {
        Transport::Sse => (endpoints.sse, HttpTransport::Sse),
        _ => (Some(endpoints.mcp), HttpTransport::Streamable),
    };
    let url = url.ok_or("the server has no HTTP+SSE path")?;
    let target = HttpTarget { transport: http_transport, ..HttpTarget::new(url) };
    let opened = Connect::open(target).await.map_err(|error| error.to_string())?;
    Ok(opened.with_keep_alive(endpoints.keep_alive))
}

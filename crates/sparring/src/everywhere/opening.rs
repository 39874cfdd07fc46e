//! From a transport to a link: a fresh server, and the way to it.

use sparring_peer::{Lines, LinkKind, memory};
use sparring_transport::Target;
#[cfg(unix)]
use sparring_transport::{NamedPipes, UnixTarget};

use super::factory::Host;
use super::{Everywhere, Hosts, Transport};
use crate::connect::{Connect, Opened};
#[cfg(unix)]
use crate::fixture::temporary_folder;

/// How many bytes are under way before whoever writes has to wait.
const UNDER_WAY: usize = 64 * 1024;

/// How long the two ends of pipes may take to find each other.
#[cfg(unix)]
const MEETING: std::time::Duration = std::time::Duration::from_secs(10);

impl Everywhere {
    /// Starts the server and reaches it.
    pub(super) async fn open(&self, transport: Transport) -> Result<Opened, String> {
        match (transport, &self.command) {
            (Transport::Stdio, Some(command)) => {
                let target = Target::Child(command.clone());
                Connect::open(target).await.map_err(|error| error.to_string())
            }
            _ => {
                let hosts = self.hosts.as_ref().ok_or("there is no server in this process")?;
                open(hosts, transport).await
            }
        }
    }
}

async fn open(hosts: &Hosts, transport: Transport) -> Result<Opened, String> {
    let host = hosts.make();
    let named = format!("{} over {transport}", host.name());
    let opened = match transport {
        Transport::Memory => {
            let (here, there) = memory(LinkKind::Shared);
            Opened::of(here, named).keeping(host.on_link(Box::new(there)))
        }
        Transport::Duplex => {
            let (here, there) = tokio::io::duplex(UNDER_WAY);
            let link = Lines::over(here).named("duplex");
            Opened::of(link, named).keeping(host.on_stream(Box::new(there)))
        }
        #[cfg(unix)]
        Transport::Unix => on_socket(&*host).await.map_err(|error| error.to_string())?,
        #[cfg(unix)]
        Transport::Pipes => on_pipes(&*host, named).await.map_err(|error| error.to_string())?,
        #[cfg(feature = "http")]
        Transport::Http | Transport::Sse => over_http(&*host, transport).await?,
        other => return Err(format!("a server in this process cannot be reached over {other}")),
    };
    // A mock stops when it is dropped.
    let kept = opened.kept;
    Ok(Opened { kept: Some(Box::new((kept, host))), ..opened })
}

/// A socket in a folder of its own.
#[cfg(unix)]
async fn on_socket(host: &dyn Host) -> Result<Opened, Box<dyn std::error::Error>> {
    let folder = temporary_folder("spar-")?;
    let path = folder.path().join("mcp.sock");
    let listener = tokio::net::UnixListener::bind(&path)?;
    let connecting = Connect::open(UnixTarget::new(&path));
    let (opened, accepted) = tokio::join!(connecting, listener.accept());
    let (stream, _) = accepted?;
    let opened = opened?;
    Ok(opened.keeping((host.on_stream(Box::new(stream)), folder)))
}

/// Two pipes in a folder of their own.
#[cfg(unix)]
async fn on_pipes(host: &dyn Host, named: String) -> std::io::Result<Opened> {
    let folder = temporary_folder("spar-")?;
    let pipes = NamedPipes::at(&folder.path().join("mcp"));
    pipes.create()?;
    let (here, there) =
        tokio::try_join!(pipes.open_as_client(MEETING), pipes.open_as_server(MEETING))?;
    Ok(Opened::of(here, named).keeping((host.on_link(Box::new(there)), folder)))
}

/// A port that nobody else has.
#[cfg(feature = "http")]
async fn over_http(host: &dyn Host, transport: Transport) -> Result<Opened, String> {
    use sparring_transport::http::{HttpTarget, HttpTransport};

    let bound = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await;
    let listener = bound.map_err(|error| format!("no port to listen on: {error}"))?;
    let served = host.on_port(listener)?;
    let (url, way) = match transport {
        Transport::Sse => (served.sse, HttpTransport::Sse),
        _ => (Some(served.mcp), HttpTransport::Streamable),
    };
    let url = url.ok_or("the server has no path for HTTP+SSE")?;
    let target = HttpTarget { transport: way, ..HttpTarget::new(url) };
    let opened = Connect::open(target).await.map_err(|error| error.to_string())?;
    Ok(opened.keeping(served.kept))
}

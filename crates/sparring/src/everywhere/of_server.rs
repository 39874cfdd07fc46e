//! A server of our own, or a handler, on whatever there is.

use sparring_peer::{Handler, Lines, Link, Server};
use sparring_wire::Revision;

use super::Transport;
#[cfg(feature = "http")]
use super::factory::OnPort;
use super::factory::{Bytes, Factory, Host, Hosts};
use crate::connect::{Kept, kind};

impl<F, H> Factory<kind::OfServer> for F
where
    F: Fn() -> Server<H> + Send + Sync + 'static,
    H: Handler,
{
    fn hosts(self) -> Hosts {
        Hosts::of(self)
    }
}

impl<F, H> Factory<kind::OfHandler> for F
where
    F: Fn() -> H + Send + Sync + 'static,
    H: Handler,
{
    fn hosts(self) -> Hosts {
        Hosts::of(move || Server::new(self()))
    }
}

/// What any server of our own can be put on.
pub(super) fn transports() -> Vec<Transport> {
    let mut all = vec![Transport::Memory, Transport::Duplex];
    if cfg!(unix) {
        all.extend([Transport::Unix, Transport::Pipes]);
    }
    if cfg!(feature = "http") {
        all.extend([Transport::Http, Transport::Sse]);
    }
    all
}

impl<H: Handler> Host for Server<H> {
    fn name(&self) -> &'static str {
        "a server"
    }

    fn revisions(&self) -> Vec<Revision> {
        Server::revisions(self).to_vec()
    }

    fn transports(&self) -> Vec<Transport> {
        transports()
    }

    fn on_link(&self, link: Box<dyn Link>) -> Kept {
        Box::new(self.spawn(link))
    }

    fn on_stream(&self, stream: Box<dyn Bytes>) -> Kept {
        Box::new(self.spawn(Lines::over(stream)))
    }

    #[cfg(feature = "http")]
    fn on_port(&self, listener: tokio::net::TcpListener) -> Result<OnPort, String> {
        use sparring_transport::http::{HttpOptions, HttpServer};

        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let options = HttpOptions::default();
        let at = |path: &str| format!("http://{address}{path}");
        let (mcp, sse) = (at(&options.path), options.sse_path.as_deref().map(at));
        let kept = Box::new(HttpServer::new(self.clone(), options).serve(listener));
        Ok(OnPort { mcp, sse, kept })
    }
}

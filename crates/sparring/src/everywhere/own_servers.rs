//! Serves a [`Server`], a [`Handler`] or a `MockServer` over every transport.

#[cfg(feature = "mock")]
use sparring_mock::MockServer;
use sparring_peer::{Handler, LineLink, Link, Server};
use sparring_wire::Revision;

#[cfg(feature = "http")]
use super::factory::HttpEndpoints;
use super::factory::{ByteStream, Factory, Servable, ServerFactory};
use super::transport::Transport;
use crate::connect::{KeepAlive, kind};

impl<F, H> Factory<kind::Server> for F
where
    F: Fn() -> Server<H> + Send + Sync + 'static,
    H: Handler,
{
    fn into_server_factory(self) -> ServerFactory {
        ServerFactory::new(self)
    }
}

impl<F, H> Factory<kind::Handler> for F
where
    F: Fn() -> H + Send + Sync + 'static,
    H: Handler,
{
    fn into_server_factory(self) -> ServerFactory {
        ServerFactory::new(move || Server::new(self()))
    }
}

#[cfg(feature = "mock")]
impl<F> Factory<kind::Mock> for F
where
    F: Fn() -> MockServer + Send + Sync + 'static,
{
    fn into_server_factory(self) -> ServerFactory {
        ServerFactory::new(self)
    }
}

/// Returns all transports but stdio, which needs a command.
fn in_process_transports() -> Vec<Transport> {
    let mut all = vec![Transport::Memory, Transport::Duplex];
    if cfg!(unix) {
        all.extend([Transport::Unix, Transport::Pipes]);
    }
    if cfg!(feature = "http") {
        all.extend([Transport::Http, Transport::Sse]);
    }
    all
}

impl<H: Handler> Servable for Server<H> {
    fn name(&self) -> &'static str {
        "a server"
    }

    fn revisions(&self) -> Vec<Revision> {
        Server::revisions(self).to_vec()
    }

    fn transports(&self) -> Vec<Transport> {
        in_process_transports()
    }

    fn serve_link(&self, link: Box<dyn Link>) -> KeepAlive {
        Box::new(self.spawn(link))
    }

    fn serve_stream(&self, stream: Box<dyn ByteStream>) -> KeepAlive {
        Box::new(self.spawn(LineLink::from_stream(stream)))
    }

    #[cfg(feature = "http")]
    fn serve_http(&self, listener: tokio::net::TcpListener) -> Result<HttpEndpoints, String> {
        use sparring_transport::http::{HttpOptions, HttpServer};

        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let options = HttpOptions::default();
        let to_url = |path: &str| format!("http://{address}{path}");
        let (mcp, sse) = (to_url(&options.path), options.sse_path.as_deref().map(to_url));
        let keep_alive = Box::new(HttpServer::new(self.clone(), options).serve(listener));
        Ok(HttpEndpoints { mcp, sse, keep_alive })
    }
}

#[cfg(feature = "mock")]
impl Servable for MockServer {
    fn name(&self) -> &'static str {
        "a mock"
    }

    fn revisions(&self) -> Vec<Revision> {
        self.server().revisions().to_vec()
    }

    fn transports(&self) -> Vec<Transport> {
        in_process_transports()
    }

    fn serve_link(&self, link: Box<dyn Link>) -> KeepAlive {
        Box::new(self.spawn(link))
    }

    fn serve_stream(&self, stream: Box<dyn ByteStream>) -> KeepAlive {
        Box::new(self.spawn(LineLink::from_stream(stream)))
    }

    #[cfg(feature = "http")]
    fn serve_http(&self, listener: tokio::net::TcpListener) -> Result<HttpEndpoints, String> {
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let urls = self.urls(address);
        let keep_alive = Box::new(self.http().serve(listener));
        Ok(HttpEndpoints { mcp: urls.mcp, sse: urls.sse, keep_alive })
    }
}

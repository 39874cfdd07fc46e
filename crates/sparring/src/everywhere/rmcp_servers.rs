//! Serves an rmcp service over the transports of the official SDK: byte streams, and
//! the SDK's own Streamable HTTP.

use std::sync::Arc;

use rmcp::ServerHandler;
use sparring_peer::Link;
use sparring_wire::Revision;
use tokio::task::JoinHandle;

#[cfg(feature = "http")]
use super::factory::HttpEndpoints;
use super::factory::{ByteStream, Factory, Servable, ServerFactory};
use super::transport::Transport;
use crate::connect::{KeepAlive, kind, rmcp_service};

impl<F, S> Factory<kind::Rmcp> for F
where
    F: Fn() -> S + Send + Sync + 'static,
    S: ServerHandler,
{
    fn into_server_factory(self) -> ServerFactory {
        let make = Arc::new(self);
        ServerFactory::new(move || RmcpFactory(Arc::clone(&make)))
    }
}

/// Makes services. Over HTTP the SDK makes one for each session.
struct RmcpFactory<F>(Arc<F>);

/// Aborts a background task when it is dropped.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<F, S> Servable for RmcpFactory<F>
where
    F: Fn() -> S + Send + Sync + 'static,
    S: ServerHandler,
{
    fn name(&self) -> &'static str {
        "an rmcp service"
    }

    fn revisions(&self) -> Vec<Revision> {
        let versions = (self.0)().supported_protocol_versions();
        versions.iter().filter_map(|version| Revision::from_name(version.as_str())).collect()
    }

    fn transports(&self) -> Vec<Transport> {
        let mut all = vec![Transport::Duplex];
        if cfg!(unix) {
            all.push(Transport::Unix);
        }
        if cfg!(feature = "http") {
            all.push(Transport::Http);
        }
        all
    }

    fn serve_link(&self, _: Box<dyn Link>) -> KeepAlive {
        unreachable!("links are not among its transports")
    }

    fn serve_stream(&self, stream: Box<dyn ByteStream>) -> KeepAlive {
        Box::new(AbortOnDrop(rmcp_service::serve((self.0)(), stream)))
    }

    #[cfg(feature = "http")]
    fn serve_http(&self, listener: tokio::net::TcpListener) -> Result<HttpEndpoints, String> {
        serve_http(Arc::clone(&self.0), listener)
    }
}

/// Serves the SDK's Streamable HTTP on every path; the returned URL is `/mcp`.
#[cfg(feature = "http")]
fn serve_http<F, S>(
    make: Arc<F>,
    listener: tokio::net::TcpListener,
) -> Result<HttpEndpoints, String>
where
    F: Fn() -> S + Send + Sync + 'static,
    S: ServerHandler,
{
    use hyper::server::conn::http1;
    use hyper_util::rt::{TokioIo, TokioTimer};
    use hyper_util::service::TowerToHyperService;
    use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
    use rmcp::transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService,
    };

    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(move || Ok(make()), sessions, config);
    let listening = tokio::spawn(async move {
        let mut connections = tokio::task::JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(service.clone());
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new());
            let connection = http.serve_connection(TokioIo::new(stream), service);
            connections.spawn(async { drop(connection.await) });
            while connections.try_join_next().is_some() {}
        }
    });
    let keep_alive = Box::new(AbortOnDrop(listening));
    Ok(HttpEndpoints { mcp: format!("http://{address}/mcp"), sse: None, keep_alive })
}

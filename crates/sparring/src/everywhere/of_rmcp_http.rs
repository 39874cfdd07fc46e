//! The SDK's own Streamable HTTP on a port, as a server of the SDK would be
//! deployed.

use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use super::factory::OnPort;

/// A server in the background, which ends when this is dropped.
struct Listening(JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Serves on every path; `/mcp` is the one that is told.
pub(super) fn serve<F, S>(make: Arc<F>, listener: TcpListener) -> Result<OnPort, String>
where
    F: Fn() -> S + Send + Sync + 'static,
    S: ServerHandler,
{
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    let sessions = Arc::new(LocalSessionManager::default());
    let config = StreamableHttpServerConfig::default();
    let service = StreamableHttpService::new(move || Ok(make()), sessions, config);
    let listening = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(service.clone());
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new());
            let connection = http.serve_connection(TokioIo::new(stream), service);
            connections.spawn(async { drop(connection.await) });
            while connections.try_join_next().is_some() {}
        }
    });
    let kept = Box::new(Listening(listening));
    Ok(OnPort { mcp: format!("http://{address}/mcp"), sse: None, kept })
}

//! A service of the official SDK on what the SDK can be put on: streams of
//! bytes, and its own Streamable HTTP.

use std::sync::Arc;

use rmcp::ServerHandler;
use sparring_peer::Link;
use sparring_wire::Revision;
use tokio::task::JoinHandle;

use super::Transport;
#[cfg(feature = "http")]
use super::factory::OnPort;
use super::factory::{Bytes, Factory, Host, Hosts};
use crate::connect::{Kept, kind, of_rmcp};

impl<F, S> Factory<kind::OfRmcp> for F
where
    F: Fn() -> S + Send + Sync + 'static,
    S: ServerHandler,
{
    fn hosts(self) -> Hosts {
        let make = Arc::new(self);
        Hosts::of(move || Services(Arc::clone(&make)))
    }
}

/// Over HTTP the SDK makes a service for each session, so this is what makes
/// them.
struct Services<F>(Arc<F>);

/// A service in the background, which ends when this is dropped.
struct Running(JoinHandle<Result<(), String>>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<F, S> Host for Services<F>
where
    F: Fn() -> S + Send + Sync + 'static,
    S: ServerHandler,
{
    fn name(&self) -> &'static str {
        "an rmcp service"
    }

    fn revisions(&self) -> Vec<Revision> {
        let spoken = (self.0)().supported_protocol_versions();
        spoken.iter().filter_map(|version| Revision::from_name(version.as_str())).collect()
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

    fn on_link(&self, _: Box<dyn Link>) -> Kept {
        unreachable!("links are not among its transports")
    }

    fn on_stream(&self, stream: Box<dyn Bytes>) -> Kept {
        Box::new(Running(of_rmcp::serve((self.0)(), stream)))
    }

    #[cfg(feature = "http")]
    fn on_port(&self, listener: tokio::net::TcpListener) -> Result<OnPort, String> {
        super::of_rmcp_http::serve(Arc::clone(&self.0), listener)
    }
}

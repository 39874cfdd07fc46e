//! Opens links to servers: by the configured target, or by a replacement in
//! tests.

use std::future::Future;
use std::pin::Pin;

use sparring_transport::{OpenError, OpenedTarget};

use crate::config::ServerConfig;

/// The future of a link that is being opened.
pub type OpenFuture<'a> =
    Pin<Box<dyn Future<Output = Result<OpenedTarget, OpenError>> + Send + 'a>>;

/// Opens links to servers.
pub trait Connector: Send + Sync + 'static {
    /// Opens a link to this server. Dropping the future leaves nothing behind.
    fn open<'a>(&'a self, server: &'a ServerConfig) -> OpenFuture<'a>;
}

/// Starts or connects to the target of the server's entry.
#[derive(Debug, Clone, Copy, Default)]
pub struct TargetConnector;

impl Connector for TargetConnector {
    fn open<'a>(&'a self, server: &'a ServerConfig) -> OpenFuture<'a> {
        Box::pin(server.target.open())
    }
}

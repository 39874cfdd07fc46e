//! How a server's link is opened: by its target, or by whatever a test puts in
//! that place.

use std::future::Future;
use std::pin::Pin;

use sparring_transport::{OpenError, Opened};

use crate::config::ServerConfig;

/// A link that is being opened.
pub type Opening<'a> = Pin<Box<dyn Future<Output = Result<Opened, OpenError>> + Send + 'a>>;

/// Opens links to servers.
pub trait Connector: Send + Sync + 'static {
    /// Opens a link to this server. Dropped before its end, nothing is left of
    /// it.
    fn open<'a>(&'a self, server: &'a ServerConfig) -> Opening<'a>;
}

/// Starts or connects to what the entry says.
#[derive(Debug, Clone, Copy, Default)]
pub struct ToTarget;

impl Connector for ToTarget {
    fn open<'a>(&'a self, server: &'a ServerConfig) -> Opening<'a> {
        Box::pin(server.target.open())
    }
}

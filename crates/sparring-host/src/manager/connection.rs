//! A connected server: its identity, its lists, and requests to it.

use std::sync::Arc;
use std::time::Duration;

use sparring_peer::client::RequestBuilder;
use sparring_peer::{Cause, Client};
use sparring_transport::Stderr;
use sparring_wire::types::{
    Implementation, Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool,
};
use sparring_wire::{RawJson, Revision};
use tokio::sync::watch;
use tokio::time::Instant;

use super::lists::{List, Lists};
use super::server::ConfigEntry;
use crate::config::ServerConfig;
use crate::permissions::Fingerprint;

/// A connection to a server. Cheap to clone. It ends when the server is lost or
/// disconnected, even while clones exist; a reconnect makes a new connection.
#[derive(Clone)]
pub struct Connection(Arc<ConnectionInner>);

pub(super) struct ConnectionInner {
    pub(super) server: Arc<str>,
    /// Unique among all connections of the manager.
    pub(super) number: u64,
    pub(super) client: Client,
    pub(super) stderr: Option<Stderr>,
    pub(super) config: watch::Receiver<ConfigEntry>,
    pub(super) lists: watch::Receiver<Lists>,
    pub(super) since: Instant,
}

impl Connection {
    pub(super) fn new(inner: ConnectionInner) -> Connection {
        Connection(Arc::new(inner))
    }

    /// The server's name in its configuration file.
    pub fn server(&self) -> &Arc<str> {
        &self.0.server
    }

    /// The connection's number, unique among all connections of the manager.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// The server's current configuration entry.
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0.config.borrow().config)
    }

    /// Returns true if the server has this fingerprint.
    pub(crate) fn has_fingerprint(&self, fingerprint: &Fingerprint) -> bool {
        self.0.config.borrow().fingerprint == *fingerprint
    }

    /// When the connection was established.
    pub fn since(&self) -> Instant {
        self.0.since
    }

    /// The server's self-reported name and version.
    pub fn info(&self) -> Option<&Implementation> {
        self.0.client.session().and_then(|session| session.server_info.as_ref())
    }

    /// The server's usage instructions.
    pub fn instructions(&self) -> Option<&str> {
        self.0.client.session().and_then(|session| session.instructions.as_deref())
    }

    /// The negotiated revision.
    pub fn revision(&self) -> Option<Revision> {
        self.0.client.revision()
    }

    /// Returns true if the server uses a revision without a handshake.
    pub fn is_modern(&self) -> bool {
        self.revision().is_some_and(Revision::is_modern)
    }

    /// The capabilities that the server declared.
    pub fn capabilities(&self) -> ServerCapabilities {
        self.0.client.capabilities()
    }

    /// All lists of the server, as of now.
    pub fn lists(&self) -> Lists {
        self.0.lists.borrow().clone()
    }

    /// The server's tools, as of now.
    pub fn tools(&self) -> List<Tool> {
        self.0.lists.borrow().tools.clone()
    }

    /// The server's resources, as of now.
    pub fn resources(&self) -> List<Resource> {
        self.0.lists.borrow().resources.clone()
    }

    /// The server's resource templates, as of now.
    pub fn templates(&self) -> List<ResourceTemplate> {
        self.0.lists.borrow().templates.clone()
    }

    /// The server's prompts, as of now.
    pub fn prompts(&self) -> List<Prompt> {
        self.0.lists.borrow().prompts.clone()
    }

    /// Calls a tool by the server's name for it. The call is never repeated: if
    /// the server is lost, it fails with the reason.
    pub fn call_tool(&self, name: &str, arguments: impl Into<RawJson>) -> RequestBuilder {
        self.0.client.call_tool(name, arguments).timeout(self.timeout())
    }

    /// Makes any request, with the timeout of the server's entry.
    pub fn request(&self, method: &'static str, params: RawJson) -> RequestBuilder {
        self.0.client.request(method, Some(params)).timeout(self.timeout())
    }

    /// The client, for everything else. Its requests have the timeout of the
    /// server's entry.
    pub fn client(&self) -> Client {
        self.0.client.with_timeout(self.timeout())
    }

    fn timeout(&self) -> Duration {
        self.0.config.borrow().timeout
    }

    /// The end of the server's stderr; empty if it has none.
    pub fn stderr(&self) -> String {
        self.0.stderr.as_ref().map(Stderr::tail).unwrap_or_default()
    }

    /// The number of skipped lines that are not frames.
    pub fn skipped_lines(&self) -> u64 {
        self.0.client.unclaimed().count("noise")
    }

    /// The number of protocol violations, by either side.
    pub fn violations(&self) -> usize {
        self.0.client.transcript().violations().len()
    }

    /// Returns true if the connection is still open.
    pub fn is_connected(&self) -> bool {
        self.0.client.is_connected()
    }

    /// Waits until the connection is closed, and returns the cause.
    pub async fn closed(&self) -> Cause {
        self.0.client.closed().await
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("server", &self.0.server)
            .field("number", &self.0.number)
            .finish_non_exhaustive()
    }
}

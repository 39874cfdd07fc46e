//! A server that is connected: who it is, what it has, and calls to it.

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

use super::entry::Entry;
use super::lists::{List, Lists};
use crate::config::ServerConfig;
use crate::permissions::Fingerprint;

/// A connection to a server. Cheap to clone. It is over when the server is lost
/// or disconnected, whoever still holds it; the next one is another connection.
#[derive(Clone)]
pub struct Connection(Arc<Live>);

pub(super) struct Live {
    pub(super) server: Arc<str>,
    /// Which connection of all that the manager has made.
    pub(super) number: u64,
    pub(super) client: Client,
    pub(super) stderr: Option<Stderr>,
    pub(super) config: watch::Receiver<Entry>,
    pub(super) lists: watch::Receiver<Lists>,
    pub(super) since: Instant,
}

impl Connection {
    pub(super) fn new(live: Live) -> Connection {
        Connection(Arc::new(live))
    }

    /// What the server is called in its file.
    pub fn server(&self) -> &Arc<str> {
        &self.0.server
    }

    /// Which connection it is of all that the manager has made: no two have the
    /// same.
    pub fn number(&self) -> u64 {
        self.0.number
    }

    /// The entry of the server, as it is in force now.
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0.config.borrow().config)
    }

    /// Whether the server is what this is the fingerprint of.
    pub(crate) fn is_known_by(&self, fingerprint: &Fingerprint) -> bool {
        self.0.config.borrow().fingerprint == *fingerprint
    }

    /// Since when it stands.
    pub fn since(&self) -> Instant {
        self.0.since
    }

    /// Who the server says it is.
    pub fn info(&self) -> Option<&Implementation> {
        self.0.client.session().and_then(|session| session.server_info.as_ref())
    }

    /// What the server says about its use.
    pub fn instructions(&self) -> Option<&str> {
        self.0.client.session().and_then(|session| session.instructions.as_deref())
    }

    /// The revision in use.
    pub fn revision(&self) -> Option<Revision> {
        self.0.client.revision()
    }

    /// What the server says it can do.
    pub fn capabilities(&self) -> ServerCapabilities {
        self.0.client.capabilities()
    }

    /// All that it lists, as it is now.
    pub fn lists(&self) -> Lists {
        self.0.lists.borrow().clone()
    }

    /// Its tools, as they are now.
    pub fn tools(&self) -> List<Tool> {
        self.0.lists.borrow().tools.clone()
    }

    /// Its resources, as they are now.
    pub fn resources(&self) -> List<Resource> {
        self.0.lists.borrow().resources.clone()
    }

    /// Its resource templates, as they are now.
    pub fn templates(&self) -> List<ResourceTemplate> {
        self.0.lists.borrow().templates.clone()
    }

    /// Its prompts, as they are now.
    pub fn prompts(&self) -> List<Prompt> {
        self.0.lists.borrow().prompts.clone()
    }

    /// Calls a tool by the server's own name for it. Nothing makes the call
    /// again: if the server is lost meanwhile, it fails with the reason.
    pub fn call_tool(&self, name: &str, arguments: impl Into<RawJson>) -> RequestBuilder {
        self.0.client.call_tool(name, arguments).timeout(self.timeout())
    }

    /// Makes any request, which may take as long as the server's entry says.
    pub fn request(&self, method: &'static str, params: RawJson) -> RequestBuilder {
        self.0.client.request(method, Some(params)).timeout(self.timeout())
    }

    /// The client, for everything else. Its requests may take as long as the
    /// server's entry says.
    pub fn client(&self) -> Client {
        self.0.client.with_timeout(self.timeout())
    }

    fn timeout(&self) -> Duration {
        self.0.config.borrow().timeout
    }

    /// The end of what the server wrote to its stderr; empty where it has none.
    pub fn stderr(&self) -> String {
        self.0.stderr.as_ref().map(Stderr::tail).unwrap_or_default()
    }

    /// How many lines came that are no frames, and were skipped.
    pub fn noise(&self) -> u64 {
        self.0.client.unclaimed().count("noise")
    }

    /// How often the server, or this side, broke the protocol.
    pub fn violations(&self) -> usize {
        self.0.client.transcript().violations().len()
    }

    /// Whether it still stands.
    pub fn is_connected(&self) -> bool {
        self.0.client.is_connected()
    }

    /// Waits until it is over, and says why.
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

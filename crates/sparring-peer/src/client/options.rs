//! The options of a client, as plain data.

use std::time::Duration;

use serde_json::{Map, Value};
use sparring_wire::Revision;
use sparring_wire::types::Implementation;

/// The options of a client.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientOptions {
    /// The name and version that the client declares.
    pub info: Implementation,
    /// The capabilities that the client declares, as JSON.
    pub capabilities: Map<String, Value>,
    /// The revision to use.
    pub protocol: Protocol,
    /// The timeout of connecting as a whole, and of each request after that.
    pub timeout: Duration,
    /// How long the client waits for the right response after noise or a foreign
    /// response, before it fails the requests in flight.
    pub grace: Duration,
    /// The number of times that a server may answer one request with
    /// `input_required`.
    pub max_rounds: u32,
    /// The maximum number of pages of one list.
    pub max_pages: usize,
    /// The maximum number of items of one list.
    pub max_items: usize,
    /// The maximum number of bytes in the transcript.
    pub transcript_bytes: usize,
    /// Whether frames are recorded in the transcript and checked. Calls are
    /// faster without, and the traffic cannot be inspected later.
    pub recorded: bool,
    /// Whether the timeout of a request is paused while the client answers a
    /// server request that it caused. Where the link does not tell which request
    /// that is, the timeouts of all requests in flight are paused.
    pub patient: bool,
}

impl Default for ClientOptions {
    fn default() -> Self {
        ClientOptions {
            info: Implementation::new("sparring", env!("CARGO_PKG_VERSION")),
            capabilities: Map::new(),
            protocol: Protocol::Auto,
            timeout: Duration::from_secs(30),
            grace: Duration::from_secs(1),
            max_rounds: 16,
            max_pages: 1_000,
            max_items: 100_000,
            transcript_bytes: sparring_wire::Transcript::DEFAULT_BYTES,
            recorded: true,
            patient: false,
        }
    }
}

impl ClientOptions {
    /// Returns the revisions that this client can use, the newest first.
    pub(super) fn revisions(&self) -> Vec<Revision> {
        match self.protocol {
            Protocol::Auto => Revision::ALL.into_iter().rev().collect(),
            Protocol::Only(revision) => vec![revision],
            Protocol::Raw => Vec::new(),
        }
    }
}

/// The revision that a client uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// The newest revision that the server has, detected as the specification
    /// says.
    #[default]
    Auto,
    /// Only this revision.
    Only(Revision),
    /// No lifecycle: the client sends only what the caller sends, unchanged.
    Raw,
}

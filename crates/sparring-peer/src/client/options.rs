//! The options of a client, as plain data.

use std::time::Duration;

use serde_json::{Map, Value};
use sparring_wire::types::Implementation;
use sparring_wire::{Revision, Side};

/// The options of a client.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientOptions {
    /// The name and version that the client declares.
    pub info: Implementation,
    /// The capabilities that the client declares, as JSON.
    pub capabilities: Map<String, Value>,
    /// The capabilities that the client declares only in revisions that have them,
    /// as JSON. [`ClientOptions::capabilities`] takes precedence.
    pub optional_capabilities: Map<String, Value>,
    /// The revision to use.
    pub protocol: Protocol,
    /// The revision whose metadata and headers the requests of [`Protocol::Raw`] get.
    pub raw_revision: Option<Revision>,
    /// The timeout of connecting as a whole, and of each request after that.
    pub timeout: Duration,
    /// The maximum wait for the right response after noise or a foreign
    /// response. After that, the client fails the requests in flight.
    pub grace_period: Duration,
    /// The number of times that a server may answer one request with
    /// `input_required`.
    pub max_rounds: u32,
    /// The maximum number of pages of one list.
    pub max_pages: usize,
    /// The maximum number of items of one list.
    pub max_items: usize,
    /// The maximum size of all pages of a list, in bytes.
    pub max_list_bytes: usize,
    /// The maximum number of bytes in the transcript.
    pub max_transcript_bytes: usize,
    /// True if frames are recorded in the transcript and checked. Without it
    /// calls are faster, but the traffic cannot be inspected later.
    pub record: bool,
    /// True if the timeout of a request is paused while the client answers a
    /// server request that it caused. On a link that cannot identify the cause,
    /// the timeouts of all requests in flight are paused.
    pub pause_timeouts_while_answering: bool,
}

impl Default for ClientOptions {
    fn default() -> Self {
        ClientOptions {
            info: Implementation::new("sparring", env!("CARGO_PKG_VERSION")),
            capabilities: Map::new(),
            optional_capabilities: Map::new(),
            protocol: Protocol::Auto,
            raw_revision: None,
            timeout: Duration::from_secs(30),
            grace_period: Duration::from_secs(1),
            max_rounds: 16,
            max_pages: 1_000,
            max_items: 100_000,
            max_list_bytes: 64 * 1024 * 1024,
            max_transcript_bytes: sparring_wire::Transcript::DEFAULT_BYTES,
            record: true,
            pause_timeouts_while_answering: false,
        }
    }
}

impl ClientOptions {
    /// Returns the capabilities that the client declares in this revision.
    pub(super) fn capabilities_in(&self, revision: Revision) -> Map<String, Value> {
        let known = revision.definition().capabilities(Side::Client);
        let optional = self.optional_capabilities.iter();
        let optional = optional.filter(|(name, _)| known.contains(&name.as_str()));
        let all = optional.chain(&self.capabilities);
        all.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

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
    /// requires.
    #[default]
    Auto,
    /// Only this revision.
    Only(Revision),
    /// No lifecycle: the client sends only the caller's messages, unchanged.
    Raw,
}

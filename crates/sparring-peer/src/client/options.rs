//! What a client is told before it connects: plain data.

use std::time::Duration;

use serde_json::{Map, Value};
use sparring_wire::Revision;
use sparring_wire::types::Implementation;

/// How a client behaves.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientOptions {
    /// Who the client says it is.
    pub info: Implementation,
    /// What the client says it can do, as it stands on the wire.
    pub capabilities: Map<String, Value>,
    /// Which revision to speak.
    pub protocol: Protocol,
    /// How long connecting may take as a whole, and then each request.
    pub timeout: Duration,
    /// How long a stray line or a foreign reply may be followed by the right
    /// one before the requests in flight are given up.
    pub grace: Duration,
    /// How often one request may be answered with a wish for input.
    pub max_rounds: u32,
    /// The most pages of one list.
    pub max_pages: usize,
    /// The most items of one list.
    pub max_items: usize,
    /// How many bytes the transcript keeps.
    pub transcript_bytes: usize,
    /// Whether what passes is recorded in the transcript, and judged. Without,
    /// calls are faster, and nobody can say later what was said.
    pub recorded: bool,
    /// Whether the time of a request stands still while this side is being asked
    /// for it. Not every link says which request that is; then it is all that are
    /// in flight.
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

/// Which revision a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Protocol {
    /// The newest that the server has, found out as the specification says.
    #[default]
    Auto,
    /// This one, or none.
    Only(Revision),
    /// No lifecycle at all: nothing is sent that the caller does not send, and
    /// nothing is added to it.
    Raw,
}

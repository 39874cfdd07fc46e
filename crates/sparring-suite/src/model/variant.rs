//! In which revision and over which transport a test is run.

use std::fmt;

use sparring_wire::Revision;

/// One way to run a test; what is not said is left to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Variant {
    /// The revision of the protocol; the newest that both sides have where
    /// nothing is said.
    pub protocol: Option<Revision>,
    /// How a mock is served; in memory where nothing is said.
    pub transport: Option<Transport>,
}

/// How a mock is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// In this process, without a byte on any wire.
    Memory,
    /// As a child, over its stdin and stdout.
    Stdio,
    /// Over Streamable HTTP.
    Http,
    /// Over HTTP+SSE.
    Sse,
}

impl Transport {
    /// All there are.
    pub const ALL: [Transport; 4] =
        [Transport::Memory, Transport::Stdio, Transport::Http, Transport::Sse];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Memory => "memory",
            Transport::Stdio => "stdio",
            Transport::Http => "http",
            Transport::Sse => "sse",
        }
    }

    /// The one of that name.
    pub fn from_name(name: &str) -> Option<Transport> {
        Transport::ALL.into_iter().find(|transport| transport.name() == name)
    }
}

impl Variant {
    /// Whether there is such a thing: 2026-07-28 has no HTTP+SSE.
    pub(crate) fn exists(self) -> bool {
        let modern = self.protocol.is_some_and(Revision::is_modern);
        !(modern && self.transport == Some(Transport::Sse))
    }
}

/// As ` [2025-11-25, http]`; nothing where nothing is said.
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = self.protocol.map(Revision::name);
        let transport = self.transport.map(Transport::name);
        let said: Vec<&str> = protocol.into_iter().chain(transport).collect();
        match said.is_empty() {
            true => Ok(()),
            false => write!(f, " [{}]", said.join(", ")),
        }
    }
}

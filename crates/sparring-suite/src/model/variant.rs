//! The revision and the transport in which a test runs.

use std::fmt;

use sparring_wire::Revision;

/// A revision and a transport in which tests run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Variant {
    /// The revision (default: the newest that both sides support).
    pub protocol: Option<Revision>,
    /// The transport of a mock (default: in memory).
    pub transport: Option<Transport>,
}

/// The transport of a mock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// In this process.
    Memory,
    /// A child process over its stdin and stdout.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE.
    Sse,
}

impl Transport {
    /// All transports.
    pub const ALL: [Transport; 4] =
        [Transport::Memory, Transport::Stdio, Transport::Http, Transport::Sse];

    /// Its name in suites.
    pub fn name(self) -> &'static str {
        match self {
            Transport::Memory => "memory",
            Transport::Stdio => "stdio",
            Transport::Http => "http",
            Transport::Sse => "sse",
        }
    }

    /// The transport of a name.
    pub fn from_name(name: &str) -> Option<Transport> {
        Transport::ALL.into_iter().find(|transport| transport.name() == name)
    }
}

impl Variant {
    /// Returns true if the combination exists: 2026-07-28 has no HTTP+SSE.
    pub(crate) fn exists(self) -> bool {
        let modern = self.protocol.is_some_and(Revision::is_modern);
        !(modern && self.transport == Some(Transport::Sse))
    }
}

/// Prints ` [2025-11-25, http]`, or nothing if both are defaults.
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = self.protocol.map(Revision::name);
        let transport = self.transport.map(Transport::name);
        let parts: Vec<&str> = protocol.into_iter().chain(transport).collect();
        match parts.is_empty() {
            true => Ok(()),
            false => write!(f, " [{}]", parts.join(", ")),
        }
    }
}

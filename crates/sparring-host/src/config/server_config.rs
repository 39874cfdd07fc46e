//! A configured server with all values resolved.

use std::path::PathBuf;
use std::time::Duration;

use sparring_peer::Protocol;
use sparring_transport::Target;

/// A server that can be connected. Expanded values may be secrets, in arguments
/// of a command too, so the `Debug` output omits the target.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// The server's name in its configuration file.
    pub name: String,
    /// The position of its entry.
    pub origin: Origin,
    /// The target. Two entries with equal targets and protocols are the same
    /// server: other changes need no new connection.
    pub target: Target,
    /// The revision to use.
    pub protocol: Protocol,
    /// True if it may be connected.
    pub enabled: bool,
    /// True if it is connected at startup.
    pub auto_connect: bool,
    /// The timeout of connecting and of each request.
    pub timeout: Duration,
    /// The reconnect policy.
    pub reconnect: Reconnect,
    /// The permission rules of its entry.
    pub rules: Rules,
}

/// The position of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: PathBuf,
    /// The scope of the file.
    pub scope: Scope,
    /// The line of the entry's name, from 1.
    pub line: usize,
    /// Its column, from 1.
    pub column: usize,
}

/// The scope of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The user's own file.
    User,
    /// A file of the project, which may come from other people.
    Project,
}

/// The reconnect policy of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconnect {
    /// The maximum number of tries; 0 for none.
    pub attempts: u32,
    /// The delay before the first try; it doubles, with a random part.
    pub delay: Duration,
}

/// Tool patterns: `mcp__s`, `mcp__s__*`, `mcp__s__get_*`; in the entry of a
/// server also `*` and `get_*` for its own tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    /// Tools that are never called.
    pub deny: Vec<String>,
    /// Tools that need a confirmation.
    pub ask: Vec<String>,
    /// Tools that may be called.
    pub allow: Vec<String>,
}

impl Default for Reconnect {
    fn default() -> Self {
        Reconnect { attempts: 3, delay: Duration::from_secs(1) }
    }
}

impl std::fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerConfig")
            .field("name", &self.name)
            .field("origin", &self.origin)
            .field("protocol", &self.protocol)
            .field("enabled", &self.enabled)
            .field("auto_connect", &self.auto_connect)
            .field("timeout", &self.timeout)
            .field("reconnect", &self.reconnect)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

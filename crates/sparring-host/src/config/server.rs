//! A configured server, with all that its entry says resolved.

use std::path::PathBuf;
use std::time::Duration;

use sparring_peer::Protocol;
use sparring_transport::Target;

/// A server that can be connected to. Whatever its holes were filled with may be
/// a secret, the arguments of a command too, so its target is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerConfig {
    /// What it is called in its file.
    pub name: String,
    /// Where that was said.
    pub origin: Origin,
    /// How to get to it. Two entries with equal targets and protocols are the
    /// same server: what else differs is changed without a new connection.
    pub target: Target,
    /// The revision to speak.
    pub protocol: Protocol,
    /// Whether it may be connected to at all.
    pub enabled: bool,
    /// Whether it is connected to with all others.
    pub auto_connect: bool,
    /// How long connecting may take, and then each request.
    pub timeout: Duration,
    /// What to do when it is lost.
    pub reconnect: Reconnect,
    /// What its entry says of what may be called.
    pub rules: Rules,
}

/// Where an entry stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file.
    pub file: PathBuf,
    /// Whose file that is.
    pub scope: Scope,
    /// The line of the entry's name, from 1.
    pub line: usize,
    /// Its column, from 1.
    pub column: usize,
}

/// Whose file an entry stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The user's own.
    User,
    /// The project's, which somebody else may have written.
    Project,
}

/// What to do when a server is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconnect {
    /// How often it is tried; 0 is never.
    pub attempts: u32,
    /// How long to wait before the first try; the wait doubles, with some
    /// chance in it.
    pub delay: Duration,
}

/// Patterns of tools: `mcp__s`, `mcp__s__*`, `mcp__s__get_*`; inside the entry
/// of a server also `*` and `get_*`, of its own tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rules {
    /// What is never called.
    pub deny: Vec<String>,
    /// What is called after somebody was asked.
    pub ask: Vec<String>,
    /// What is called.
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

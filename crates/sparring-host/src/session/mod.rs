//! Saves and restores a session: the servers that were connected, and the rules
//! of the session.
//!
//! A [`Session`] contains names, digests and patterns, but no secrets: the
//! targets of servers come from the configuration at the time of the restore,
//! and differences are reported.

mod file;
mod reconcile;
mod restore;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::{Rules, ServerConfig};
use crate::manager::{Manager, ServerState};
use crate::permissions::{Fingerprint, PatternTarget, resolve_pattern};

pub use file::SessionError;
pub use reconcile::{CurrentServer, DroppedPattern, Reconciliation, RestoreAction};
pub use restore::{RestoreResult, current_servers};

/// A saved session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The time of saving, such as `2026-01-02T03:04:05Z`.
    pub saved: String,
    /// The servers that were configured, by name.
    pub servers: BTreeMap<String, SavedServer>,
    /// Patterns of denied tools.
    pub deny: Vec<String>,
    /// Patterns of tools that need a question.
    pub ask: Vec<String>,
    /// Patterns of allowed tools, each for one server.
    pub allow: Vec<AllowedPattern>,
}

/// A server at the time of saving.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedServer {
    /// True if it should be connected, even if it was not.
    pub connected: bool,
    /// The digits of its [`Fingerprint`].
    pub target: String,
}

/// A pattern of allowed tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowedPattern {
    /// The pattern.
    pub pattern: String,
    /// The server of these tools.
    pub server: String,
    /// The digits of that server's [`Fingerprint`].
    pub target: String,
}

impl Session {
    /// Captures the state of a manager and the rules of the session.
    ///
    /// Patterns that allow tools of no configured server, or of two, are left
    /// out: a later server with such a name is a different one.
    pub fn capture(manager: &Manager, rules: &Rules) -> Session {
        let all = manager.servers();
        let fingerprint_digits =
            |config: &ServerConfig| Fingerprint::from_server(config).as_str().to_owned();
        let servers: BTreeMap<_, _> = all
            .iter()
            .map(|server| {
                let wanted = SavedServer {
                    connected: is_wanted(&server.state),
                    target: fingerprint_digits(&server.config),
                };
                (server.config.name.clone(), wanted)
            })
            .collect();
        let names = || servers.keys().map(String::as_str);
        let allowed = rules.allow.iter().filter_map(|pattern| {
            let Ok(PatternTarget::Tools { server, .. }) =
                resolve_pattern(pattern, names().collect::<Vec<_>>())
            else {
                return None;
            };
            let target = servers.get(&server)?.target.clone();
            Some(AllowedPattern { pattern: pattern.clone(), server, target })
        });
        let allow = allowed.collect();
        let (deny, ask) = (rules.deny.clone(), rules.ask.clone());
        Session { saved: Timestamp::now().to_string(), servers, deny, ask, allow }
    }
}

/// A server that was lost or could not be connected should be connected too.
fn is_wanted(state: &ServerState) -> bool {
    match state {
        ServerState::Connecting { .. } | ServerState::Connected(_) => true,
        ServerState::Lost { .. } | ServerState::Failed { .. } => true,
        ServerState::Disabled | ServerState::Idle | ServerState::Closing => false,
    }
}

//! What somebody goes on with later: which servers were to be connected, and
//! what was allowed and denied.
//!
//! A [`Session`] has names, digests and patterns, and no secrets: how a server
//! is reached stands in the configuration of the day on which it is restored,
//! and what differs since then is told.

mod file;
mod reconcile;
mod restore;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::config::{Rules, ServerConfig};
use crate::manager::{Manager, State};
use crate::permissions::{Fingerprint, Meaning, meaning};

pub use file::SessionError;
pub use reconcile::{Dropped, Fate, Reconciled, Today};
pub use restore::{Restored, today};

/// What was wanted when it was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// When that was, as `2026-01-02T03:04:05Z`.
    pub saved: String,
    /// The servers that were configured, by name.
    pub servers: BTreeMap<String, Wanted>,
    /// Patterns of tools that were denied.
    pub deny: Vec<String>,
    /// Patterns of tools that somebody was to be asked for.
    pub ask: Vec<String>,
    /// Patterns of tools that were allowed, each for one server.
    pub allow: Vec<Allowed>,
}

/// A server, as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Whether somebody wanted it to be connected, whether or not it was.
    pub connected: bool,
    /// The digits of its [`Fingerprint`].
    pub target: String,
}

/// A pattern of tools that were allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowed {
    /// The pattern.
    pub pattern: String,
    /// The server whose tools it means.
    pub server: String,
    /// The digits of that server's [`Fingerprint`].
    pub target: String,
}

impl Session {
    /// What is wanted of this manager now, under these rules of the session.
    ///
    /// A pattern that allows tools of no server that there is, or of two, is
    /// left out: whoever is called so later is somebody else.
    pub fn of(manager: &Manager, rules: &Rules) -> Session {
        let all = manager.servers();
        let of_server = |config: &ServerConfig| Fingerprint::of(config).as_str().to_owned();
        let servers: BTreeMap<_, _> = all
            .iter()
            .map(|server| {
                let wanted = Wanted {
                    connected: is_wanted(&server.state),
                    target: of_server(&server.config),
                };
                (server.config.name.clone(), wanted)
            })
            .collect();
        let names = || servers.keys().map(String::as_str);
        let allowed = rules.allow.iter().filter_map(|pattern| {
            let Ok(Meaning::Tools { server, .. }) = meaning(pattern, names().collect::<Vec<_>>())
            else {
                return None;
            };
            let target = servers.get(&server)?.target.clone();
            Some(Allowed { pattern: pattern.clone(), server, target })
        });
        let allow = allowed.collect();
        let (deny, ask) = (rules.deny.clone(), rules.ask.clone());
        Session { saved: Timestamp::now().to_string(), servers, deny, ask, allow }
    }
}

/// One that was lost, or that could not be connected to, is wanted all the same.
fn is_wanted(state: &State) -> bool {
    match state {
        State::Connecting { .. } | State::Connected(_) => true,
        State::Lost { .. } | State::Failed { .. } => true,
        State::Disabled | State::Idle | State::Closing => false,
    }
}

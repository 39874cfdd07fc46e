//! Compares a session with the current configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AllowedPattern, Session};
use crate::config::{Rules, ServerConfig};
use crate::permissions::Fingerprint;

/// A server in the current configuration.
#[derive(Debug, Clone)]
pub enum CurrentServer {
    /// It can be connected, unless it is disabled.
    Ready(Arc<ServerConfig>),
    /// It is disabled.
    Disabled,
    /// Its file is not trusted.
    Untrusted,
    /// Its entry is invalid.
    Broken,
}

/// The action for a server of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestoreAction {
    /// It was connected: connect it again.
    Connect,
    /// It was not connected: leave it.
    LeaveDisconnected,
    /// It was connected, but its target changed. The user has not seen the new
    /// one, so it is not connected without a request.
    Changed,
    /// It was connected, but is no longer configured.
    Removed,
    /// It was connected, but is disabled now.
    Disabled,
    /// It was connected, but its file is not trusted now.
    Untrusted,
    /// It was connected, but its entry is invalid now.
    Broken,
    /// It is new. It is connected if its entry says so.
    New {
        /// True if its entry says so.
        connects: bool,
    },
}

/// A pattern that is no longer allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedPattern {
    /// The pattern.
    pub pattern: String,
    /// The server of the tools.
    pub server: String,
}

/// A session compared with the current configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reconciliation {
    /// The action for each server, by name.
    pub servers: BTreeMap<String, RestoreAction>,
    /// The rules that are still valid. Denied and asked patterns stay, whatever
    /// happened to their servers.
    pub rules: Rules,
    /// The allowed patterns of servers that changed.
    pub dropped: Vec<DroppedPattern>,
}

impl Session {
    /// Compares the session with the current servers, by name.
    pub fn reconcile(&self, today: &BTreeMap<String, CurrentServer>) -> Reconciliation {
        let mut servers: BTreeMap<_, _> =
            self.servers.keys().map(|name| (name.clone(), self.action_for(name, today))).collect();
        for (name, today) in today {
            let CurrentServer::Ready(config) = today else { continue };
            let connects = config.enabled && config.auto_connect;
            servers.entry(name.clone()).or_insert(RestoreAction::New { connects });
        }
        let (kept, dropped): (Vec<_>, Vec<_>) =
            self.allow.iter().partition(|allowed| is_unchanged(allowed, today));
        let allow = kept.into_iter().map(|allowed| allowed.pattern.clone()).collect();
        let dropped = dropped.into_iter().map(|AllowedPattern { pattern, server, .. }| {
            DroppedPattern { pattern: pattern.clone(), server: server.clone() }
        });
        let rules = Rules { deny: self.deny.clone(), ask: self.ask.clone(), allow };
        Reconciliation { servers, rules, dropped: dropped.collect() }
    }

    fn action_for(&self, name: &str, today: &BTreeMap<String, CurrentServer>) -> RestoreAction {
        let Some(wanted) = self.servers.get(name).filter(|wanted| wanted.connected) else {
            return RestoreAction::LeaveDisconnected;
        };
        match today.get(name) {
            None => RestoreAction::Removed,
            Some(CurrentServer::Untrusted) => RestoreAction::Untrusted,
            Some(CurrentServer::Broken) => RestoreAction::Broken,
            Some(CurrentServer::Ready(config)) if config.enabled => {
                match Fingerprint::from_server(config).as_str() == wanted.target {
                    true => RestoreAction::Connect,
                    false => RestoreAction::Changed,
                }
            }
            Some(CurrentServer::Disabled | CurrentServer::Ready(_)) => RestoreAction::Disabled,
        }
    }
}

/// Returns true if the server of a pattern is unchanged.
fn is_unchanged(allowed: &AllowedPattern, today: &BTreeMap<String, CurrentServer>) -> bool {
    let Some(CurrentServer::Ready(config)) = today.get(&allowed.server) else { return false };
    Fingerprint::from_server(config).as_str() == allowed.target
}

impl Reconciliation {
    /// The servers to connect.
    pub fn to_connect(&self) -> impl Iterator<Item = &str> {
        let connects = |action: &RestoreAction| {
            matches!(action, RestoreAction::Connect | RestoreAction::New { connects: true })
        };
        self.servers
            .iter()
            .filter(move |(_, action)| connects(action))
            .map(|(name, _)| name.as_str())
    }

    /// One line for a person about each difference since the session was saved.
    pub fn messages(&self) -> Vec<String> {
        let servers = self.servers.iter().filter_map(|(name, action)| {
            let what = match action {
                RestoreAction::Connect | RestoreAction::LeaveDisconnected => return None,
                RestoreAction::Changed => {
                    "has a changed target and stays disconnected until you connect it"
                }
                RestoreAction::Removed => "was connected but is no longer configured",
                RestoreAction::Disabled => "was connected but is disabled now",
                RestoreAction::Untrusted => "was connected but its file is not trusted now",
                RestoreAction::Broken => "was connected but its entry is invalid now",
                RestoreAction::New { connects: true } => {
                    "is new and will be connected (auto_connect)"
                }
                RestoreAction::New { connects: false } => "is new and stays disconnected",
            };
            Some(format!("server `{name}` {what}"))
        });
        let dropped = self.dropped.iter().map(|DroppedPattern { pattern, server }| {
            format!("`{pattern}` is no longer allowed: server `{server}` has changed")
        });
        servers.chain(dropped).collect()
    }
}

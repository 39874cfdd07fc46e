//! A session held against the configuration of today: what is still as it was,
//! and what differs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Allowed, Session};
use crate::config::{Rules, ServerConfig};
use crate::permissions::Fingerprint;

/// How a server stands in the configuration of today.
#[derive(Debug, Clone)]
pub enum Today {
    /// It can be connected to, unless it is disabled.
    Ready(Arc<ServerConfig>),
    /// It is not enabled.
    Disabled,
    /// Nobody said that they trust its file.
    Untrusted,
    /// Its entry cannot be used.
    Broken,
}

/// What is to be done with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It was connected, and is again.
    Connect,
    /// It was not connected, and is not.
    Rest,
    /// It was connected, and is reached in another way now: nobody has seen
    /// that one, so it is not connected without being asked for.
    Changed,
    /// It was connected, and is not configured any more.
    Gone,
    /// It was connected, and is disabled now.
    Disabled,
    /// It was connected, and its file is not trusted now.
    Untrusted,
    /// It was connected, and its entry cannot be used now.
    Broken,
    /// There was none of its name. It is connected as its entry says.
    New {
        /// Whether its entry wants that.
        connects: bool,
    },
}

/// A pattern that is not allowed any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The pattern.
    pub pattern: String,
    /// The server whose tools it meant.
    pub server: String,
}

/// What a session comes to today.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reconciled {
    /// The servers, then and now, by name.
    pub servers: BTreeMap<String, Fate>,
    /// The rules that still hold. What was denied or asked for stays, whatever
    /// has become of the server.
    pub rules: Rules,
    /// What was allowed of servers that are not what they were.
    pub dropped: Vec<Dropped>,
}

impl Session {
    /// Holds it against the servers of today, by name.
    pub fn reconcile(&self, today: &BTreeMap<String, Today>) -> Reconciled {
        let mut servers: BTreeMap<_, _> =
            self.servers.keys().map(|name| (name.clone(), self.fate(name, today))).collect();
        for (name, today) in today {
            let Today::Ready(config) = today else { continue };
            let connects = config.enabled && config.auto_connect;
            servers.entry(name.clone()).or_insert(Fate::New { connects });
        }
        let (kept, dropped): (Vec<_>, Vec<_>) =
            self.allow.iter().partition(|allowed| is_same(allowed, today));
        let allow = kept.into_iter().map(|allowed| allowed.pattern.clone()).collect();
        let dropped = dropped.into_iter().map(|Allowed { pattern, server, .. }| Dropped {
            pattern: pattern.clone(),
            server: server.clone(),
        });
        let rules = Rules { deny: self.deny.clone(), ask: self.ask.clone(), allow };
        Reconciled { servers, rules, dropped: dropped.collect() }
    }

    fn fate(&self, name: &str, today: &BTreeMap<String, Today>) -> Fate {
        let Some(wanted) = self.servers.get(name).filter(|wanted| wanted.connected) else {
            return Fate::Rest;
        };
        match today.get(name) {
            None => Fate::Gone,
            Some(Today::Untrusted) => Fate::Untrusted,
            Some(Today::Broken) => Fate::Broken,
            Some(Today::Ready(config)) if config.enabled => {
                match Fingerprint::of(config).as_str() == wanted.target {
                    true => Fate::Connect,
                    false => Fate::Changed,
                }
            }
            Some(Today::Disabled | Today::Ready(_)) => Fate::Disabled,
        }
    }
}

/// Whether the server of a pattern is still what it was.
fn is_same(allowed: &Allowed, today: &BTreeMap<String, Today>) -> bool {
    let Some(Today::Ready(config)) = today.get(&allowed.server) else { return false };
    Fingerprint::of(config).as_str() == allowed.target
}

impl Reconciled {
    /// The servers that are to be connected.
    pub fn to_connect(&self) -> impl Iterator<Item = &str> {
        let connects = |fate: &Fate| matches!(fate, Fate::Connect | Fate::New { connects: true });
        self.servers.iter().filter(move |(_, fate)| connects(fate)).map(|(name, _)| name.as_str())
    }

    /// What differs from when it was saved, for a person: a line each, none
    /// where all is as it was.
    pub fn messages(&self) -> Vec<String> {
        let servers = self.servers.iter().filter_map(|(name, fate)| {
            let what = match fate {
                Fate::Connect | Fate::Rest => return None,
                Fate::Changed => "is reached in another way now, and not connected until asked for",
                Fate::Gone => "was connected, and is not configured any more",
                Fate::Disabled => "was connected, and is disabled now",
                Fate::Untrusted => "was connected, and its file is not trusted now",
                Fate::Broken => "was connected, and its entry cannot be used now",
                Fate::New { connects: true } => "is new, and connected as its entry says",
                Fate::New { connects: false } => "is new, and not connected",
            };
            Some(format!("server `{name}` {what}"))
        });
        let dropped = self.dropped.iter().map(|Dropped { pattern, server }| {
            format!("`{pattern}` is not allowed any more: server `{server}` is not what it was")
        });
        servers.chain(dropped).collect()
    }
}

//! What differs between two configurations, and what is to be done about it.

use std::sync::Arc;

use super::error::Error;
use crate::config::ServerConfig;

/// What another configuration has changed: the servers by name, each in one of
/// these.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// New ones. They are connected where their entry says so.
    pub added: Vec<Arc<str>>,
    /// Those that are not configured any more. They were shut down.
    pub removed: Vec<Arc<str>>,
    /// Those that are reached in another way, or that may be connected to only
    /// now, or not any more. What was connected has ended, and is connected in
    /// the new way; where that fails, the old one does not come back.
    pub changed: Vec<Arc<str>>,
    /// Those for which other rules or limits hold, over the same connection.
    pub policy_only: Vec<Arc<str>>,
    /// Those of which nothing has changed but, at most, where they stand.
    pub untouched: Vec<Arc<str>>,
    /// Those of the above that were to be connected because of it, and are not.
    pub failed: Vec<(Arc<str>, Error)>,
}

impl Changes {
    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        let changes = [&self.added, &self.removed, &self.changed, &self.policy_only];
        changes.iter().all(|names| names.is_empty())
    }
}

/// How an entry differs from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    Nothing,
    Policy,
    Server,
}

/// Compares two entries of one name. A server is what is reached in the same
/// way; where its entry stands says nothing about it.
pub(super) fn difference(old: &ServerConfig, new: &ServerConfig) -> Difference {
    if old.target != new.target || old.protocol != new.protocol || old.enabled != new.enabled {
        return Difference::Server;
    }
    let moved = ServerConfig { origin: new.origin.clone(), ..old.clone() };
    if moved == *new { Difference::Nothing } else { Difference::Policy }
}

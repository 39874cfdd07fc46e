//! Restores a session: connects the servers that were connected.

use std::collections::BTreeMap;

use futures_util::future::{join, join_all};

use super::Session;
use super::reconcile::{CurrentServer, Reconciliation, RestoreAction};
use crate::config::{Config, EntryState};
use crate::manager::{Connection, Error, Manager};

/// The result of a restore.
#[derive(Debug)]
pub struct RestoreResult {
    /// The session compared with the current configuration, with the valid
    /// rules.
    pub reconciled: Reconciliation,
    /// The result for each server that had to be connected.
    pub outcomes: Vec<(String, Result<Connection, Error>)>,
}

/// All current servers: those of the manager, and those of the configuration
/// that the manager does not get.
pub fn current_servers(
    manager: &Manager,
    config: Option<&Config>,
) -> BTreeMap<String, CurrentServer> {
    let configured = config.into_iter().flat_map(|config| &config.servers);
    let mut today: BTreeMap<_, _> = configured
        .map(|(name, configured)| {
            let today = match &configured.state {
                EntryState::Invalid(_) => CurrentServer::Broken,
                EntryState::Untrusted(_) => CurrentServer::Untrusted,
                EntryState::Ready(_) => CurrentServer::Disabled,
            };
            (name.clone(), today)
        })
        .collect();
    for server in manager.servers() {
        today.insert(server.config.name.clone(), CurrentServer::Ready(server.config));
    }
    today
}

impl Session {
    /// Concurrently connects the servers that were connected and are unchanged,
    /// and disconnects those that were not connected. A failure of one does not
    /// affect the others.
    pub async fn restore(&self, manager: &Manager, config: Option<&Config>) -> RestoreResult {
        let reconciled = self.reconcile(&current_servers(manager, config));
        let connecting = reconciled
            .to_connect()
            .map(|name| async move { (name.to_owned(), manager.connect(name).await) });
        let resting = reconciled
            .servers
            .iter()
            .filter(|(_, action)| **action == RestoreAction::LeaveDisconnected);
        // The error of a server that is not configured any more is ignored.
        let disconnecting = resting.map(|(name, _)| manager.disconnect(name));
        let (outcomes, _) = join(join_all(connecting), join_all(disconnecting)).await;
        RestoreResult { reconciled, outcomes }
    }
}

impl RestoreResult {
    /// One line for a person about each difference since the session was saved,
    /// and about each failed connection.
    pub fn messages(&self) -> Vec<String> {
        let failed = self.outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().err());
        let failed = failed.map(|error| format!("not connected: {error}"));
        self.reconciled.messages().into_iter().chain(failed).collect()
    }
}

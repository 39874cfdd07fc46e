//! A session that goes on: the servers connected that were.

use std::collections::BTreeMap;

use futures_util::future::{join, join_all};

use super::Session;
use super::reconcile::{Fate, Reconciled, Today};
use crate::config::{Config, State};
use crate::manager::{Connection, Error, Manager};

/// What came of restoring.
#[derive(Debug)]
pub struct Restored {
    /// What the session came to, the rules that hold included.
    pub reconciled: Reconciled,
    /// The servers that were to be connected, and what came of each.
    pub outcomes: Vec<(String, Result<Connection, Error>)>,
}

/// How all servers stand today: those of the manager, and of the configuration
/// those that a manager does not get.
pub fn today(manager: &Manager, config: Option<&Config>) -> BTreeMap<String, Today> {
    let configured = config.into_iter().flat_map(|config| &config.servers);
    let mut today: BTreeMap<_, _> = configured
        .map(|(name, configured)| {
            let today = match &configured.state {
                State::Broken(_) => Today::Broken,
                State::Untrusted(_) => Today::Untrusted,
                State::Ready(_) => Today::Disabled,
            };
            (name.clone(), today)
        })
        .collect();
    for server in manager.servers() {
        today.insert(server.config.name.clone(), Today::Ready(server.config));
    }
    today
}

impl Session {
    /// Connects the servers that were connected and are what they were, beside
    /// each other, and disconnects those that were not connected. What comes of
    /// one changes nothing for the others.
    pub async fn restore(&self, manager: &Manager, config: Option<&Config>) -> Restored {
        let reconciled = self.reconcile(&today(manager, config));
        let connecting = reconciled
            .to_connect()
            .map(|name| async move { (name.to_owned(), manager.connect(name).await) });
        let resting = reconciled.servers.iter().filter(|(_, fate)| **fate == Fate::Rest);
        // One that is not there any more rests too.
        let disconnecting = resting.map(|(name, _)| manager.disconnect(name));
        let (outcomes, _) = join(join_all(connecting), join_all(disconnecting)).await;
        Restored { reconciled, outcomes }
    }
}

impl Restored {
    /// What differs from when it was saved, and who could not be connected to,
    /// for a person: a line each, none where all is as it was.
    pub fn messages(&self) -> Vec<String> {
        let failed = self.outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().err());
        let failed = failed.map(|error| format!("not connected: {error}"));
        self.reconciled.messages().into_iter().chain(failed).collect()
    }
}

//! The configured servers at work, for the verbs that have many: which of them,
//! who may call what, and how all of it ends.
//!
//! [`Servers`] are the flags, [`Host`] is what comes of them. What is done with
//! the servers is each verb's own.

mod args;
mod asker;
mod ending;
mod opening;
mod resuming;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_host::config::{Config, Places, Rules, Surroundings};
use sparring_host::manager::Manager;
use sparring_host::registry::Registry;

pub(crate) use args::Servers;
pub(crate) use asker::terminal;
pub(crate) use opening::Wiring;
pub(crate) use resuming::Sessions;

/// The servers that a verb has, and who decides about their tools.
pub(crate) struct Host {
    /// What the files say, those servers included that are not used.
    pub(crate) config: Config,
    /// The connections.
    pub(crate) manager: Manager,
    /// Their tools.
    pub(crate) registry: Arc<Registry>,
    /// The rules of this run.
    rules: Mutex<Rules>,
    /// The servers that were named by a flag.
    pub(crate) named: Vec<String>,
    /// Out of what that was read.
    pub(crate) sources: (Places, Surroundings),
}

impl Host {
    /// The rules of this run.
    pub(crate) fn rules(&self) -> Rules {
        self.locked_rules().clone()
    }

    fn locked_rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! The configured servers at work, for the verbs that have many: which of them,
//! who may call what, and how all of it ends.
//!
//! [`Servers`] are the flags, [`Host`] is what comes of them. What is done with
//! the servers is each verb's own.

mod again;
mod args;
mod asker;
mod ending;
mod form;
mod opening;
mod resuming;
mod source;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_host::config::{Config, Rules};
use sparring_host::manager::Manager;
use sparring_host::registry::Registry;

pub(crate) use again::Again;
pub(crate) use args::Servers;
pub(crate) use asker::{terminal, typed};
pub(crate) use form::fields;
pub(crate) use opening::Wiring;
pub(crate) use resuming::Sessions;
pub(crate) use source::Source;

/// The servers that a verb has, and who decides about their tools.
pub(crate) struct Host {
    /// What the files say, those servers included that are not used.
    pub(crate) config: Arc<Config>,
    /// The connections.
    pub(crate) manager: Manager,
    /// Their tools.
    pub(crate) registry: Arc<Registry>,
    /// The rules of this run.
    rules: Mutex<Rules>,
    /// The servers that were named by a flag.
    pub(crate) named: Vec<String>,
    /// How all of it is read again.
    pub(crate) source: Source,
}

impl Host {
    /// The rules of this run.
    pub(crate) fn rules(&self) -> Rules {
        self.locked_rules().clone()
    }

    /// Others from now on, for a session that is saved.
    pub(crate) fn set_rules(&self, rules: Rules) {
        *self.locked_rules() = rules;
    }

    fn locked_rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

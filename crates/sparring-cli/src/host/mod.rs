//! The configured servers at work, for the verbs that have many: which of them,
//! who may call what, and how all of it ends.
//!
//! [`Servers`] are the flags, [`Host`] is what comes of them. What is done with
//! the servers is each verb's own.

mod again;
mod args;
mod asker;
mod ending;
mod opening;
mod resuming;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_host::config::{Config, Places, Rules, Surroundings};
use sparring_host::manager::Manager;
use sparring_host::registry::Registry;

pub(crate) use again::Again;
pub(crate) use args::Servers;
pub(crate) use asker::terminal;
pub(crate) use opening::Wiring;
pub(crate) use resuming::Sessions;

/// The servers that a verb has, and who decides about their tools.
pub(crate) struct Host {
    /// What the files say, those servers included that are not used.
    pub(crate) config: Arc<Config>,
    /// The connections.
    pub(crate) manager: Manager,
    /// Their tools.
    pub(crate) registry: Arc<Registry>,
    /// The rules of this run.
    rules: SharedRules,
    /// The servers that were named by a flag.
    named: Vec<String>,
    /// Out of what that was read.
    sources: (Places, Surroundings),
}

/// The rules of a run, which may become others.
#[derive(Clone, Default)]
struct SharedRules(Arc<Mutex<Rules>>);

impl SharedRules {
    fn locked(&self) -> MutexGuard<'_, Rules> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

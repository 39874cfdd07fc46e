//! The configured servers, for the verbs that use many of them: selects them, connects
//! them, decides about calls, shuts them down.
//!
//! [`ServerFlags`] are the flags, and [`Host`] is built from them. The verbs use the servers.

mod config_source;
mod open;
mod own_server;
mod roots;
mod saved_session;
mod shutdown;
mod terminal_input;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_host::config::{Config, Rules};
use sparring_host::manager::Manager;
use sparring_host::registry::Registry;

pub(crate) use config_source::{ConfigSource, ReloadedConfig};
pub(crate) use open::{HostOptions, ServerFlags, many_tools_note};
pub(crate) use roots::Roots;
pub(crate) use saved_session::SessionFlags;
pub(crate) use terminal_input::{terminal_asker, terminal_input};

/// The servers of a verb, and the rules for their tools.
pub(crate) struct Host {
    /// The configuration, including servers that are not used.
    pub(crate) config: Arc<Config>,
    /// The connections.
    pub(crate) manager: Manager,
    /// Their tools.
    pub(crate) registry: Arc<Registry>,
    /// The rules of this run.
    rules: Mutex<Rules>,
    /// The servers that `--server` names.
    pub(crate) named: Vec<String>,
    /// The folders that servers may work in.
    pub(crate) roots: Roots,
    /// Reads the configuration again.
    pub(crate) source: ConfigSource,
}

impl Host {
    /// The rules of this run.
    pub(crate) fn rules(&self) -> Rules {
        self.locked_rules().clone()
    }

    /// Replaces the rules, which a saved session contains.
    pub(crate) fn set_rules(&self, rules: Rules) {
        *self.locked_rules() = rules;
    }

    fn locked_rules(&self) -> MutexGuard<'_, Rules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

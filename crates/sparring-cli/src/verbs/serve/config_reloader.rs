//! Reloads the configuration when one of its files changes.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use sparring_host::config::Rules;
use sparring_host::manager::{LoadedConfig, Manager};
use sparring_host::permissions::Permissions;
use sparring_host::registry::Registry;
use tokio::sync::mpsc;

use crate::command_error::CommandError;
use crate::host::{ConfigSource, Host, ReloadedConfig};

/// Reloads the configuration of a host.
pub(super) struct ConfigReloader {
    source: ConfigSource,
    manager: Manager,
    rules: Rules,
    /// The notes that were sent.
    sent: Mutex<HashSet<String>>,
    notes: mpsc::UnboundedSender<String>,
}

impl ConfigReloader {
    /// Returns a reloader for a host, and the receiver of its notes.
    pub(super) fn new(host: &Host) -> (ConfigReloader, mpsc::UnboundedReceiver<String>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let reloader = ConfigReloader {
            source: host.source.clone(),
            manager: host.manager.clone(),
            rules: host.rules(),
            sent: Mutex::default(),
            notes: sender,
        };
        (reloader, receiver)
    }

    /// Reads the files and applies the rules. A file that cannot be read changes nothing.
    pub(super) fn read(&self, registry: &Registry) -> LoadedConfig {
        let reloaded = self.source.reload(&self.manager, false);
        let servers =
            reloaded.map_err(|failure: CommandError| failure.to_string()).map(|reloaded| {
                let ReloadedConfig { config, servers, mut notes } = reloaded;
                let (permissions, found) =
                    Permissions::for_servers(&config, self.rules.clone(), &servers);
                registry.set_permissions(permissions);
                notes.extend(found.errors.into_iter().map(|(_, error)| error.to_string()));
                notes.extend(found.notes);
                self.send_new_notes(notes);
                servers
            });
        LoadedConfig { servers, files: self.source.files() }
    }

    /// Sends the notes that were not sent before.
    fn send_new_notes(&self, notes: Vec<String>) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        for note in notes {
            if sent.insert(note.clone()) {
                // The receiver is gone when the verb ends.
                let _ = self.notes.send(note);
            }
        }
    }
}

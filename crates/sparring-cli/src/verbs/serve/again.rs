//! The files read again, whenever one of them has changed: which servers there are
//! then, and what may be called.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use sparring_host::config::Rules;
use sparring_host::manager::{Manager, Reading};
use sparring_host::permissions::Permissions;
use sparring_host::registry::Registry;
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::host::{Again, Host, Source};

/// Reads again.
pub(super) struct Reader {
    source: Source,
    manager: Manager,
    rules: Rules,
    /// What was told.
    told: Mutex<HashSet<String>>,
    tell: mpsc::UnboundedSender<String>,
}

impl Reader {
    /// One for the servers of a host, and where it says what somebody should know.
    pub(super) fn new(host: &Host) -> (Reader, mpsc::UnboundedReceiver<String>) {
        let (tell, notes) = mpsc::unbounded_channel();
        let reader = Reader {
            source: host.source.clone(),
            manager: host.manager.clone(),
            rules: host.rules(),
            told: Mutex::default(),
            tell,
        };
        (reader, notes)
    }

    /// Reads, and puts the rules in force. What cannot be read leaves everything as
    /// it is.
    pub(super) fn read(&self, registry: &Registry) -> Reading {
        let again = self.source.read_again(&self.manager, false);
        let servers = again.map_err(|failure: Failure| failure.to_string()).map(|again| {
            let Again { config, servers, mut notes } = again;
            let (permissions, found) =
                Permissions::about_these(&config, self.rules.clone(), &servers);
            registry.set_permissions(permissions);
            notes.extend(found.errors.into_iter().map(|(_, error)| error.to_string()));
            notes.extend(found.notes);
            self.tell(notes);
            servers
        });
        Reading { servers, files: self.source.files() }
    }

    /// Tells what was not told before.
    fn tell(&self, notes: Vec<String>) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        for note in notes {
            if told.insert(note.clone()) {
                // Nobody may be there to hear it any more.
                let _ = self.tell.send(note);
            }
        }
    }
}

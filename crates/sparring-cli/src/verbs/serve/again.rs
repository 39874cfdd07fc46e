//! The files read again, whenever one of them has changed: which servers there are
//! then, and what may be called.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sparring_host::config::{Configured, Fault, Rules, ServerConfig, State};
use sparring_host::manager::Reading;
use sparring_host::permissions::Permissions;
use sparring_host::registry::Registry;
use sparring_script::Problems;
use tokio::sync::mpsc;

use crate::host::{Host, Source};

/// Reads again.
pub(super) struct Again {
    source: Source,
    /// Only these, if there are any.
    named: Vec<String>,
    rules: Rules,
    /// What is served by now.
    served: Mutex<BTreeMap<String, ServerConfig>>,
    /// What was told.
    told: Mutex<HashSet<String>>,
    tell: mpsc::UnboundedSender<String>,
}

impl Again {
    /// One for the servers of a host, and where it says what somebody should know.
    pub(super) fn new(host: &Host) -> (Again, mpsc::UnboundedReceiver<String>) {
        let (tell, notes) = mpsc::unbounded_channel();
        let servers = host.manager.servers();
        let served = servers.iter().map(|it| (it.config.name.clone(), (*it.config).clone()));
        let again = Again {
            source: host.source.clone(),
            named: host.named.clone(),
            rules: host.rules(),
            served: Mutex::new(served.collect()),
            told: Mutex::default(),
            tell,
        };
        (again, notes)
    }

    /// Reads, and puts the rules in force. What cannot be read leaves everything as
    /// it is.
    pub(super) fn read(&self, registry: &Registry) -> Reading {
        let config = self.source.config_unattended();
        let files = self.source.files();
        if !config.faults.is_empty() {
            let faults: Vec<String> = config.faults.iter().map(Fault::to_string).collect();
            return Reading { servers: Err(faults.join("\n")), files };
        }
        let mut notes = Vec::new();
        let mut served = lock(&self.served);
        let servers: Vec<ServerConfig> = config
            .servers
            .iter()
            .filter_map(|(name, it)| self.becomes(name, it, served.get(name), &mut notes))
            .collect();
        *served = servers.iter().map(|server| (server.name.clone(), server.clone())).collect();
        drop(served);
        let (permissions, found) = Permissions::about_these(&config, self.rules.clone(), &servers);
        registry.set_permissions(permissions);
        notes.extend(found.errors.into_iter().map(|(_, error)| error.to_string()));
        notes.extend(found.notes);
        for note in notes {
            if lock(&self.told).insert(note.clone()) {
                // Nobody may be there to hear it any more.
                let _ = self.tell.send(note);
            }
        }
        Reading { servers: Ok(servers), files }
    }

    /// What an entry is by now. One that is broken stays as it was; and so does one
    /// that was consented to by its name, and may be another now.
    fn becomes(
        &self,
        name: &str,
        configured: &Configured,
        before: Option<&ServerConfig>,
        notes: &mut Vec<String>,
    ) -> Option<ServerConfig> {
        if !self.named.is_empty() && !self.named.iter().any(|known| known == name) {
            return None;
        }
        match &configured.state {
            State::Ready(server) => server.enabled.then(|| ServerConfig::clone(server)),
            State::Untrusted(_) => {
                let file = configured.origin.file.display();
                let stays = !self.named.is_empty() && before.is_some();
                // What is named has been told of, and stays what it was.
                if !stays {
                    notes.push(format!(
                        "not trusted: `{name}` of {file}; `spar config trust` trusts it"
                    ));
                }
                before.filter(|_| stays).cloned()
            }
            State::Broken(problems) => {
                let becomes = if before.is_some() { "stays as it was" } else { "is left out" };
                notes.push(format!("`{name}` {becomes}: {}", brief(problems)));
                before.cloned()
            }
        }
    }
}

/// The first thing that is wrong, in one line.
fn brief(problems: &Problems) -> String {
    let name = problems.source().name();
    let Some(first) = problems.iter().next() else { return name.to_owned() };
    let at = problems.source().position(first.span.start);
    format!("{name}:{}:{}: {}", at.line, at.column, first.message)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! The files read again, by whoever follows them: what each server becomes.
//!
//! One rule for all: what is right and trusted is used as it is now. An entry that
//! is broken leaves its server as it was, and so does one that was consented to by
//! its name and may be another now. What is not trusted any more ends.

use sparring_host::config::{Config, Configured, Fault, ServerConfig, State};
use sparring_host::manager::Manager;
use sparring_script::Problems;

use super::Source;
use crate::failure::Failure;

/// What files say now.
pub(crate) struct Again {
    pub(crate) config: Config,
    /// The servers that there are to be.
    pub(crate) servers: Vec<ServerConfig>,
    /// What there is to say of them.
    pub(crate) notes: Vec<String>,
}

impl Source {
    /// Reads all files again, for the servers of that manager. Who can be asked
    /// for inputs is, if that is wanted.
    ///
    /// # Errors
    /// When a file cannot be read, or is wrong as a whole.
    pub(crate) fn read_again(&self, manager: &Manager, ask: bool) -> Result<Again, Failure> {
        let config = match ask {
            true => self.config_attended(),
            false => self.config_unattended(),
        };
        self.check_named_file(&config)?;
        let wrong = config.faults.iter().filter_map(|fault| match fault {
            Fault::Wrong(problems) => Some(problems.clone()),
            Fault::Unreadable { .. } => None,
        });
        let wrong: Vec<Problems> = wrong.collect();
        if !wrong.is_empty() {
            return Err(Failure::Script(wrong));
        }
        if let Some(fault) = config.faults.first() {
            return Err(Failure::File(fault.to_string()));
        }
        let before = manager.servers();
        let before = |name: &str| before.iter().map(|it| &*it.config).find(|it| it.name == name);
        let (mut servers, mut notes) = (Vec::new(), Vec::new());
        for (name, configured) in &config.servers {
            let by_name = !self.named().is_empty();
            if by_name && !self.named().contains(name) {
                continue;
            }
            let (server, note) = becomes(name, configured, before(name), by_name);
            servers.extend(server);
            notes.extend(note);
        }
        Ok(Again { config, servers, notes })
    }
}

/// What a server becomes, and what there is to say of it.
fn becomes(
    name: &str,
    configured: &Configured,
    before: Option<&ServerConfig>,
    by_name: bool,
) -> (Option<ServerConfig>, Option<String>) {
    match &configured.state {
        State::Ready(server) => (server.enabled.then(|| ServerConfig::clone(server)), None),
        State::Broken(problems) => {
            let what = if before.is_some() { "stays as it was" } else { "is left out" };
            let note = format!("server `{name}` {what}: {}", brief(problems));
            (before.cloned(), Some(note))
        }
        State::Untrusted(_) => {
            let (server, what) = match before {
                // Whoever named it has been told.
                Some(before) if by_name => return (Some(before.clone()), None),
                Some(_) => (None, "ends"),
                None => (None, "is left out"),
            };
            let file = configured.origin.file.display();
            let note = format!(
                "server `{name}` {what}: {file} is not trusted as it is now; `spar config trust` \
                 trusts it"
            );
            (server, Some(note))
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

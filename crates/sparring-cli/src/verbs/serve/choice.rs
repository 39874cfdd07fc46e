//! Which servers are served, and what may be called: read from the files at first,
//! and again whenever one of them has changed.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use sparring_host::config::{
    Config, Configured, Fault, Places, Rules, ServerConfig, State, Surroundings,
};
use sparring_host::manager::Reading;
use sparring_host::permissions::{Permissions, Policy, Source};
use sparring_host::registry::Registry;
use sparring_script::Problems;
use tokio::sync::{Mutex as AsyncMutex, mpsc};

use crate::configured;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Printer;

/// Chooses.
pub(super) struct Chooser {
    places: Places,
    surroundings: Surroundings,
    /// Only these, if there are any.
    names: Vec<String>,
    /// The rules of this run.
    rules: Rules,
    /// What is served by now. Of an entry that is not trusted, what somebody has
    /// consented to by its name.
    served: Mutex<BTreeMap<String, ServerConfig>>,
    /// What was told.
    told: Mutex<HashSet<String>>,
    tell: mpsc::UnboundedSender<String>,
    notes: AsyncMutex<mpsc::UnboundedReceiver<String>>,
}

/// What was chosen.
pub(super) struct Chosen {
    /// The servers.
    pub(super) servers: Vec<ServerConfig>,
    /// What may be called.
    pub(super) permissions: Permissions,
    /// What somebody should know.
    pub(super) notes: Vec<String>,
}

impl Chooser {
    pub(super) fn new(
        environment: &Environment,
        printer: &Printer,
        names: Vec<String>,
        rules: Rules,
    ) -> Chooser {
        // Whoever sits there is not asked: stdin may be the client's.
        let ask = Arc::new(|question: &sparring_host::config::Question| question.default.clone());
        let (tell, notes) = mpsc::unbounded_channel();
        Chooser {
            places: configured::places(environment),
            surroundings: configured::surroundings(environment, printer.stderr(), ask),
            names,
            rules,
            served: Mutex::default(),
            told: Mutex::default(),
            tell,
            notes: AsyncMutex::new(notes),
        }
    }

    /// Chooses at first.
    ///
    /// # Errors
    /// When there is nothing to serve, or a pattern that was typed is none.
    pub(super) fn begin(&self) -> Result<Chosen, Failure> {
        let config = Config::read(&self.places, &self.surroundings);
        let mut notes = Vec::new();
        let servers = match self.names.is_empty() {
            true => all(&config, &mut notes)?,
            false => self.named(&config)?,
        };
        let (_, typed) = Permissions::new(
            &Policy { session: self.rules.clone(), ..Policy::default() },
            &servers,
        );
        if let Some((_, error)) = typed.errors.first() {
            return Err(Failure::Usage(error.to_string()));
        }
        notes.extend(typed.notes);
        let permissions = self.permissions(&config, &servers, &mut notes);
        let by_name = servers.iter().map(|server| (server.name.clone(), server.clone()));
        *lock(&self.served) = by_name.collect();
        lock(&self.told).extend(notes.iter().cloned());
        Ok(Chosen { servers, permissions, notes })
    }

    /// Chooses again, and puts the rules in force. What cannot be read leaves
    /// everything as it is.
    pub(super) fn again(&self, registry: &Registry) -> Reading {
        let config = Config::read(&self.places, &self.surroundings);
        let mut files: Vec<PathBuf> =
            config.files.iter().map(|file| file.place.file.clone()).collect();
        // Whoever trusts a file need not touch it.
        files.extend(self.surroundings.trust.clone());
        if !config.faults.is_empty() {
            let faults: Vec<String> = config.faults.iter().map(Fault::to_string).collect();
            return Reading { servers: Err(faults.join("\n")), files };
        }
        let mut notes = Vec::new();
        let mut served = lock(&self.served);
        let kept =
            |(name, it): (&String, &Configured)| self.keeps(name, it, served.get(name), &mut notes);
        let servers: Vec<ServerConfig> = config.servers.iter().filter_map(kept).collect();
        *served = servers.iter().map(|server| (server.name.clone(), server.clone())).collect();
        drop(served);
        registry.set_permissions(self.permissions(&config, &servers, &mut notes));
        for note in notes {
            if lock(&self.told).insert(note.clone()) {
                // Nobody may be there to hear it any more.
                let _ = self.tell.send(note);
            }
        }
        Reading { servers: Ok(servers), files }
    }

    /// The next thing that somebody should know of what was read again.
    pub(super) async fn next_note(&self) -> String {
        match self.notes.lock().await.recv().await {
            Some(note) => note,
            None => std::future::pending().await,
        }
    }

    /// Those that somebody named, which is consent to their entries.
    fn named(&self, config: &Config) -> Result<Vec<ServerConfig>, Failure> {
        let mut servers: Vec<ServerConfig> = Vec::new();
        for name in &self.names {
            if servers.iter().any(|known| known.name == *name) {
                continue;
            }
            let server = config.by_consent(name);
            let server = server.map_err(|it| configured::refused(it, &config.faults))?;
            let trusted = matches!(config.servers[name].state, State::Ready(_));
            servers.push(consented(server, trusted));
        }
        Ok(servers)
    }

    /// What an entry is by now. One that is broken stays as it was, and so does one
    /// that was consented to and is another now.
    fn keeps(
        &self,
        name: &str,
        configured: &Configured,
        before: Option<&ServerConfig>,
        notes: &mut Vec<String>,
    ) -> Option<ServerConfig> {
        let by_name = !self.names.is_empty();
        if by_name && !self.names.iter().any(|known| known == name) {
            return None;
        }
        match &configured.state {
            State::Ready(server) if by_name => Some(consented(server, true)),
            State::Ready(server) => Some(ServerConfig::clone(server)),
            State::Untrusted(_) if by_name => {
                notes.push(format!("{}; `{name}` stays as it was", untrusted(name, configured)));
                before.cloned()
            }
            State::Untrusted(_) => {
                notes.push(untrusted(name, configured));
                None
            }
            State::Broken(problems) => {
                let kept = before.is_some();
                let becomes = if kept { "stays as it was" } else { "is left out" };
                notes.push(format!("`{name}` {becomes}: {}", brief(problems)));
                before.cloned()
            }
        }
    }

    fn permissions(
        &self,
        config: &Config,
        servers: &[ServerConfig],
        notes: &mut Vec<String>,
    ) -> Permissions {
        let policy = Policy::of(config, self.rules.clone());
        let (permissions, found) = Permissions::new(&policy, servers);
        let of_files = found.errors.iter().filter(|(rule, _)| rule.source != Source::Session);
        notes.extend(of_files.map(|(rule, error)| format!("the rule {rule}: {error}")));
        permissions
    }
}

/// All that can be, with what keeps the others from it.
fn all(config: &Config, notes: &mut Vec<String>) -> Result<Vec<ServerConfig>, Failure> {
    let mut broken: Vec<Problems> = Vec::new();
    let mut servers = Vec::new();
    for (name, configured) in &config.servers {
        match &configured.state {
            State::Ready(server) if !server.enabled => {}
            State::Ready(server) => {
                if !server.auto_connect {
                    notes.push(format!(
                        "`{name}` is not connected to, as its entry says; --server {name} would"
                    ));
                }
                servers.push(ServerConfig::clone(server));
            }
            State::Untrusted(_) => notes.push(untrusted(name, configured)),
            State::Broken(problems) => {
                notes.push(format!("`{name}` is left out: {}", brief(problems)));
                broken.push(problems.clone());
            }
        }
    }
    for fault in &config.faults {
        let file = configured::file(fault);
        notes.push(format!("{file} cannot be used, and `spar config check` says why"));
    }
    if servers.iter().any(|server| server.auto_connect) {
        return Ok(servers);
    }
    let wrong = config.faults.iter().filter_map(|fault| match fault {
        Fault::Wrong(problems) => Some(problems.clone()),
        Fault::Unreadable { .. } => None,
    });
    broken.extend(wrong);
    if !broken.is_empty() {
        return Err(Failure::Script(broken));
    }
    let why = match notes.is_empty() {
        true => String::new(),
        false => format!(": {}", notes.join("; ")),
    };
    Err(Failure::Usage(format!(
        "there is no server to serve{why}; `spar config add NAME -- COMMAND` adds one"
    )))
}

/// An entry that somebody named. Of one that is not trusted nothing is allowed that
/// its file says.
fn consented(server: &ServerConfig, trusted: bool) -> ServerConfig {
    let mut server = ServerConfig { auto_connect: true, ..server.clone() };
    if !trusted {
        server.rules.allow.clear();
    }
    server
}

fn untrusted(name: &str, configured: &Configured) -> String {
    let file = configured.origin.file.display();
    format!(
        "`{name}` is not started, since {file} is not trusted; `spar config trust` changes that"
    )
}

/// The first thing that is wrong, in one line.
fn brief(problems: &Problems) -> String {
    let first = problems.iter().next();
    let Some(first) = first else { return problems.source().name().to_owned() };
    let at = problems.source().position(first.span.start);
    format!("{}:{}:{}: {}", problems.source().name(), at.line, at.column, first.message)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

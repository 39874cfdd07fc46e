//! What commands work on: the servers, their tools, and what is configured.

use std::cell::{Ref, RefCell};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_host::config::{Config, Rules, ServerConfig, State};
use sparring_host::manager::{Connection, Manager, Reading};
use sparring_host::permissions::{Findings, Permissions};
use sparring_host::registry::{Registered, Registry};
use sparring_script::did_you_mean;
use tokio::sync::mpsc;

use super::asking::{Asking, Beside};
use super::log::Log;
use crate::failure::Failure;
use crate::host::{Again, Host, Source};
use crate::output::Printer;

/// What commands work on.
pub(super) struct Desk<'a> {
    pub(super) printer: &'a Printer,
    pub(super) manager: Manager,
    pub(super) registry: Arc<Registry>,
    /// Makes requests whose servers are answered.
    pub(super) asking: Asking,
    /// What comes beside them, until somebody takes it.
    beside: RefCell<Option<mpsc::UnboundedReceiver<Beside>>>,
    /// What has happened to servers.
    log: RefCell<Log>,
    force: Arc<Force>,
}

/// What is in force. Files that change, change it too.
pub(super) struct Force {
    source: Source,
    manager: Manager,
    registry: Arc<Registry>,
    standing: Mutex<Standing>,
}

struct Standing {
    config: Arc<Config>,
    rules: Rules,
}

impl<'a> Desk<'a> {
    pub(super) fn new(host: &Host, printer: &'a Printer) -> Self {
        let standing = Standing { config: Arc::clone(&host.config), rules: host.rules() };
        let force = Force {
            source: host.source.clone(),
            manager: host.manager.clone(),
            registry: Arc::clone(&host.registry),
            standing: Mutex::new(standing),
        };
        let (asking, beside) = Asking::new(host.manager.clone());
        Desk {
            asking,
            beside: RefCell::new(Some(beside)),
            printer,
            manager: host.manager.clone(),
            registry: Arc::clone(&host.registry),
            log: RefCell::default(),
            force: Arc::new(force),
        }
    }

    /// What comes beside requests; nothing where somebody has taken it before.
    pub(super) fn beside(&self) -> mpsc::UnboundedReceiver<Beside> {
        self.beside.take().unwrap_or_else(|| mpsc::unbounded_channel().1)
    }

    /// What is configured.
    pub(super) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.force.standing().config)
    }

    /// The rules of this run.
    pub(super) fn rules(&self) -> Rules {
        self.force.standing().rules.clone()
    }

    /// Puts other rules of this run in force, unless one of them means nothing;
    /// gives what there is to say of them.
    ///
    /// # Errors
    /// When one means nothing.
    pub(super) fn set_rules(&self, rules: Rules) -> Result<Vec<String>, Failure> {
        let servers = self.manager.servers();
        let servers = servers.iter().map(|server| &*server.config);
        let before = self.findings(&self.rules()).errors;
        let (permissions, findings) =
            Permissions::about_these(&self.config(), rules.clone(), servers);
        if let Some((_, error)) = findings.errors.iter().find(|error| !before.contains(error)) {
            return Err(Failure::Usage(error.to_string()));
        }
        self.registry.set_permissions(permissions);
        self.force.standing().rules = rules;
        Ok(findings.notes)
    }

    /// Reads the files again: the servers that there are to be, and what there is
    /// to say of them.
    pub(super) async fn read_again(&self) -> Result<(Vec<ServerConfig>, Vec<String>), Failure> {
        let force = Arc::clone(&self.force);
        let read = tokio::task::spawn_blocking(move || force.read(true));
        read.await.map_err(|error| Failure::System(std::io::Error::other(error)))?
    }

    /// Reads files when they have changed, for a manager that follows them. What
    /// there is to say goes to `tell`.
    pub(super) fn reader(
        &self,
        tell: impl Fn(String) + Send + Sync + 'static,
    ) -> impl Fn() -> Reading + Send + Sync + 'static {
        let force = Arc::clone(&self.force);
        move || {
            let read = force.read(false);
            let servers = read.map_err(|failure| failure.to_string()).map(|(servers, notes)| {
                notes.into_iter().for_each(&tell);
                servers
            });
            Reading { servers, files: force.files() }
        }
    }

    /// The connection of one server, or those of all that are connected.
    ///
    /// # Errors
    /// As [`Desk::connection`].
    pub(super) fn connections(&self, server: Option<&String>) -> Result<Vec<Connection>, Failure> {
        match server {
            Some(server) => self.connection(server).map(|it| vec![it]),
            None => Ok(self.manager.list()),
        }
    }

    /// The connection to a server.
    ///
    /// # Errors
    /// When there is no such server, or it is not connected.
    pub(super) fn connection(&self, server: &str) -> Result<Connection, Failure> {
        self.known(server)?;
        self.manager.get(server).ok_or_else(|| {
            let state = self.manager.state(server).map_or("not configured", |state| state.name());
            Failure::Usage(format!(
                "server `{server}` is not connected: it is {state}; /mcp connect {server} connects \
                 it"
            ))
        })
    }

    /// Whether there is such a server to be connected.
    ///
    /// # Errors
    /// When there is none; the error says what may have been meant, or why it
    /// cannot be connected.
    pub(super) fn known(&self, server: &str) -> Result<(), Failure> {
        let servers = self.manager.servers();
        let mut names = servers.iter().map(|it| it.config.name.as_str());
        if names.any(|name| name == server) {
            return Ok(());
        }
        let config = self.config();
        let Some(configured) = config.servers.get(server) else {
            let names = servers.iter().map(|it| it.config.name.as_str());
            let meant = did_you_mean(server, names).map(|meant| format!("; {meant}"));
            let meant = meant.unwrap_or_default();
            return Err(Failure::Usage(format!("no server is called `{server}`{meant}")));
        };
        let why = match &configured.state {
            State::Broken(problems) => return Err(Failure::Script(vec![problems.clone()])),
            _ if !configured.enabled => {
                format!("disabled; `spar config enable {server}` changes that")
            }
            State::Untrusted(_) => {
                format!(
                    "in a file that is not trusted; `spar config trust` trusts it, and \
                     --server {server} this entry once"
                )
            }
            State::Ready(_) => "not among those that --server names".to_owned(),
        };
        Err(Failure::Usage(format!("server `{server}` is {why}")))
    }

    /// A tool of a server, hidden or not.
    ///
    /// # Errors
    /// When the server has none of that name.
    pub(super) fn tool(&self, server: &str, tool: &str) -> Result<Registered, Failure> {
        let hidden = self.registry.hidden().into_iter().map(|(tool, _)| tool);
        let all: Vec<_> = self.registry.tools().into_iter().chain(hidden).collect();
        let of_server = || all.iter().filter(|it| *it.server == *server);
        of_server().find(|it| it.tool.name == tool).cloned().ok_or_else(|| {
            let meant = did_you_mean(tool, of_server().map(|it| it.tool.name.as_str()));
            let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
            Failure::Usage(format!("server `{server}` has no tool '{tool}'{meant}"))
        })
    }

    /// What has happened to servers.
    pub(super) fn log(&self) -> Ref<'_, Log> {
        self.log.borrow()
    }

    /// Keeps what has happened to a server, and whether it is connected now, if
    /// that says so.
    pub(super) fn note_down(&self, server: &str, text: &str, connected: Option<bool>) {
        let mut log = self.log.borrow_mut();
        log.add(server, text);
        if let Some(connected) = connected {
            log.set_connected(server, connected);
        }
    }

    fn findings(&self, rules: &Rules) -> Findings {
        let servers = self.manager.servers();
        let servers = servers.iter().map(|server| &*server.config);
        Permissions::about_these(&self.config(), rules.clone(), servers).1
    }
}

impl Force {
    /// Reads all files, and puts the rules in force that they have.
    fn read(&self, ask: bool) -> Result<(Vec<ServerConfig>, Vec<String>), Failure> {
        let Again { config, servers, mut notes } = self.source.read_again(&self.manager, ask)?;
        let mut standing = self.standing();
        let (permissions, findings) =
            Permissions::about_these(&config, standing.rules.clone(), &servers);
        notes.extend(findings.errors.iter().map(|(_, error)| error.to_string()));
        notes.extend(findings.notes);
        self.registry.set_permissions(permissions);
        standing.config = Arc::new(config);
        Ok((servers, notes))
    }

    fn files(&self) -> Vec<PathBuf> {
        self.source.files()
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

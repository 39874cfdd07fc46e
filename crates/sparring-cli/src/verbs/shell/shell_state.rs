//! The state that commands share: the servers, their tools, and the configuration.

use std::cell::{Ref, RefCell};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use sparring_host::config::{Config, EntryState, Rules, ServerConfig};
use sparring_host::manager::{Connection, LoadedConfig, Manager};
use sparring_host::permissions::{Findings, Permissions};
use sparring_host::registry::{RegisteredTool, Registry};
use sparring_peer::Response;
use sparring_script::did_you_mean;
use sparring_wire::RawJson;
use tokio::sync::mpsc;

use super::event_log::EventLog;
use crate::args::text_source::to_one_line;
use crate::command_error::CommandError;
use crate::host::{ConfigSource, Host, ReloadedConfig};
use crate::output::Printer;
use crate::server_questions::{InteractiveRequests, RequestEvent};

/// The state that commands share.
pub(super) struct ShellState<'a> {
    pub(super) printer: &'a Printer,
    pub(super) manager: Manager,
    pub(super) registry: Arc<Registry>,
    /// Sends requests.
    pub(super) requests: InteractiveRequests,
    /// Questions and progress of requests, until the loop takes the receiver.
    request_events: RefCell<Option<mpsc::UnboundedReceiver<RequestEvent>>>,
    /// The result of the current command as JSON.
    result: RefCell<Option<String>>,
    /// The events of servers.
    log: RefCell<EventLog>,
    active: Arc<ActiveConfig>,
}

/// The configuration in use. A reload replaces it.
pub(super) struct ActiveConfig {
    source: ConfigSource,
    manager: Manager,
    registry: Arc<Registry>,
    current: Mutex<ConfigAndRules>,
}

struct ConfigAndRules {
    config: Arc<Config>,
    rules: Rules,
}

impl<'a> ShellState<'a> {
    pub(super) fn new(host: &Host, printer: &'a Printer) -> Self {
        let current = ConfigAndRules { config: Arc::clone(&host.config), rules: host.rules() };
        let active = ActiveConfig {
            source: host.source.clone(),
            manager: host.manager.clone(),
            registry: Arc::clone(&host.registry),
            current: Mutex::new(current),
        };
        let (requests, request_events) =
            InteractiveRequests::new(host.manager.clone(), host.roots.result());
        ShellState {
            requests,
            request_events: RefCell::new(Some(request_events)),
            printer,
            manager: host.manager.clone(),
            registry: Arc::clone(&host.registry),
            result: RefCell::default(),
            log: RefCell::default(),
            active: Arc::new(active),
        }
    }

    /// Takes the receiver of request events; an empty one if it was taken before.
    pub(super) fn take_request_events(&self) -> mpsc::UnboundedReceiver<RequestEvent> {
        self.request_events.take().unwrap_or_else(|| mpsc::unbounded_channel().1)
    }

    /// Sets the result of the current command for `--json`. Returns false without that flag,
    /// and the command then prints text.
    pub(super) fn set_result(&self, result: impl FnOnce() -> Value) -> bool {
        self.printer.is_json() && self.set_raw_result(|| Some(result().to_string()))
    }

    /// The same for a response, as the server spelled it.
    pub(super) fn set_response(&self, response: &Response) -> bool {
        let raw = || response.result().map(|it| to_one_line(&RawJson::from(it)).text().to_owned());
        self.printer.is_json() && self.set_raw_result(raw)
    }

    fn set_raw_result(&self, result: impl FnOnce() -> Option<String>) -> bool {
        *self.result.borrow_mut() = result();
        true
    }

    /// Takes the result of the current command.
    pub(super) fn take_result(&self) -> Option<String> {
        self.result.take()
    }

    /// The names of all servers that can be connected.
    pub(super) fn server_names(&self) -> Vec<String> {
        self.manager.servers().iter().map(|server| server.config.name.clone()).collect()
    }

    pub(super) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.active.current().config)
    }

    /// The rules of this run.
    pub(super) fn rules(&self) -> Rules {
        self.active.current().rules.clone()
    }

    /// Replaces the rules of this run, unless a new one is invalid. Returns notes about
    /// them.
    ///
    /// # Errors
    /// When a rule is invalid.
    pub(super) fn set_rules(&self, rules: Rules) -> Result<Vec<String>, CommandError> {
        let servers = self.manager.servers();
        let servers = servers.iter().map(|server| &*server.config);
        let before = self.rule_findings(&self.rules()).errors;
        let (permissions, findings) =
            Permissions::for_servers(&self.config(), rules.clone(), servers);
        if let Some((_, error)) = findings.errors.iter().find(|error| !before.contains(error)) {
            return Err(CommandError::Usage(error.to_string()));
        }
        self.registry.set_permissions(permissions);
        self.active.current().rules = rules;
        Ok(findings.notes)
    }

    /// Reads the files again. Returns the servers to use, and notes.
    pub(super) async fn reload(&self) -> Result<(Vec<ServerConfig>, Vec<String>), CommandError> {
        let active = Arc::clone(&self.active);
        let read = tokio::task::spawn_blocking(move || active.read(true));
        read.await.map_err(|error| CommandError::System(std::io::Error::other(error)))?
    }

    /// Returns the function that reads changed files for the manager. Notes go to `report_note`.
    pub(super) fn config_reader(
        &self,
        report_note: impl Fn(String) + Send + Sync + 'static,
    ) -> impl Fn() -> LoadedConfig + Send + Sync + 'static {
        let active = Arc::clone(&self.active);
        move || {
            let read = active.read(false);
            let servers = read.map_err(|failure| failure.to_string()).map(|(servers, notes)| {
                notes.into_iter().for_each(&report_note);
                servers
            });
            LoadedConfig { servers, files: active.files() }
        }
    }

    /// Returns the connection of one server, or all connections.
    ///
    /// # Errors
    /// As [`ShellState::connection`].
    pub(super) fn connections(
        &self,
        server: Option<&String>,
    ) -> Result<Vec<Connection>, CommandError> {
        match server {
            Some(server) => self.connection(server).map(|it| vec![it]),
            None => Ok(self.manager.connections()),
        }
    }

    /// Returns the connection to a server.
    ///
    /// # Errors
    /// When the server is unknown or not connected.
    pub(super) fn connection(&self, server: &str) -> Result<Connection, CommandError> {
        self.check_server(server)?;
        self.manager.get(server).ok_or_else(|| {
            let state = self.manager.state(server).map_or("not configured", |state| state.name());
            CommandError::Usage(format!(
                "server `{server}` is {state}; connect it with `connect {server}`"
            ))
        })
    }

    /// Checks that a server can be connected.
    ///
    /// # Errors
    /// When it cannot; the error contains a suggestion or the reason.
    pub(super) fn check_server(&self, server: &str) -> Result<(), CommandError> {
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
            return Err(CommandError::Usage(format!("no server named `{server}`{meant}")));
        };
        let why = match &configured.state {
            EntryState::Invalid(problems) => {
                return Err(CommandError::Script(vec![problems.clone()]));
            }
            _ if !configured.enabled => {
                format!("disabled; enable it with `spar config enable {server}`")
            }
            EntryState::Untrusted(_) => {
                format!(
                    "in an untrusted file; run `spar config trust`, or use --server {server} for \
                     one run"
                )
            }
            EntryState::Ready(_) if self.active.source.waits_for_trust(&config) => format!(
                "in a file that has changed since the start; run `spar config trust {}`",
                configured.origin.file.display()
            ),
            EntryState::Ready(_) => "not selected by --server".to_owned(),
        };
        Err(CommandError::Usage(format!("server `{server}` is {why}")))
    }

    /// Returns a tool of a server, hidden or not.
    ///
    /// # Errors
    /// When the server has no such tool.
    pub(super) fn tool(&self, server: &str, tool: &str) -> Result<RegisteredTool, CommandError> {
        let hidden = self.registry.hidden().into_iter().map(|(tool, _)| tool);
        let all: Vec<_> = self.registry.tools().into_iter().chain(hidden).collect();
        let of_server = || all.iter().filter(|it| *it.server == *server);
        of_server().find(|it| it.tool.name == tool).cloned().ok_or_else(|| {
            let meant = did_you_mean(tool, of_server().map(|it| it.tool.name.as_str()));
            let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
            CommandError::Usage(format!("server `{server}` has no tool '{tool}'{meant}"))
        })
    }

    pub(super) fn log(&self) -> Ref<'_, EventLog> {
        self.log.borrow()
    }

    /// Logs an event of a server, and stores the new state of the connection if it changed.
    pub(super) fn log_event(&self, server: &str, text: &str, connected: Option<bool>) {
        let mut log = self.log.borrow_mut();
        log.add(server, text);
        if let Some(connected) = connected {
            log.set_connected(server, connected);
        }
    }

    fn rule_findings(&self, rules: &Rules) -> Findings {
        let servers = self.manager.servers();
        let servers = servers.iter().map(|server| &*server.config);
        Permissions::for_servers(&self.config(), rules.clone(), servers).1
    }
}

impl ActiveConfig {
    /// Reads all files, and applies their rules.
    fn read(&self, ask: bool) -> Result<(Vec<ServerConfig>, Vec<String>), CommandError> {
        let ReloadedConfig { config, servers, mut notes } =
            self.source.reload(&self.manager, ask)?;
        let mut current = self.current();
        let (permissions, findings) =
            Permissions::for_servers(&config, current.rules.clone(), &servers);
        notes.extend(findings.errors.iter().map(|(_, error)| error.to_string()));
        notes.extend(findings.notes);
        self.registry.set_permissions(permissions);
        current.config = Arc::new(config);
        Ok((servers, notes))
    }

    fn files(&self) -> Vec<PathBuf> {
        self.source.files()
    }

    fn current(&self) -> MutexGuard<'_, ConfigAndRules> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

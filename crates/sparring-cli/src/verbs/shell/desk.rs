//! What commands work on: the servers, their tools, and what is configured.

use std::cell::{Ref, RefCell};
use std::sync::Arc;

use sparring_host::config::{Config, State};
use sparring_host::manager::{Connection, Manager};
use sparring_host::registry::{Registered, Registry};
use sparring_script::did_you_mean;

use super::log::Log;
use crate::failure::Failure;
use crate::host::{Again, Host};
use crate::output::Printer;

/// What commands work on.
pub(super) struct Desk<'a> {
    pub(super) printer: &'a Printer,
    pub(super) manager: Manager,
    pub(super) registry: Arc<Registry>,
    /// What the files say, and how they are read again.
    pub(super) again: Arc<Again>,
    /// What has happened to servers.
    log: RefCell<Log>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(host: &Host, again: Again, printer: &'a Printer) -> Self {
        Desk {
            printer,
            manager: host.manager.clone(),
            registry: Arc::clone(&host.registry),
            again: Arc::new(again),
            log: RefCell::default(),
        }
    }

    /// What is configured.
    pub(super) fn config(&self) -> Arc<Config> {
        self.again.config()
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
}

//! The task that owns the set of servers: starts one task for each, and compares
//! configurations on reload.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};

use super::connection::Connection;
use super::error::Error;
use super::event::Event;
use super::server::{Command, ManagerContext, Server, ServerHandle};
use super::task::OwnedTask;
use crate::config::ServerConfig;

/// The differences between two configurations. Each server is in exactly one of
/// the first five lists.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// New servers. They are connected if their entry says so.
    pub added: Vec<Arc<str>>,
    /// Servers that are no longer configured. They were shut down.
    pub removed: Vec<Arc<str>>,
    /// Servers with another target, protocol or `enabled`. Connections are
    /// closed and made again with the new entry; if that fails, the old
    /// connection does not return.
    pub changed: Vec<Arc<str>>,
    /// Servers whose rules or limits changed; they keep their connection.
    pub policy_only: Vec<Arc<str>>,
    /// Servers without a change, except possibly of the entry's position.
    pub untouched: Vec<Arc<str>>,
    /// Servers of the lists above that had to be connected, and failed.
    pub failed: Vec<(Arc<str>, Error)>,
}

impl Changes {
    /// Returns true if nothing has changed.
    pub fn is_empty(&self) -> bool {
        let changes = [&self.added, &self.removed, &self.changed, &self.policy_only];
        changes.iter().all(|names| names.is_empty())
    }
}

/// The handles of all servers, by name.
pub(super) type ServerHandles = Arc<BTreeMap<Arc<str>, ServerHandle>>;

/// A command to the set's task.
pub(super) enum SetCommand {
    /// Replaces the servers.
    Reload(Vec<ServerConfig>, oneshot::Sender<StartedReload>),
    /// Removes all servers; answered when all have ended.
    ShutDown(oneshot::Sender<()>),
}

/// The result of connecting.
type Outcome = oneshot::Receiver<Result<Connection, Error>>;

/// A reload that is in force, with its pending results.
pub(super) struct StartedReload {
    pub(super) changes: Arc<Changes>,
    pub(super) connecting: Vec<(Arc<str>, Outcome)>,
    pub(super) leaving: Vec<oneshot::Receiver<()>>,
}

/// The state of the task.
pub(super) struct ServerSet {
    context: Arc<ManagerContext>,
    servers: BTreeMap<Arc<str>, RunningServer>,
    /// Removed servers whose task has not ended yet.
    leaving: Vec<(Arc<str>, OwnedTask)>,
    handles: watch::Sender<ServerHandles>,
    set_commands: mpsc::UnboundedReceiver<SetCommand>,
}

/// A server with its task.
struct RunningServer {
    handle: ServerHandle,
    task: OwnedTask,
    /// The entry that was last sent to the task, which may not have handled it
    /// yet.
    config: Arc<ServerConfig>,
}

impl ServerSet {
    /// Starts with these servers, none of them connected.
    pub(super) fn new(
        context: Arc<ManagerContext>,
        servers: Vec<ServerConfig>,
    ) -> (ServerSet, mpsc::UnboundedSender<SetCommand>, watch::Receiver<ServerHandles>) {
        let (sender, set_commands) = mpsc::unbounded_channel();
        let (handles, seen) = watch::channel(ServerHandles::default());
        let (leaving, none) = (Vec::new(), BTreeMap::new());
        let mut set = ServerSet { context, servers: none, leaving, handles, set_commands };
        for config in servers {
            let name: Arc<str> = config.name.as_str().into();
            let running = set.start_server(&name, Arc::new(config));
            set.servers.insert(name, running);
        }
        set.publish();
        (set, sender, seen)
    }

    /// Runs until the manager, and with it all of its servers, is gone.
    pub(super) async fn run(mut self) {
        while let Some(command) = self.set_commands.recv().await {
            match command {
                SetCommand::Reload(servers, reply) => {
                    let started = self.reload(servers);
                    self.context.events.send(Event::Reloaded(Arc::clone(&started.changes)));
                    let _ = reply.send(started);
                }
                SetCommand::ShutDown(done) => {
                    self.shut_down().await;
                    let _ = done.send(());
                    return;
                }
            }
        }
    }

    /// Sends each server its new entry without waiting, so that later commands
    /// already find the new set.
    fn reload(&mut self, servers: Vec<ServerConfig>) -> StartedReload {
        self.leaving.retain(|(_, task)| !task.is_finished());
        let mut changes = Changes::default();
        let mut connecting = Vec::new();
        let mut before = std::mem::take(&mut self.servers);
        let named = servers.into_iter().map(|config| (config.name.as_str().into(), config));
        let named: BTreeMap<Arc<str>, ServerConfig> = named.collect();
        for (name, config) in named {
            let config = Arc::new(config);
            let (reply, outcome) = oneshot::channel();
            let known = before.remove(&name);
            let list = match known.as_ref().map(|known| compare_entries(&known.config, &config)) {
                None => &mut changes.added,
                Some(EntryDifference::Nothing) => &mut changes.untouched,
                Some(EntryDifference::Policy) => &mut changes.policy_only,
                Some(EntryDifference::Server) => &mut changes.changed,
            };
            list.push(Arc::clone(&name));
            let running = match known {
                Some(known) => {
                    let command = Command::Configure(Arc::clone(&config), reply);
                    let _ = known.handle.commands.send(command);
                    RunningServer { config, ..known }
                }
                None => {
                    let connects = config.enabled && config.auto_connect;
                    let running = self.start_server(&name, config);
                    if connects {
                        let _ = running.handle.commands.send(Command::Connect(reply));
                    }
                    running
                }
            };
            self.servers.insert(Arc::clone(&name), running);
            connecting.push((name, outcome));
        }
        let mut leaving = Vec::new();
        for (name, running) in before {
            leaving.push(self.remove(&name, running));
            changes.removed.push(name);
        }
        self.publish();
        StartedReload { changes: Arc::new(changes), connecting, leaving }
    }

    /// Starts the task of a server, after the end of a removed server with the
    /// same name.
    fn start_server(&mut self, name: &Arc<str>, config: Arc<ServerConfig>) -> RunningServer {
        let gone = self.leaving.iter().position(|(leaving, _)| leaving == name);
        let before = gone.map(|index| self.leaving.swap_remove(index).1);
        let (context, entry) = (Arc::clone(&self.context), Arc::clone(&config));
        let (handle, task) = Server::start(Arc::clone(name), entry, context, before);
        RunningServer { handle, task, config }
    }

    fn remove(&mut self, name: &Arc<str>, running: RunningServer) -> oneshot::Receiver<()> {
        let (done, left) = oneshot::channel();
        let _ = running.handle.commands.send(Command::Stop(done));
        self.leaving.push((Arc::clone(name), running.task));
        left
    }

    async fn shut_down(&mut self) {
        for (name, running) in std::mem::take(&mut self.servers) {
            drop(self.remove(&name, running));
        }
        self.publish();
        for (_, task) in self.leaving.drain(..) {
            task.join().await;
        }
    }

    fn publish(&self) {
        let handles_by_name =
            self.servers.iter().map(|(name, it)| (Arc::clone(name), it.handle.clone()));
        self.handles.send_replace(Arc::new(handles_by_name.collect()));
    }
}

/// The difference between an entry and the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryDifference {
    Nothing,
    Policy,
    Server,
}

/// Compares two entries of the same name. The position of an entry is ignored.
fn compare_entries(old: &ServerConfig, new: &ServerConfig) -> EntryDifference {
    if old.target != new.target || old.protocol != new.protocol || old.enabled != new.enabled {
        return EntryDifference::Server;
    }
    let moved = ServerConfig { origin: new.origin.clone(), ..old.clone() };
    if moved == *new { EntryDifference::Nothing } else { EntryDifference::Policy }
}

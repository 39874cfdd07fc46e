//! The task of one server. Only this task connects, loses and disconnects the
//! server. Others send it commands and read its state.

mod connect;

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use sparring_peer::{Client, ClientBuilder};
use sparring_transport::Container;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::abortable_link::AbortableLinks;
use super::connection::Connection;
use super::connector::Connector;
use super::error::Error;
use super::event::{Event, EventSender};
use super::server_state::ServerState;
use super::task::OwnedTask;
use crate::config::ServerConfig;
use crate::permissions::Fingerprint;
use connect::OpenConnection;

/// A server's entry with its fingerprint. Every call compares fingerprints, so
/// it is computed only when the entry changes.
pub(super) struct ConfigEntry {
    pub(super) config: Arc<ServerConfig>,
    pub(super) fingerprint: Fingerprint,
}

impl ConfigEntry {
    pub(super) fn new(config: Arc<ServerConfig>) -> ConfigEntry {
        ConfigEntry { fingerprint: Fingerprint::from_server(&config), config }
    }
}

impl Deref for ConfigEntry {
    type Target = ServerConfig;

    fn deref(&self) -> &ServerConfig {
        &self.config
    }
}

/// Receives the result of connecting.
pub(super) type Reply = oneshot::Sender<Result<Connection, Error>>;

/// A command to a server's task.
pub(super) enum Command {
    /// Connects, if the server is not connected; at once, if it was lost.
    Connect(Reply),
    /// Closes the connection, if there is one, and connects again.
    Reconnect(Reply),
    /// Closes the connection and does not retry.
    Disconnect(oneshot::Sender<()>),
    /// Applies a new entry. The sender gets the connection that this causes, or
    /// is dropped if it causes none.
    Configure(Arc<ServerConfig>, Reply),
    /// Closes the connection and ends the task.
    Stop(oneshot::Sender<()>),
}

impl Command {
    /// Returns true if the command can be handled without a new connection: the
    /// entry has the same target and protocol.
    fn is_policy_change(&self, config: &ServerConfig) -> bool {
        match self {
            Command::Configure(new, _) => {
                new.target == config.target && new.protocol == config.protocol && new.enabled
            }
            _ => false,
        }
    }
}

/// Shared by all servers of a manager.
pub(super) struct ManagerContext {
    pub(super) connector: Arc<dyn Connector>,
    /// Every client is built from this.
    pub(super) client: ClientBuilder,
    pub(super) events: EventSender,
    pub(super) links: AbortableLinks,
    /// The number of the next connection.
    pub(super) connections: AtomicU64,
}

/// Sends commands to a server's task and reads its state. Cheap to clone.
#[derive(Clone)]
pub(super) struct ServerHandle {
    pub(super) commands: mpsc::UnboundedSender<Command>,
    pub(super) config: watch::Receiver<ConfigEntry>,
    pub(super) state: watch::Receiver<ServerState>,
}

/// The state of the task.
pub(super) struct Server {
    name: Arc<str>,
    context: Arc<ManagerContext>,
    config: watch::Sender<ConfigEntry>,
    state: watch::Sender<ServerState>,
    commands: mpsc::UnboundedReceiver<Command>,
    /// True if the server should be connected.
    wanted: bool,
    /// The number of tries since the connection was last stable.
    tries: u32,
}

/// The current phase of the task.
enum Phase {
    /// Waits for a command.
    Idle,
    /// Connects, and answers these callers.
    Connect(Vec<Reply>),
    /// Is connected.
    Connected(Box<OpenConnection>),
    /// Connects again at this time.
    RetryAt(Instant),
    /// Ends the task.
    Stop,
}

impl Server {
    /// Starts the task of a server, which connects on command. It first waits
    /// for the end of `before`, the previous task of the same name.
    pub(super) fn start(
        name: Arc<str>,
        config: Arc<ServerConfig>,
        context: Arc<ManagerContext>,
        before: Option<OwnedTask>,
    ) -> (ServerHandle, OwnedTask) {
        let (sender, commands) = mpsc::unbounded_channel();
        let (state, seen) = watch::channel(resting_state(&config));
        let (config, known) = watch::channel(ConfigEntry::new(config));
        let server = Server { name, context, config, state, commands, wanted: false, tries: 0 };
        let handle = ServerHandle { commands: sender, config: known, state: seen };
        let task = OwnedTask::spawn(async move {
            if let Some(before) = before {
                before.join().await;
            }
            server.run().await;
        });
        (handle, task)
    }

    async fn run(mut self) {
        let mut phase = Phase::Idle;
        loop {
            phase = match phase {
                Phase::Idle => self.wait_for_command().await,
                Phase::Connect(waiting) => self.connect(waiting).await,
                Phase::Connected(open) => self.stay_connected(*open).await,
                Phase::RetryAt(until) => self.wait_for_retry(until).await,
                Phase::Stop => return,
            };
        }
    }

    /// Waits for a command.
    async fn wait_for_command(&mut self) -> Phase {
        match self.commands.recv().await {
            Some(command) => self.handle_command(command),
            None => Phase::Stop,
        }
    }

    /// Handles a command while the server is neither connected nor connecting.
    fn handle_command(&mut self, command: Command) -> Phase {
        match command {
            Command::Connect(reply) | Command::Reconnect(reply) => {
                if !self.config.borrow().enabled {
                    let _ = reply.send(Err(Error::Disabled { server: Arc::clone(&self.name) }));
                    return Phase::Idle;
                }
                self.tries = 0;
                Phase::Connect(vec![reply])
            }
            Command::Disconnect(done) => {
                self.wanted = false;
                self.set_resting_state();
                let _ = done.send(());
                Phase::Idle
            }
            Command::Configure(new, reply) => {
                let old = self.config.send_replace(ConfigEntry::new(Arc::clone(&new)));
                let newly = new.auto_connect && !(old.auto_connect && old.enabled);
                let same = old.target == new.target && old.protocol == new.protocol;
                let again = self.wanted && !(same && old.enabled);
                if new.enabled && (newly || again) {
                    self.tries = 0;
                    return Phase::Connect(vec![reply]);
                }
                if !new.enabled || !old.enabled {
                    self.set_resting_state();
                }
                Phase::Idle
            }
            Command::Stop(done) => {
                let _ = done.send(());
                Phase::Stop
            }
        }
    }

    /// Closes a connection gracefully, after or during connecting.
    async fn close(&mut self, client: Client, container: Option<Container>) {
        client.close().await;
        if let Some(left) = container.and_then(|container| container.leftover()) {
            let (server, what) = (Arc::clone(&self.name), left.into());
            self.context.events.send(Event::LeftRunning { server, what });
        }
    }

    /// Sets the state of a server that is not connected on purpose.
    fn set_resting_state(&self) {
        let state = resting_state(&self.config.borrow());
        self.set_state(state);
    }

    /// Sets the state and sends an event.
    fn set_state(&self, state: ServerState) {
        self.state.send_replace(state.clone());
        self.context.events.send(Event::State { server: Arc::clone(&self.name), state });
    }
}

/// The state of a server that is not connected on purpose.
fn resting_state(config: &ServerConfig) -> ServerState {
    if config.enabled { ServerState::Idle } else { ServerState::Disabled }
}

//! Connections to many servers. Each server has its own task, so that no server
//! waits for another or fails with it.
//!
//! A [`Manager`] takes [`ServerConfig`]s as they are. It neither reads
//! configuration files nor checks permissions.

mod abortable_link;
mod backoff;
mod config_watch;
mod connection;
mod connector;
mod error;
mod event;
mod list_refresher;
mod lists;
mod server;
mod server_set;
mod server_state;
mod task;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use sparring_peer::{ClientBuilder, ClientOptions};
use sparring_wire::types::{Prompt, Resource, ResourceTemplate, Tool};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::config::ServerConfig;
use abortable_link::AbortableLinks;
use event::EventSender;
use server::{Command, ManagerContext, Reply, ServerHandle};
use server_set::{ServerHandles, ServerSet, SetCommand, StartedReload};
use task::OwnedTask;

pub use config_watch::{ConfigWatch, LoadedConfig};
pub use connection::Connection;
pub use connector::{Connector, OpenFuture, TargetConnector};
pub use error::Error;
pub use event::{Event, Events};
pub use lists::{List, Lists};
pub use server_set::Changes;
pub use server_state::{ManagerStatus, ServerState, ServerStatus};

/// Maximum bytes of a connection's transcript, by default.
const TRANSCRIPT_LIMIT: usize = 1024 * 1024;

/// The manager that the whole process shares, which tests can replace.
static SHARED: Mutex<Option<Manager>> = Mutex::new(None);

/// The configured servers and their connections. Cheap to clone. Dropping the
/// last clone ends all connections at once and kills every child;
/// [`Manager::shut_down`] ends them gracefully.
#[derive(Clone)]
pub struct Manager(Arc<Inner>);

struct Inner {
    set_commands: mpsc::UnboundedSender<SetCommand>,
    handles: watch::Receiver<ServerHandles>,
    context: Arc<ManagerContext>,
    _set: OwnedTask,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.context.links.abort();
    }
}

/// Builds a [`Manager`].
#[must_use = "a builder does nothing until it builds"]
pub struct ManagerBuilder {
    servers: Vec<ServerConfig>,
    connector: Arc<dyn Connector>,
    client: ClientBuilder,
}

/// An item of a connected server's list.
#[derive(Debug, PartialEq)]
pub struct ServerItem<T> {
    /// The server.
    pub server: Arc<str>,
    /// The item.
    pub item: Arc<T>,
}

impl Manager {
    /// Creates a manager of these servers. None is connected yet.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn new(servers: impl IntoIterator<Item = ServerConfig>) -> Manager {
        Manager::builder().servers(servers).build()
    }

    /// Returns a builder.
    pub fn builder() -> ManagerBuilder {
        let (servers, connector) = (Vec::new(), Arc::new(TargetConnector));
        ManagerBuilder { servers, connector, client: Manager::default_client() }
    }

    /// The default client builder: its clients answer no requests of servers.
    pub fn default_client() -> ClientBuilder {
        let options =
            ClientOptions { max_transcript_bytes: TRANSCRIPT_LIMIT, ..ClientOptions::default() };
        ClientBuilder::with_options(options)
    }

    /// Connects to a server and fetches its lists; returns the current
    /// connection if there is one. The timeout of the server's entry applies to
    /// connecting, and again to fetching the lists.
    ///
    /// # Errors
    /// If no such server is configured, or connecting fails. A child that was
    /// started for it is then stopped.
    pub async fn connect(&self, name: &str) -> Result<Connection, Error> {
        request_connection(&self.handle(name)?, Command::Connect).await
    }

    /// Connects concurrently to all servers that are enabled and have
    /// `auto_connect`. A failure of one does not affect the others.
    pub async fn connect_all(&self) -> Vec<(Arc<str>, Result<Connection, Error>)> {
        let handles = self.handles();
        let wanted = handles.iter().filter(|(_, handle)| {
            let config = handle.config.borrow();
            config.enabled && config.auto_connect
        });
        join_all(wanted.map(|(name, handle)| async {
            (Arc::clone(name), request_connection(handle, Command::Connect).await)
        }))
        .await
    }

    /// Closes the connection to a server gracefully, or cancels connecting. The
    /// server stays disconnected until the next [`Manager::connect`].
    ///
    /// # Errors
    /// If no such server is configured.
    pub async fn disconnect(&self, name: &str) -> Result<(), Error> {
        disconnect(&self.handle(name)?).await
    }

    /// Closes all connections gracefully and concurrently.
    pub async fn disconnect_all(&self) {
        join_all(self.handles().values().map(disconnect)).await;
    }

    /// Closes the connection to a server, if there is one, and connects again.
    ///
    /// # Errors
    /// As [`Manager::connect`].
    pub async fn reconnect(&self, name: &str) -> Result<Connection, Error> {
        request_connection(&self.handle(name)?, Command::Reconnect).await
    }

    /// Replaces the configured servers. A server with the same target and
    /// protocol keeps its connection; a changed one is disconnected and
    /// connected again. Waits until that is done.
    ///
    /// # Errors
    /// If the manager has shut down.
    pub async fn reload(
        &self,
        servers: impl IntoIterator<Item = ServerConfig>,
    ) -> Result<Changes, Error> {
        let StartedReload { changes, connecting, leaving } =
            self.start_reload(servers.into_iter().collect()).await?;
        join_all(leaving).await;
        let outcomes = connecting.into_iter().map(|(name, outcome)| async {
            // A server that drops the sender did not have to connect.
            outcome.await.ok().and_then(Result::err).map(|error| (name, error))
        });
        let failed = join_all(outcomes).await.into_iter().flatten().collect();
        Ok(Changes { failed, ..Changes::clone(&changes) })
    }

    /// The open connections, by the names of their servers.
    pub fn connections(&self) -> Vec<Connection> {
        let handles = self.handles();
        handles.values().filter_map(|handle| handle.state.borrow().connection().cloned()).collect()
    }

    /// The connection to a server, if there is one.
    pub fn get(&self, name: &str) -> Option<Connection> {
        self.0.handles.borrow().get(name)?.state.borrow().connection().cloned()
    }

    /// Returns true if a server is connected.
    pub fn is_connected(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The state of a server; `None` if no such server is configured.
    pub fn state(&self, name: &str) -> Option<ServerState> {
        self.handles().get(name).map(|handle| handle.state.borrow().clone())
    }

    /// All configured servers with their states, by name.
    pub fn servers(&self) -> Vec<ServerStatus> {
        let status = |handle: &ServerHandle| ServerStatus {
            config: Arc::clone(&handle.config.borrow().config),
            state: handle.state.borrow().clone(),
        };
        self.handles().values().map(status).collect()
    }

    /// The tools of all connected servers.
    pub fn tools(&self) -> Vec<ServerItem<Tool>> {
        self.collect_items(Connection::tools)
    }

    /// The resources of all connected servers.
    pub fn resources(&self) -> Vec<ServerItem<Resource>> {
        self.collect_items(Connection::resources)
    }

    /// The resource templates of all connected servers.
    pub fn templates(&self) -> Vec<ServerItem<ResourceTemplate>> {
        self.collect_items(Connection::templates)
    }

    /// The prompts of all connected servers.
    pub fn prompts(&self) -> Vec<ServerItem<Prompt>> {
        self.collect_items(Connection::prompts)
    }

    /// Counts of servers and of their items.
    pub fn status(&self) -> ManagerStatus {
        ManagerStatus::from_servers(self.servers())
    }

    /// Subscribes to all events from now on.
    pub fn subscribe(&self) -> Events {
        self.0.context.events.subscribe()
    }

    /// Shuts all servers down gracefully and concurrently within that time, and aborts the
    /// others. Afterwards the manager has no servers and
    /// cannot connect any more. Returns true if all servers ended in time.
    pub async fn shut_down(&self, within: Duration) -> bool {
        let (done, over) = oneshot::channel();
        // The receiver is gone if the manager has shut down before.
        let _ = self.0.set_commands.send(SetCommand::ShutDown(done));
        let mut over = std::pin::pin!(over);
        let in_time = timeout(within, &mut over).await.is_ok();
        self.shut_down_now();
        if !in_time {
            let _ = over.await;
        }
        in_time
    }

    /// Aborts everything: every child is killed with its process group before
    /// this returns. A pending [`Manager::shut_down`] returns.
    pub fn shut_down_now(&self) {
        self.0.context.links.abort();
    }

    /// Applies a configuration without waiting for its connections.
    async fn start_reload(&self, servers: Vec<ServerConfig>) -> Result<StartedReload, Error> {
        let (reply, started) = oneshot::channel();
        let command = SetCommand::Reload(servers, reply);
        self.0.set_commands.send(command).map_err(|_| Error::ShutDown)?;
        started.await.map_err(|_| Error::ShutDown)
    }

    fn collect_items<T>(&self, list: impl Fn(&Connection) -> List<T>) -> Vec<ServerItem<T>> {
        let connections = self.connections();
        let each = connections.iter().flat_map(|connection| {
            let items = list(connection).items;
            let with_server = |item: &Arc<T>| ServerItem {
                server: Arc::clone(connection.server()),
                item: Arc::clone(item),
            };
            items.iter().map(with_server).collect::<Vec<_>>()
        });
        each.collect()
    }

    fn handles(&self) -> ServerHandles {
        self.0.handles.borrow().clone()
    }

    fn handle(&self, name: &str) -> Result<ServerHandle, Error> {
        if self.0.set_commands.is_closed() {
            return Err(Error::ShutDown);
        }
        let unknown = || Error::Unknown { server: name.to_owned() };
        self.handles().get(name).cloned().ok_or_else(unknown)
    }
}

impl Manager {
    /// The shared manager. The first call creates it without servers; so does
    /// the first call after the end of the runtime in which it was created.
    ///
    /// # Panics
    /// Outside of a tokio runtime, if the manager has to be created.
    pub fn shared() -> Manager {
        let mut shared = lock_shared();
        match &*shared {
            Some(manager) if !manager.0.set_commands.is_closed() => manager.clone(),
            _ => shared.insert(Manager::new([])).clone(),
        }
    }

    /// Replaces the shared manager and returns the previous one.
    pub fn share(manager: Manager) -> Option<Manager> {
        lock_shared().replace(manager)
    }

    /// Returns true if both handles belong to the same manager.
    pub fn is_same(&self, other: &Manager) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl ManagerBuilder {
    /// Adds servers. Of two with the same name the later one counts.
    pub fn servers(mut self, servers: impl IntoIterator<Item = ServerConfig>) -> Self {
        self.servers.extend(servers);
        self
    }

    /// Opens links with this connector instead of the servers' targets.
    pub fn connector(mut self, connector: impl Connector) -> Self {
        self.connector = Arc::new(connector);
        self
    }

    /// The builder of all clients: their identity and their answers. Revision
    /// and timeout come from each server's entry.
    pub fn client(mut self, client: ClientBuilder) -> Self {
        self.client = client;
        self
    }

    /// Builds the manager.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn build(self) -> Manager {
        let context = Arc::new(ManagerContext {
            connector: self.connector,
            client: self.client,
            events: EventSender::default(),
            links: AbortableLinks::default(),
            connections: AtomicU64::new(1),
        });
        let (set, set_commands, handles) = ServerSet::new(Arc::clone(&context), self.servers);
        let inner = Inner { set_commands, handles, context, _set: OwnedTask::spawn(set.run()) };
        Manager(Arc::new(inner))
    }
}

impl std::fmt::Debug for Manager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.handles().keys()).finish()
    }
}

async fn request_connection(
    handle: &ServerHandle,
    command: impl FnOnce(Reply) -> Command,
) -> Result<Connection, Error> {
    let (reply, outcome) = oneshot::channel();
    let _ = handle.commands.send(command(reply));
    outcome.await.unwrap_or(Err(Error::ShutDown))
}

async fn disconnect(handle: &ServerHandle) -> Result<(), Error> {
    let (done, over) = oneshot::channel();
    let _ = handle.commands.send(Command::Disconnect(done));
    over.await.map_err(|_| Error::ShutDown)
}

fn lock_shared() -> MutexGuard<'static, Option<Manager>> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

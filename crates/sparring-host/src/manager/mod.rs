//! Connections to many servers: each has a task of its own, so that none waits
//! for another or falls with it.
//!
//! A [`Manager`] takes [`ServerConfig`]s as they are; where they come from is
//! not its business, and neither is what may be called.

mod backoff;
mod connection;
mod connector;
mod entry;
mod error;
mod event;
mod follow;
mod keep;
mod leash;
mod lists;
mod reload;
mod server;
mod set;
mod shared;
mod state;
mod task;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use futures_util::future::join_all;
use sparring_peer::{ClientBuilder, ClientOptions};
use sparring_wire::types::{Prompt, Resource, ResourceTemplate, Tool};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::config::ServerConfig;
use event::Announcer;
use leash::Leashes;
use server::{Order, Reply, Seat, Shop};
use set::{Begun, Board, Set, Wish};
use task::Task;

pub use connection::Connection;
pub use connector::{Connector, Opening, ToTarget};
pub use error::Error;
pub use event::{Event, Events};
pub use follow::{Following, Reading};
pub use lists::{List, Lists};
pub use reload::Changes;
pub use state::{ServerStatus, State, Status};

/// How many bytes of its traffic a connection keeps, if nobody says otherwise.
const TRANSCRIPT: usize = 1024 * 1024;

/// The servers that are configured, and those of them that are connected. Cheap
/// to clone. With the last clone all connections end at once, and every child
/// is killed; [`Manager::shut_down`] ends them in good order.
#[derive(Clone)]
pub struct Manager(Arc<Inner>);

struct Inner {
    wishes: mpsc::UnboundedSender<Wish>,
    board: watch::Receiver<Board>,
    shop: Arc<Shop>,
    _set: Task,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.shop.leashes.cut();
    }
}

/// A manager to be.
#[must_use = "a builder does nothing until it builds"]
pub struct ManagerBuilder {
    servers: Vec<ServerConfig>,
    connector: Arc<dyn Connector>,
    client: ClientBuilder,
}

/// Something that a connected server offers.
#[derive(Debug, PartialEq)]
pub struct Offered<T> {
    /// The server.
    pub server: Arc<str>,
    /// What it offers.
    pub item: Arc<T>,
}

impl Manager {
    /// A manager of these servers. None is connected yet.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn new(servers: impl IntoIterator<Item = ServerConfig>) -> Manager {
        Manager::builder().servers(servers).build()
    }

    /// A manager that differs from the default.
    pub fn builder() -> ManagerBuilder {
        let (servers, connector) = (Vec::new(), Arc::new(ToTarget));
        ManagerBuilder { servers, connector, client: Manager::plain_client() }
    }

    /// What clients are made from, if nobody says otherwise: they answer nothing.
    pub fn plain_client() -> ClientBuilder {
        let options = ClientOptions { transcript_bytes: TRANSCRIPT, ..ClientOptions::default() };
        ClientBuilder::with_options(options)
    }

    /// Connects to a server and gets its lists; if it is connected, that
    /// connection is given. Connecting may take as long as its entry says, and
    /// the lists as long again.
    ///
    /// # Errors
    /// When there is no such server, or it cannot be connected to; the error
    /// says why. A child that was started for it is being ended then.
    pub async fn connect(&self, name: &str) -> Result<Connection, Error> {
        ask(&self.seat(name)?, Order::Connect).await
    }

    /// Connects to all servers that may be and are to be connected to by
    /// themselves, beside each other. What comes of one changes nothing for the
    /// others.
    pub async fn connect_all(&self) -> Vec<(Arc<str>, Result<Connection, Error>)> {
        let board = self.board();
        let wanted = board.iter().filter(|(_, seat)| {
            let config = seat.config.borrow();
            config.enabled && config.auto_connect
        });
        join_all(
            wanted
                .map(|(name, seat)| async { (Arc::clone(name), ask(seat, Order::Connect).await) }),
        )
        .await
    }

    /// Ends the connection to a server in good order, or gives up making it. It
    /// is not tried again until somebody asks.
    ///
    /// # Errors
    /// When there is no such server.
    pub async fn disconnect(&self, name: &str) -> Result<(), Error> {
        disconnect(&self.seat(name)?).await
    }

    /// Ends all connections in good order, beside each other.
    pub async fn disconnect_all(&self) {
        join_all(self.board().values().map(disconnect)).await;
    }

    /// Ends the connection to a server, if there is one, and makes another.
    ///
    /// # Errors
    /// As [`Manager::connect`].
    pub async fn reconnect(&self, name: &str) -> Result<Connection, Error> {
        ask(&self.seat(name)?, Order::Reconnect).await
    }

    /// Puts these servers in the place of those that are configured. A server
    /// that is reached as before keeps its connection; one that is not is ended
    /// and then connected in the new way. Waits for what comes of it.
    ///
    /// # Errors
    /// When the manager has shut down.
    pub async fn reload(
        &self,
        servers: impl IntoIterator<Item = ServerConfig>,
    ) -> Result<Changes, Error> {
        let Begun { changes, connecting, leaving } =
            self.begin_reload(servers.into_iter().collect()).await?;
        join_all(leaving).await;
        let outcomes = connecting.into_iter().map(|(name, outcome)| async {
            // Whoever has nothing to tell was not to be connected.
            outcome.await.ok().and_then(Result::err).map(|error| (name, error))
        });
        let failed = join_all(outcomes).await.into_iter().flatten().collect();
        Ok(Changes { failed, ..Changes::clone(&changes) })
    }

    /// The connections that stand, by the names of their servers.
    pub fn list(&self) -> Vec<Connection> {
        let board = self.board();
        board.values().filter_map(|seat| seat.state.borrow().connection().cloned()).collect()
    }

    /// The connection to a server, if there is one.
    pub fn get(&self, name: &str) -> Option<Connection> {
        self.0.board.borrow().get(name)?.state.borrow().connection().cloned()
    }

    /// Whether a server is connected.
    pub fn is_connected(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// How a server is; none where there is no such server.
    pub fn state(&self, name: &str) -> Option<State> {
        self.board().get(name).map(|seat| seat.state.borrow().clone())
    }

    /// All configured servers as they are, by name.
    pub fn servers(&self) -> Vec<ServerStatus> {
        let status = |seat: &Seat| ServerStatus {
            config: Arc::clone(&seat.config.borrow().config),
            state: seat.state.borrow().clone(),
        };
        self.board().values().map(status).collect()
    }

    /// The tools of all connected servers.
    pub fn tools(&self) -> Vec<Offered<Tool>> {
        self.offered(Connection::tools)
    }

    /// The resources of all connected servers.
    pub fn resources(&self) -> Vec<Offered<Resource>> {
        self.offered(Connection::resources)
    }

    /// The resource templates of all connected servers.
    pub fn templates(&self) -> Vec<Offered<ResourceTemplate>> {
        self.offered(Connection::templates)
    }

    /// The prompts of all connected servers.
    pub fn prompts(&self) -> Vec<Offered<Prompt>> {
        self.offered(Connection::prompts)
    }

    /// How all servers are, counted.
    pub fn status(&self) -> Status {
        Status::of(self.servers())
    }

    /// Tells of everything that happens from now on.
    pub fn subscribe(&self) -> Events {
        self.0.shop.announcer.subscribe()
    }

    /// Ends everything in good order, all servers beside each other, within
    /// that time; what is left by then ends at once. Afterwards there are no
    /// servers, and nothing can be connected any more. Says whether all ended in
    /// good order.
    pub async fn shut_down(&self, within: Duration) -> bool {
        let (done, over) = oneshot::channel();
        // One that is gone has nothing left to end.
        let _ = self.0.wishes.send(Wish::ShutDown(done));
        let mut over = std::pin::pin!(over);
        let in_time = timeout(within, &mut over).await.is_ok();
        self.shut_down_now();
        if !in_time {
            let _ = over.await;
        }
        in_time
    }

    /// Ends everything at once: every child is killed with its group before
    /// this returns. Who waits for [`Manager::shut_down`] does so no longer.
    pub fn shut_down_now(&self) {
        self.0.shop.leashes.cut();
    }

    /// Puts servers in force without waiting for what comes of it.
    async fn begin_reload(&self, servers: Vec<ServerConfig>) -> Result<Begun, Error> {
        let (reply, begun) = oneshot::channel();
        let wish = Wish::Reload(servers, reply);
        self.0.wishes.send(wish).map_err(|_| Error::ShutDown)?;
        begun.await.map_err(|_| Error::ShutDown)
    }

    fn offered<T>(&self, list: impl Fn(&Connection) -> List<T>) -> Vec<Offered<T>> {
        let connections = self.list();
        let each = connections.iter().flat_map(|connection| {
            let items = list(connection).items;
            let offered = |item: &Arc<T>| Offered {
                server: Arc::clone(connection.server()),
                item: Arc::clone(item),
            };
            items.iter().map(offered).collect::<Vec<_>>()
        });
        each.collect()
    }

    fn board(&self) -> Board {
        self.0.board.borrow().clone()
    }

    fn seat(&self, name: &str) -> Result<Seat, Error> {
        if self.0.wishes.is_closed() {
            return Err(Error::ShutDown);
        }
        let unknown = || Error::Unknown { server: name.to_owned() };
        self.board().get(name).cloned().ok_or_else(unknown)
    }
}

impl ManagerBuilder {
    /// The servers. Of two with one name the later counts.
    pub fn servers(mut self, servers: impl IntoIterator<Item = ServerConfig>) -> Self {
        self.servers.extend(servers);
        self
    }

    /// Opens links in another way than the targets say.
    pub fn connector(mut self, connector: impl Connector) -> Self {
        self.connector = Arc::new(connector);
        self
    }

    /// What all clients are made from: who they say they are, what they answer.
    /// Revision and timeout are each server's own.
    pub fn client(mut self, client: ClientBuilder) -> Self {
        self.client = client;
        self
    }

    /// Builds it.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn build(self) -> Manager {
        let shop = Arc::new(Shop {
            connector: self.connector,
            client: self.client,
            announcer: Announcer::default(),
            leashes: Leashes::default(),
            connections: AtomicU64::new(1),
        });
        let (set, wishes, board) = Set::new(Arc::clone(&shop), self.servers);
        let inner = Inner { wishes, board, shop, _set: Task::spawn(set.run()) };
        Manager(Arc::new(inner))
    }
}

impl std::fmt::Debug for Manager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.board().keys()).finish()
    }
}

async fn ask(seat: &Seat, order: impl FnOnce(Reply) -> Order) -> Result<Connection, Error> {
    let (reply, outcome) = oneshot::channel();
    let _ = seat.orders.send(order(reply));
    outcome.await.unwrap_or(Err(Error::ShutDown))
}

async fn disconnect(seat: &Seat) -> Result<(), Error> {
    let (done, over) = oneshot::channel();
    let _ = seat.orders.send(Order::Disconnect(done));
    over.await.map_err(|_| Error::ShutDown)
}

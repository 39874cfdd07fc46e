//! The task that owns the set of servers: which there are, and one task each.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};

use super::connection::Connection;
use super::error::Error;
use super::event::Event;
use super::reload::{Changes, Difference, difference};
use super::server::{Order, Seat, Server, Shop};
use super::task::Task;
use crate::config::ServerConfig;

/// The servers by name, as everybody sees them.
pub(super) type Board = Arc<BTreeMap<Arc<str>, Seat>>;

/// What somebody wants of the set.
pub(super) enum Wish {
    /// These are the servers from now on.
    Reload(Vec<ServerConfig>, oneshot::Sender<Begun>),
    /// There are none any more; done when all are gone.
    ShutDown(oneshot::Sender<()>),
}

/// What comes of connecting.
type Outcome = oneshot::Receiver<Result<Connection, Error>>;

/// A reload that is in force, and what is still to come of it.
pub(super) struct Begun {
    pub(super) changes: Arc<Changes>,
    pub(super) connecting: Vec<(Arc<str>, Outcome)>,
    pub(super) leaving: Vec<oneshot::Receiver<()>>,
}

/// The task's own.
pub(super) struct Set {
    shop: Arc<Shop>,
    servers: BTreeMap<Arc<str>, Placed>,
    /// Those that are not configured any more, and not over yet.
    leaving: Vec<(Arc<str>, Task)>,
    board: watch::Sender<Board>,
    wishes: mpsc::UnboundedReceiver<Wish>,
}

/// A server with its place.
struct Placed {
    seat: Seat,
    task: Task,
    /// The entry that it was last told, which it may not have come to yet.
    config: Arc<ServerConfig>,
}

impl Set {
    /// Begins with these servers, none of them connected.
    pub(super) fn new(
        shop: Arc<Shop>,
        servers: Vec<ServerConfig>,
    ) -> (Set, mpsc::UnboundedSender<Wish>, watch::Receiver<Board>) {
        let (sender, wishes) = mpsc::unbounded_channel();
        let (board, seen) = watch::channel(Board::default());
        let (leaving, none) = (Vec::new(), BTreeMap::new());
        let mut set = Set { shop, servers: none, leaving, board, wishes };
        for config in servers {
            let name: Arc<str> = config.name.as_str().into();
            let placed = set.place(&name, Arc::new(config));
            set.servers.insert(name, placed);
        }
        set.show();
        (set, sender, seen)
    }

    /// Goes on until the manager is gone, and with it all of its servers.
    pub(super) async fn run(mut self) {
        while let Some(wish) = self.wishes.recv().await {
            match wish {
                Wish::Reload(servers, reply) => {
                    let begun = self.reload(servers);
                    self.shop.announcer.tell(Event::Reloaded(Arc::clone(&begun.changes)));
                    let _ = reply.send(begun);
                }
                Wish::ShutDown(done) => {
                    self.shut_down().await;
                    let _ = done.send(());
                    return;
                }
            }
        }
    }

    /// Tells each server what is new for it. Nothing is waited for: what comes
    /// after it finds the new set.
    fn reload(&mut self, servers: Vec<ServerConfig>) -> Begun {
        self.leaving.retain(|(_, task)| !task.is_over());
        let mut changes = Changes::default();
        let mut connecting = Vec::new();
        let mut before = std::mem::take(&mut self.servers);
        let named = servers.into_iter().map(|config| (config.name.as_str().into(), config));
        let named: BTreeMap<Arc<str>, ServerConfig> = named.collect();
        for (name, config) in named {
            let config = Arc::new(config);
            let (reply, outcome) = oneshot::channel();
            let known = before.remove(&name);
            let list = match known.as_ref().map(|known| difference(&known.config, &config)) {
                None => &mut changes.added,
                Some(Difference::Nothing) => &mut changes.untouched,
                Some(Difference::Policy) => &mut changes.policy_only,
                Some(Difference::Server) => &mut changes.changed,
            };
            list.push(Arc::clone(&name));
            let placed = match known {
                Some(known) => {
                    let order = Order::Configure(Arc::clone(&config), reply);
                    let _ = known.seat.orders.send(order);
                    Placed { config, ..known }
                }
                None => {
                    let connects = config.enabled && config.auto_connect;
                    let placed = self.place(&name, config);
                    if connects {
                        let _ = placed.seat.orders.send(Order::Connect(reply));
                    }
                    placed
                }
            };
            self.servers.insert(Arc::clone(&name), placed);
            connecting.push((name, outcome));
        }
        let mut leaving = Vec::new();
        for (name, placed) in before {
            leaving.push(self.remove(&name, placed));
            changes.removed.push(name);
        }
        self.show();
        Begun { changes: Arc::new(changes), connecting, leaving }
    }

    /// Starts the task of a server. If one of its name is about to leave, that is
    /// over first.
    fn place(&mut self, name: &Arc<str>, config: Arc<ServerConfig>) -> Placed {
        let gone = self.leaving.iter().position(|(leaving, _)| leaving == name);
        let before = gone.map(|index| self.leaving.swap_remove(index).1);
        let (shop, entry) = (Arc::clone(&self.shop), Arc::clone(&config));
        let (seat, task) = Server::start(Arc::clone(name), entry, shop, before);
        Placed { seat, task, config }
    }

    fn remove(&mut self, name: &Arc<str>, placed: Placed) -> oneshot::Receiver<()> {
        let (done, left) = oneshot::channel();
        let _ = placed.seat.orders.send(Order::Leave(done));
        self.leaving.push((Arc::clone(name), placed.task));
        left
    }

    async fn shut_down(&mut self) {
        for (name, placed) in std::mem::take(&mut self.servers) {
            drop(self.remove(&name, placed));
        }
        self.show();
        for (_, task) in self.leaving.drain(..) {
            task.ended().await;
        }
    }

    fn show(&self) {
        let seats = self.servers.iter().map(|(name, it)| (Arc::clone(name), it.seat.clone()));
        self.board.send_replace(Arc::new(seats.collect()));
    }
}

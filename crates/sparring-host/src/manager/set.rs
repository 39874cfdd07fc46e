//! The task that owns the set of servers: which there are, and one task each.

use std::collections::{BTreeMap, HashMap};
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
    seats: BTreeMap<Arc<str>, Seat>,
    tasks: HashMap<Arc<str>, Task>,
    /// Those that are not configured any more, and not over yet.
    leaving: Vec<(Arc<str>, Task)>,
    board: watch::Sender<Board>,
    wishes: mpsc::UnboundedReceiver<Wish>,
}

impl Set {
    /// Begins with these servers, none of them connected.
    pub(super) fn new(
        shop: Arc<Shop>,
        servers: Vec<ServerConfig>,
    ) -> (Set, mpsc::UnboundedSender<Wish>, watch::Receiver<Board>) {
        let (sender, wishes) = mpsc::unbounded_channel();
        let (board, seen) = watch::channel(Board::default());
        let (seats, tasks, leaving) = (BTreeMap::new(), HashMap::new(), Vec::new());
        let mut set = Set { shop, seats, tasks, leaving, board, wishes };
        for config in servers {
            let name: Arc<str> = config.name.as_str().into();
            set.seat(&name, Arc::new(config));
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
        let mut before = std::mem::take(&mut self.seats);
        let servers: BTreeMap<Arc<str>, Arc<ServerConfig>> = servers
            .into_iter()
            .map(|config| (config.name.as_str().into(), Arc::new(config)))
            .collect();
        for (name, config) in servers {
            let Some(seat) = before.remove(&name) else {
                if let Some(outcome) = self.add(&name, config) {
                    connecting.push((Arc::clone(&name), outcome));
                }
                changes.added.push(name);
                continue;
            };
            let difference = difference(&seat.config.borrow(), &config);
            let (reply, outcome) = oneshot::channel();
            let _ = seat.orders.send(Order::Configure(config, reply));
            connecting.push((Arc::clone(&name), outcome));
            self.seats.insert(Arc::clone(&name), seat);
            match difference {
                Difference::Nothing => changes.untouched.push(name),
                Difference::Policy => changes.policy_only.push(name),
                Difference::Server => changes.changed.push(name),
            }
        }
        let mut leaving = Vec::new();
        for (name, seat) in before {
            leaving.push(self.remove(&name, &seat));
            changes.removed.push(name);
        }
        self.show();
        Begun { changes: Arc::new(changes), connecting, leaving }
    }

    fn seat(&mut self, name: &Arc<str>, config: Arc<ServerConfig>) -> Seat {
        let gone = self.leaving.iter().position(|(leaving, _)| leaving == name);
        let before = gone.map(|index| self.leaving.swap_remove(index).1);
        let (seat, task) = Server::start(Arc::clone(name), config, Arc::clone(&self.shop), before);
        self.seats.insert(Arc::clone(name), seat.clone());
        self.tasks.insert(Arc::clone(name), task);
        seat
    }

    fn add(&mut self, name: &Arc<str>, config: Arc<ServerConfig>) -> Option<Outcome> {
        let connects = config.enabled && config.auto_connect;
        let seat = self.seat(name, config);
        let (reply, outcome) = oneshot::channel();
        connects.then(|| {
            let _ = seat.orders.send(Order::Connect(reply));
            outcome
        })
    }

    fn remove(&mut self, name: &Arc<str>, seat: &Seat) -> oneshot::Receiver<()> {
        let (done, left) = oneshot::channel();
        let _ = seat.orders.send(Order::Leave(done));
        if let Some(task) = self.tasks.remove(name) {
            self.leaving.push((Arc::clone(name), task));
        }
        left
    }

    async fn shut_down(&mut self) {
        for (name, seat) in std::mem::take(&mut self.seats) {
            drop(self.remove(&name, &seat));
        }
        self.show();
        for (_, task) in self.leaving.drain(..) {
            task.ended().await;
        }
    }

    fn show(&self) {
        self.board.send_replace(Arc::new(self.seats.clone()));
    }
}

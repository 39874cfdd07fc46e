//! The task of one server: it alone connects, keeps, loses and ends it. Others
//! tell it what they want, and see how it is.

mod opening;
mod order;
mod staying;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use sparring_peer::{Client, ClientBuilder};
use sparring_transport::Container;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::connector::Connector;
use super::entry::Entry;
use super::error::Error;
use super::event::{Announcer, Event};
use super::leash::Leashes;
use super::state::State;
use super::task::Task;
use crate::config::ServerConfig;
use staying::Open;

pub(super) use order::{Order, Reply};

/// What all servers of a manager have in common.
pub(super) struct Shop {
    pub(super) connector: Arc<dyn Connector>,
    /// What every client is made from.
    pub(super) client: ClientBuilder,
    pub(super) announcer: Announcer,
    pub(super) leashes: Leashes,
    /// How many connections there were.
    pub(super) connections: AtomicU64,
}

/// A server's place: how to tell it something, and how it is. Cheap to clone.
#[derive(Clone)]
pub(super) struct Seat {
    pub(super) orders: mpsc::UnboundedSender<Order>,
    pub(super) config: watch::Receiver<Entry>,
    pub(super) state: watch::Receiver<State>,
}

/// The task's own.
pub(super) struct Server {
    name: Arc<str>,
    shop: Arc<Shop>,
    config: watch::Sender<Entry>,
    state: watch::Sender<State>,
    orders: mpsc::UnboundedReceiver<Order>,
    /// Whether somebody wants it to be connected.
    wanted: bool,
    /// How often it was tried since it was last there for long.
    tries: u32,
}

/// What the task is about to do.
enum Phase {
    /// Nothing, until it is told to.
    Rest,
    /// Connect, for those who wait.
    Open(Vec<Reply>),
    /// Stay connected.
    Stay(Box<Open>),
    /// Connect again then.
    Wait(Instant),
    /// Nothing any more.
    Leave,
}

impl Server {
    /// Starts the task of a server, which connects only when told to. If there
    /// was one of its name before, that is over first.
    pub(super) fn start(
        name: Arc<str>,
        config: Arc<ServerConfig>,
        shop: Arc<Shop>,
        before: Option<Task>,
    ) -> (Seat, Task) {
        let (sender, orders) = mpsc::unbounded_channel();
        let (state, seen) = watch::channel(at_rest(&config));
        let (config, known) = watch::channel(Entry::new(config));
        let server = Server { name, shop, config, state, orders, wanted: false, tries: 0 };
        let seat = Seat { orders: sender, config: known, state: seen };
        let task = Task::spawn(async move {
            if let Some(before) = before {
                before.ended().await;
            }
            server.run().await;
        });
        (seat, task)
    }

    async fn run(mut self) {
        let mut phase = Phase::Rest;
        loop {
            phase = match phase {
                Phase::Rest => self.rest().await,
                Phase::Open(waiting) => self.open(waiting).await,
                Phase::Stay(open) => self.stay(*open).await,
                Phase::Wait(until) => self.wait(until).await,
                Phase::Leave => return,
            };
        }
    }

    /// Waits to be told something.
    async fn rest(&mut self) -> Phase {
        match self.orders.recv().await {
            Some(order) => self.obey(order),
            None => Phase::Leave,
        }
    }

    /// Does what it is told, while it is not connected and does not try to be.
    fn obey(&mut self, order: Order) -> Phase {
        match order {
            Order::Connect(reply) | Order::Reconnect(reply) => {
                if !self.config.borrow().enabled {
                    let _ = reply.send(Err(Error::Disabled { server: Arc::clone(&self.name) }));
                    return Phase::Rest;
                }
                self.tries = 0;
                Phase::Open(vec![reply])
            }
            Order::Disconnect(done) => {
                self.wanted = false;
                self.rest_now();
                let _ = done.send(());
                Phase::Rest
            }
            Order::Configure(new, reply) => {
                let old = self.config.send_replace(Entry::new(Arc::clone(&new)));
                let newly = new.auto_connect && !(old.auto_connect && old.enabled);
                let same = old.target == new.target && old.protocol == new.protocol;
                let again = self.wanted && !(same && old.enabled);
                if new.enabled && (newly || again) {
                    self.tries = 0;
                    return Phase::Open(vec![reply]);
                }
                if !new.enabled || !old.enabled {
                    self.rest_now();
                }
                Phase::Rest
            }
            Order::Leave(done) => {
                let _ = done.send(());
                Phase::Leave
            }
        }
    }

    /// Ends a connection in good order, whether it stands or was begun.
    async fn close(&mut self, client: Client, container: Option<Container>) {
        client.close().await;
        if let Some(left) = container.and_then(|container| container.left()) {
            let (server, what) = (Arc::clone(&self.name), left.into());
            self.shop.announcer.tell(Event::Left { server, what });
        }
    }

    /// Is as a server that nobody wants to be connected.
    fn rest_now(&self) {
        let state = at_rest(&self.config.borrow());
        self.turn(state);
    }

    /// Is in that state from now on, for everybody to see.
    fn turn(&self, state: State) {
        self.state.send_replace(state.clone());
        self.shop.announcer.tell(Event::State { server: Arc::clone(&self.name), state });
    }
}

/// How a server is that nobody wants to be connected.
fn at_rest(config: &ServerConfig) -> State {
    if config.enabled { State::Idle } else { State::Disabled }
}

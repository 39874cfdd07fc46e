//! From nothing to a connection, or to the reason why there is none.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sparring_peer::{Cause, Client, client};
use sparring_transport::{Container, Opened, Stderr};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::super::backoff;
use super::super::connection::{Connection, Live};
use super::super::entry::Entry;
use super::super::error::Error;
use super::super::keep::Keep;
use super::super::state::State;
use super::staying::Open;
use super::{Order, Phase, Reply, Server};

/// What was opened, before anything was said.
struct Begun {
    client: Client,
    stderr: Option<Stderr>,
    container: Option<Container>,
}

/// Why there is no connection.
enum Stop {
    /// It did not work.
    Failed(Error),
    /// Somebody wants something else.
    Told(Option<Order>),
}

impl Server {
    /// Connects, for those who wait; more may come to wait.
    pub(super) async fn open(&mut self, mut waiting: Vec<Reply>) -> Phase {
        if self.shop.leashes.are_cut() {
            return self.failed(Error::ShutDown, waiting);
        }
        self.wanted = true;
        self.turn(State::Connecting { attempt: self.tries });
        let begun = match self.begin(&mut waiting).await {
            Ok(begun) => begun,
            Err(Stop::Failed(error)) => return self.failed(error, waiting),
            Err(Stop::Told(order)) => return self.given_up(order, waiting),
        };
        match self.greet(&begun, &mut waiting).await {
            Ok((keep, connection)) => {
                // Known to all before anybody is told that it is.
                self.turn(State::Connected(connection.clone()));
                for reply in waiting {
                    let _ = reply.send(Ok(connection.clone()));
                }
                let Begun { container, .. } = begun;
                Phase::Stay(Box::new(Open { connection, keep, container }))
            }
            // Told before it is ended: a child may take its time.
            Err(Stop::Failed(error)) => {
                let phase = self.failed(error, waiting);
                self.close(begun.client, begun.container).await;
                phase
            }
            Err(Stop::Told(order)) => {
                self.turn(State::Closing);
                self.close(begun.client, begun.container).await;
                self.given_up(order, waiting)
            }
        }
    }

    /// Waits until a lost server is tried again.
    pub(super) async fn wait(&mut self, until: Instant) -> Phase {
        loop {
            tokio::select! {
                () = sleep_until(until) => return Phase::Open(Vec::new()),
                order = self.orders.recv() => match order {
                    None => return Phase::Leave,
                    Some(order) if order.is_policy(&self.config.borrow()) => self.adopt(order),
                    Some(order) => return self.obey(order),
                }
            }
        }
    }

    /// Takes over what an entry says of policy.
    pub(super) fn adopt(&self, order: Order) {
        if let Order::Configure(config, _) = order {
            self.config.send_replace(Entry::new(config));
        }
    }

    /// What becomes of a server that was lost or did not come back.
    pub(super) fn lost(&mut self, why: Error, at_once: bool) -> Phase {
        let reconnect = self.config.borrow().reconnect;
        let over = why.is_final() || self.shop.leashes.are_cut();
        if over || self.tries >= reconnect.attempts {
            self.turn(State::Failed { why });
            return Phase::Rest;
        }
        let wait = if at_once { Duration::ZERO } else { backoff::wait(&reconnect, self.tries) };
        self.tries += 1;
        let next_try = Instant::now() + wait;
        self.turn(State::Lost { why, attempt: self.tries, next_try });
        Phase::Wait(next_try)
    }

    fn failed(&mut self, error: Error, waiting: Vec<Reply>) -> Phase {
        // Only what was there before is tried again by itself.
        let phase = if self.tries > 0 {
            self.lost(error.clone(), false)
        } else {
            self.turn(State::Failed { why: error.clone() });
            Phase::Rest
        };
        for reply in waiting {
            let _ = reply.send(Err(error.clone()));
        }
        phase
    }

    fn given_up(&mut self, order: Option<Order>, waiting: Vec<Reply>) -> Phase {
        for reply in waiting {
            let _ = reply.send(Err(Error::GivenUp { server: Arc::clone(&self.name) }));
        }
        match order {
            Some(order) => self.obey(order),
            None => Phase::Leave,
        }
    }

    /// Opens the link.
    async fn begin(&mut self, waiting: &mut Vec<Reply>) -> Result<Begun, Stop> {
        let (config, shop) = (Arc::clone(&self.config.borrow().config), Arc::clone(&self.shop));
        let start = Instant::now();
        let opening = timeout_at(start + config.timeout, shop.connector.open(&config));
        let server = || Arc::clone(&self.name);
        let (name, late) = (server(), Error::Late { server: server(), after: config.timeout });
        let opened = self.meanwhile(waiting, opening).await.map_err(Stop::Told)?;
        let opened = opened.map_err(|_| Stop::Failed(late))?;
        let Opened { link, stderr, container } = opened.map_err(|error| {
            Stop::Failed(Error::NotOpened { server: name, error: Arc::new(error) })
        })?;
        let left = config.timeout.saturating_sub(start.elapsed());
        let builder = shop.client.clone().protocol(config.protocol).timeout(left);
        let client = builder.start(shop.leashes.hold(link));
        Ok(Begun { client, stderr, container })
    }

    /// Comes to terms with the server, and gets its lists.
    async fn greet(
        &mut self,
        begun: &Begun,
        waiting: &mut Vec<Reply>,
    ) -> Result<(Keep, Connection), Stop> {
        let Begun { client, stderr, .. } = begun;
        // It has its deadline, which stands still while a person logs in.
        let ready = self.meanwhile(waiting, client.ready()).await.map_err(Stop::Told)?;
        ready.map_err(|error| self.not_connected(error, stderr.as_ref()))?;
        let (name, announcer) = (Arc::clone(&self.name), self.shop.announcer.clone());
        let config = self.config.subscribe();
        let beginning = Keep::begin(name, client.clone(), config, announcer);
        let (keep, lists) = self.meanwhile(waiting, beginning).await.map_err(Stop::Told)?;
        if !client.is_connected() {
            let (method, cause) = ("connecting".to_owned(), client.closed().await);
            let error = client::Error::Closed { method, cause };
            return Err(self.not_connected(error, stderr.as_ref()));
        }
        let connection = Connection::new(Live {
            server: Arc::clone(&self.name),
            number: self.shop.connections.fetch_add(1, Ordering::Relaxed),
            client: client.clone(),
            stderr: stderr.clone(),
            config: self.config.subscribe(),
            lists,
            since: Instant::now(),
        });
        Ok((keep, connection))
    }

    fn not_connected(&self, error: client::Error, stderr: Option<&Stderr>) -> Stop {
        let shown = matches!(&error, client::Error::Closed { cause: Cause::Gone { .. }, .. });
        let error = Arc::new(error);
        let stderr = stderr.filter(|_| !shown).map(Stderr::tail).unwrap_or_default();
        Stop::Failed(Error::NotConnected { server: Arc::clone(&self.name), error, stderr })
    }

    /// Waits for something that belongs to connecting. Orders that do not end
    /// it are obeyed meanwhile; none is one that the manager is gone.
    async fn meanwhile<T>(
        &mut self,
        waiting: &mut Vec<Reply>,
        work: impl Future<Output = T>,
    ) -> Result<T, Option<Order>> {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                order = self.orders.recv() => match order {
                    Some(Order::Connect(reply)) => waiting.push(reply),
                    Some(order) if order.is_policy(&self.config.borrow()) => self.adopt(order),
                    other => return Err(other),
                },
                done = &mut work => return Ok(done),
            }
        }
    }
}

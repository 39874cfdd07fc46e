//! Connects a server and keeps it connected.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use sparring_peer::{Cause, Client, client};
use sparring_transport::{Container, OpenedTarget, Stderr};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::super::backoff;
use super::super::connection::{Connection, ConnectionInner};
use super::super::error::Error;
use super::super::list_refresher::ListRefresher;
use super::super::server_state::ServerState;
use super::{Command, ConfigEntry, Phase, Reply, Server};

/// A connection that lasted this long resets the number of tries.
const STABLE_AFTER: Duration = Duration::from_secs(60);

/// An open connection.
pub(super) struct OpenConnection {
    pub(super) connection: Connection,
    pub(super) refresher: ListRefresher,
    pub(super) container: Option<Container>,
}

/// An open link, before the handshake.
struct OpenedClient {
    client: Client,
    stderr: Option<Stderr>,
    container: Option<Container>,
}

/// Why there is no connection.
enum Interruption {
    /// Connecting failed.
    Failed(Error),
    /// A command interrupted it; `None` if the manager is gone.
    Command(Option<Command>),
}

impl Server {
    /// Connects for the waiting callers; more may be added meanwhile.
    pub(super) async fn connect(&mut self, mut waiting: Vec<Reply>) -> Phase {
        if self.context.links.are_aborted() {
            return self.fail(Error::ShutDown, waiting);
        }
        self.wanted = true;
        self.set_state(ServerState::Connecting { attempt: self.tries });
        let opened_client = match self.open_link(&mut waiting).await {
            Ok(opened_client) => opened_client,
            Err(Interruption::Failed(error)) => return self.fail(error, waiting),
            Err(Interruption::Command(command)) => return self.interrupted(command, waiting),
        };
        match self.handshake(&opened_client, &mut waiting).await {
            Ok((refresher, connection)) => {
                // The state is set before any caller gets the connection.
                self.set_state(ServerState::Connected(connection.clone()));
                for reply in waiting {
                    let _ = reply.send(Ok(connection.clone()));
                }
                let OpenedClient { container, .. } = opened_client;
                Phase::Connected(Box::new(OpenConnection { connection, refresher, container }))
            }
            // Callers get the error first: stopping a child may take long.
            Err(Interruption::Failed(error)) => {
                let phase = self.fail(error, waiting);
                self.close(opened_client.client, opened_client.container).await;
                phase
            }
            Err(Interruption::Command(command)) => {
                self.set_state(ServerState::Closing);
                self.close(opened_client.client, opened_client.container).await;
                self.interrupted(command, waiting)
            }
        }
    }

    /// Stays connected until the server is lost or a command ends the
    /// connection.
    pub(super) async fn stay_connected(&mut self, open: OpenConnection) -> Phase {
        let OpenConnection { connection, mut refresher, container } = open;
        let command = loop {
            tokio::select! {
                biased;
                cause = connection.closed() => return self.handle_close(&connection, cause),
                command = self.commands.recv() => match command {
                    Some(Command::Connect(reply)) => {
                        let _ = reply.send(Ok(connection.clone()));
                    }
                    Some(command) if command.is_policy_change(&self.config.borrow()) => self.adopt_policy(command),
                    other => break other,
                },
                never = refresher.run() => match never {},
            }
        };
        drop(refresher);
        // The manager is gone, and its links are aborted.
        let Some(command) = command else { return Phase::Stop };
        self.set_state(ServerState::Closing);
        self.close(connection.client(), container).await;
        self.handle_command(command)
    }

    fn handle_close(&mut self, connection: &Connection, cause: Cause) -> Phase {
        if connection.since().elapsed() >= STABLE_AFTER {
            self.tries = 0;
        }
        // The server only forgot the session, so it is reachable.
        let at_once = matches!(cause, Cause::SessionLost(_)) && self.tries == 0;
        self.handle_loss(Error::Lost { server: Arc::clone(&self.name), cause }, at_once)
    }

    /// Waits for the next try of a lost server.
    pub(super) async fn wait_for_retry(&mut self, until: Instant) -> Phase {
        loop {
            tokio::select! {
                () = sleep_until(until) => return Phase::Connect(Vec::new()),
                command = self.commands.recv() => match command {
                    None => return Phase::Stop,
                    Some(command) if command.is_policy_change(&self.config.borrow()) => self.adopt_policy(command),
                    Some(command) => return self.handle_command(command),
                }
            }
        }
    }

    /// Adopts the policy of a new entry.
    pub(super) fn adopt_policy(&self, command: Command) {
        if let Command::Configure(config, _) = command {
            self.config.send_replace(ConfigEntry::new(config));
        }
    }

    /// Handles a server that was lost or could not be reconnected.
    pub(super) fn handle_loss(&mut self, why: Error, at_once: bool) -> Phase {
        let reconnect = self.config.borrow().reconnect;
        let over = why.is_final() || self.context.links.are_aborted();
        if over || self.tries >= reconnect.attempts {
            self.set_state(ServerState::Failed { why });
            return Phase::Idle;
        }
        let wait =
            if at_once { Duration::ZERO } else { backoff::retry_delay(&reconnect, self.tries) };
        self.tries += 1;
        let next_try = Instant::now() + wait;
        self.set_state(ServerState::Lost { why, attempt: self.tries, next_try });
        Phase::RetryAt(next_try)
    }

    fn fail(&mut self, error: Error, waiting: Vec<Reply>) -> Phase {
        // Only a server that was connected before is tried again automatically.
        let phase = if self.tries > 0 {
            self.handle_loss(error.clone(), false)
        } else {
            self.set_state(ServerState::Failed { why: error.clone() });
            Phase::Idle
        };
        for reply in waiting {
            let _ = reply.send(Err(error.clone()));
        }
        phase
    }

    fn interrupted(&mut self, command: Option<Command>, waiting: Vec<Reply>) -> Phase {
        for reply in waiting {
            let _ = reply.send(Err(Error::Cancelled { server: Arc::clone(&self.name) }));
        }
        match command {
            Some(command) => self.handle_command(command),
            None => Phase::Stop,
        }
    }

    /// Opens the link.
    async fn open_link(&mut self, waiting: &mut Vec<Reply>) -> Result<OpenedClient, Interruption> {
        let (config, context) =
            (Arc::clone(&self.config.borrow().config), Arc::clone(&self.context));
        let start = Instant::now();
        let opening = timeout_at(start + config.timeout, context.connector.open(&config));
        let server = || Arc::clone(&self.name);
        let (name, late) = (server(), Error::Timeout { server: server(), after: config.timeout });
        let opened =
            self.while_handling_commands(waiting, opening).await.map_err(Interruption::Command)?;
        let opened = opened.map_err(|_| Interruption::Failed(late))?;
        let OpenedTarget { link, stderr, container } = opened.map_err(|error| {
            Interruption::Failed(Error::OpenFailed { server: name, error: Arc::new(error) })
        })?;
        let left = config.timeout.saturating_sub(start.elapsed());
        let builder = context.client.clone().protocol(config.protocol).timeout(left);
        let client = builder.start(context.links.wrap(link));
        Ok(OpenedClient { client, stderr, container })
    }

    /// Performs the handshake and fetches the lists.
    async fn handshake(
        &mut self,
        opened_client: &OpenedClient,
        waiting: &mut Vec<Reply>,
    ) -> Result<(ListRefresher, Connection), Interruption> {
        let OpenedClient { client, stderr, .. } = opened_client;
        // The client has its own deadline, which is paused while a person logs
        // in.
        let ready = self
            .while_handling_commands(waiting, client.ready())
            .await
            .map_err(Interruption::Command)?;
        ready.map_err(|error| self.not_connected(error, stderr.as_ref()))?;
        let (name, events) = (Arc::clone(&self.name), self.context.events.clone());
        let config = self.config.subscribe();
        let beginning = ListRefresher::start(name, client.clone(), config, events);
        let (refresher, lists) = self
            .while_handling_commands(waiting, beginning)
            .await
            .map_err(Interruption::Command)?;
        if !client.is_connected() {
            let (method, cause) = ("connecting".to_owned(), client.closed().await);
            let error = client::Error::Closed { method, cause };
            return Err(self.not_connected(error, stderr.as_ref()));
        }
        let connection = Connection::new(ConnectionInner {
            server: Arc::clone(&self.name),
            number: self.context.connections.fetch_add(1, Ordering::Relaxed),
            client: client.clone(),
            stderr: stderr.clone(),
            config: self.config.subscribe(),
            lists,
            since: Instant::now(),
        });
        Ok((refresher, connection))
    }

    fn not_connected(&self, error: client::Error, stderr: Option<&Stderr>) -> Interruption {
        let shown =
            matches!(&error, client::Error::Closed { cause: Cause::ProcessEnded { .. }, .. });
        let error = Arc::new(error);
        let stderr = stderr.filter(|_| !shown).map(Stderr::tail).unwrap_or_default();
        Interruption::Failed(Error::ConnectFailed { server: Arc::clone(&self.name), error, stderr })
    }

    /// Waits for a step of connecting. Handles commands that do not interrupt
    /// it; an error of `None` means that the manager is gone.
    async fn while_handling_commands<T>(
        &mut self,
        waiting: &mut Vec<Reply>,
        work: impl Future<Output = T>,
    ) -> Result<T, Option<Command>> {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    Some(Command::Connect(reply)) => waiting.push(reply),
                    Some(command) if command.is_policy_change(&self.config.borrow()) => self.adopt_policy(command),
                    other => return Err(other),
                },
                done = &mut work => return Ok(done),
            }
        }
    }
}

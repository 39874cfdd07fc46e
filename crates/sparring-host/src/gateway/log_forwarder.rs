//! Forwards log messages of servers to clients.
//!
//! A server with a revision up to 2025-11-25 does not say which request a
//! message belongs to: it goes to every client whose session has requested its
//! level. Since 2026-07-28 messages belong to requests only
//! (server/utilities/logging): they go to the open requests at that server that
//! have asked for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_peer::client::LogMessage;
use sparring_peer::server::Context;
use sparring_wire::types::LogLevel;

use super::message_queue::{MessageSender, ServerMessage, WeakMessageSender};
use crate::manager::Connection;

/// Forwards log messages.
#[derive(Default)]
pub(super) struct LogForwarder(Mutex<ForwarderState>);

#[derive(Default)]
struct ForwarderState {
    /// Sends a message to all sessions, while the gateway notifies clients.
    broadcast: Option<Arc<Broadcast>>,
    /// The open requests that want messages, by the number of their connection.
    requests: HashMap<u64, Vec<LogRequest>>,
    /// The connections with a log handler, and the level that was set there.
    levels: HashMap<u64, Option<LogLevel>>,
}

/// The minimum level of a request, and its channel.
type LogRequest = (LogLevel, WeakMessageSender);

type Broadcast = dyn Fn(&LogMessage) + Send + Sync;

impl LogForwarder {
    /// Sets the function that sends messages to all sessions.
    pub(super) fn broadcast_with(&self, broadcast: impl Fn(&LogMessage) + Send + Sync + 'static) {
        self.lock().broadcast = Some(Arc::new(broadcast));
    }

    /// Adds a log handler to a connection, once.
    pub(super) fn attach(self: &Arc<Self>, connection: &Connection) {
        let number = connection.number();
        let mut state = self.lock();
        if state.levels.contains_key(&number) {
            return;
        }
        state.levels.insert(number, None);
        drop(state);
        let logs = Arc::downgrade(self);
        let server = Arc::clone(connection.server());
        let is_modern = connection.is_modern();
        connection.client().on_log(move |message| {
            let Some(logs) = logs.upgrade() else { return };
            let logger = match &message.logger {
                Some(logger) => format!("{server}/{logger}"),
                None => server.as_ref().to_owned(),
            };
            logs.forward(number, is_modern, &LogMessage { logger: Some(logger), ..message });
        });
    }

    /// Forgets closed connections.
    pub(super) fn retain(&self, connections: &[Connection]) {
        let is_open = |number: &u64| connections.iter().any(|it| it.number() == *number);
        let mut state = self.lock();
        state.levels.retain(|number, _| is_open(number));
        state.requests.retain(|number, _| is_open(number));
    }

    /// Adds a request. It gets messages until its channel is closed.
    pub(super) fn add_request(
        &self,
        connection: &Connection,
        level: LogLevel,
        sender: &MessageSender,
    ) {
        let mut state = self.lock();
        let requests = state.requests.entry(connection.number()).or_default();
        requests.retain(|(_, sender)| sender.is_open());
        requests.push((level, sender.downgrade()));
    }

    /// Sets the log level at a server with a revision up to 2025-11-25. With
    /// `least`, only if the current level includes fewer messages. Errors are
    /// ignored.
    pub(super) async fn set_level(&self, connection: &Connection, level: LogLevel, least: bool) {
        if connection.is_modern() || !connection.capabilities().has("logging") {
            return;
        }
        {
            let mut state = self.lock();
            let level_set = state.levels.entry(connection.number()).or_default();
            if *level_set == Some(level)
                || least && level_set.is_some_and(|level_set| level_set <= level)
            {
                return;
            }
            *level_set = Some(level);
        }
        let _ = connection.client().set_log_level(level).await;
    }

    fn forward(&self, connection: u64, is_modern: bool, message: &LogMessage) {
        let state = self.lock();
        for (level, sender) in state.requests.get(&connection).into_iter().flatten() {
            if message.level >= *level
                && let Some(sender) = sender.upgrade()
            {
                // Excess messages are dropped.
                let _ = sender.try_send(ServerMessage::Log(message.clone()));
            }
        }
        let broadcast = state.broadcast.clone().filter(|_| !is_modern);
        drop(state);
        if let Some(broadcast) = broadcast {
            broadcast(message);
        }
    }

    fn lock(&self) -> MutexGuard<'_, ForwarderState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true if messages go to single requests. If both sides are legacy,
/// they go to whole sessions.
pub(super) fn go_to_requests(cx: &Context, connection: &Connection) -> bool {
    connection.is_modern() || cx.revision().is_modern()
}

impl std::fmt::Debug for LogForwarder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Logs")
    }
}

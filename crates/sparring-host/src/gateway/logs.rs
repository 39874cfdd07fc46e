//! Log messages of servers, passed on to whoever wants them.
//!
//! A server that speaks a revision up to 2025-11-25 does not say whose request a
//! message belongs to: it goes to every client whose session wants messages of its
//! level. Since 2026-07-28 messages belong to requests and to nothing else
//! (server/utilities/logging): they go to the requests in flight at that server
//! that have asked for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_peer::client::LogMessage;
use sparring_peer::server::Context;
use sparring_wire::types::LogLevel;
use tokio::sync::mpsc;

use super::flight::Said;
use crate::manager::Connection;

/// What is known of log messages.
#[derive(Default)]
pub(super) struct Logs(Mutex<State>);

#[derive(Default)]
struct State {
    /// What tells all sessions, once somebody follows.
    tell: Option<Arc<Tell>>,
    /// The requests in flight that want messages, by the connection that they are
    /// made on.
    flights: HashMap<u64, Vec<Wish>>,
    /// The connections that are heard, and the levels that their servers were told.
    heard: HashMap<u64, Option<LogLevel>>,
}

/// From which level on messages are wanted, and where they go.
type Wish = (LogLevel, mpsc::WeakSender<Box<Said>>);

type Tell = dyn Fn(&LogMessage) + Send + Sync;

impl Logs {
    /// Passes messages on to all sessions, from now on.
    pub(super) fn tell_all(&self, tell: impl Fn(&LogMessage) + Send + Sync + 'static) {
        self.state().tell = Some(Arc::new(tell));
    }

    /// Hears the messages of a connection, once.
    pub(super) fn hear(self: &Arc<Self>, connection: &Connection) {
        let number = connection.number();
        let mut state = self.state();
        if state.heard.contains_key(&number) {
            return;
        }
        state.heard.insert(number, None);
        drop(state);
        let logs = Arc::downgrade(self);
        let server = Arc::clone(connection.server());
        let is_modern = connection.revision().is_some_and(|revision| revision.is_modern());
        connection.client().on_log(move |message| {
            let Some(logs) = logs.upgrade() else { return };
            let logger = match &message.logger {
                Some(logger) => format!("{server}/{logger}"),
                None => server.as_ref().to_owned(),
            };
            logs.pass_on(number, is_modern, &LogMessage { logger: Some(logger), ..message });
        });
    }

    /// Forgets connections that are over.
    pub(super) fn keep(&self, connections: &[Connection]) {
        let stands = |number: &u64| connections.iter().any(|it| it.number() == *number);
        let mut state = self.state();
        state.heard.retain(|number, _| stands(number));
        state.flights.retain(|number, _| stands(number));
    }

    /// A request that wants messages gets them until its channel is gone.
    pub(super) fn join(
        &self,
        connection: &Connection,
        level: LogLevel,
        tell: &mpsc::Sender<Box<Said>>,
    ) {
        let mut state = self.state();
        let flights = state.flights.entry(connection.number()).or_default();
        flights.retain(|(_, tell)| tell.strong_count() > 0);
        flights.push((level, tell.downgrade()));
    }

    /// Tells a server of a revision up to 2025-11-25 which messages are wanted, if it
    /// was told of less by now. What it says to that changes nothing.
    pub(super) async fn ask_for(&self, connection: &Connection, level: LogLevel, least: bool) {
        let is_modern = connection.revision().is_some_and(|revision| revision.is_modern());
        if is_modern || !connection.capabilities().has("logging") {
            return;
        }
        {
            let mut state = self.state();
            let told = state.heard.entry(connection.number()).or_default();
            if *told == Some(level) || least && told.is_some_and(|told| told <= level) {
                return;
            }
            *told = Some(level);
        }
        let _ = connection.client().set_log_level(level).await;
    }

    fn pass_on(&self, connection: u64, is_modern: bool, message: &LogMessage) {
        let state = self.state();
        for (level, tell) in state.flights.get(&connection).into_iter().flatten() {
            if message.level >= *level
                && let Some(tell) = tell.upgrade()
            {
                // What is too much is left out.
                let _ = tell.try_send(Said::Log(message.clone()).into());
            }
        }
        let tell = state.tell.clone().filter(|_| !is_modern);
        drop(state);
        if let Some(tell) = tell {
            tell(message);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether messages go to the requests that want them. Where neither side says
/// whose they are, they go to whole sessions.
pub(super) fn are_for_requests(cx: &Context, connection: &Connection) -> bool {
    let is_modern = connection.revision().is_some_and(|revision| revision.is_modern());
    is_modern || cx.revision().is_modern()
}

impl std::fmt::Debug for Logs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Logs")
    }
}

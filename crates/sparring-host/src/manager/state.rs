//! How a server is, with the reason; and how all of them are.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::connection::Connection;
use super::error::Error;
use crate::config::ServerConfig;

/// How a server is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum State {
    /// Its entry says that it is not to be connected to.
    Disabled,
    /// Not connected, since nobody wants it to be.
    Idle,
    /// Being started or reached.
    Connecting {
        /// Which try it is, after it was lost; 0 where somebody asked for it.
        attempt: u32,
    },
    /// Connected.
    Connected(Connection),
    /// It was connected, or tried again, and is tried once more.
    Lost {
        /// What happened.
        why: Error,
        /// Which try is next.
        attempt: u32,
        /// When that is.
        next_try: Instant,
    },
    /// It is not connected, and nothing is done about it.
    Failed {
        /// What happened.
        why: Error,
    },
    /// Being shut down.
    Closing,
}

impl State {
    /// The connection, where there is one.
    pub fn connection(&self) -> Option<&Connection> {
        match self {
            State::Connected(connection) => Some(connection),
            _ => None,
        }
    }

    /// Why it is not connected, where something happened.
    pub fn why(&self) -> Option<&Error> {
        match self {
            State::Lost { why, .. } | State::Failed { why } => Some(why),
            _ => None,
        }
    }

    /// A stable name, for programs and people.
    pub fn name(&self) -> &'static str {
        match self {
            State::Disabled => "disabled",
            State::Idle => "idle",
            State::Connecting { .. } => "connecting",
            State::Connected(_) => "connected",
            State::Lost { .. } => "lost",
            State::Failed { .. } => "failed",
            State::Closing => "closing",
        }
    }

    /// How long until it is tried again, where it is.
    pub fn tried_in(&self) -> Option<Duration> {
        match self {
            State::Lost { next_try, .. } => Some(next_try.duration_since(Instant::now())),
            _ => None,
        }
    }
}

/// A configured server, as it is now.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// Its entry.
    pub config: Arc<ServerConfig>,
    /// How it is.
    pub state: State,
}

/// How all servers are, counted.
#[derive(Debug, Clone, Default)]
pub struct Status {
    /// How many there are.
    pub configured_servers: usize,
    /// How many of them may be connected to.
    pub enabled_servers: usize,
    /// How many are connected.
    pub connected_servers: usize,
    /// The tools of those that are connected.
    pub tools: usize,
    /// Their resources.
    pub resources: usize,
    /// Their resource templates.
    pub templates: usize,
    /// Their prompts.
    pub prompts: usize,
    /// Each of them, by name.
    pub servers: Vec<ServerStatus>,
}

impl Status {
    pub(super) fn of(servers: Vec<ServerStatus>) -> Status {
        let mut status = Status { configured_servers: servers.len(), ..Status::default() };
        for server in &servers {
            status.enabled_servers += usize::from(server.config.enabled);
            let Some(connection) = server.state.connection() else { continue };
            let lists = connection.lists();
            status.connected_servers += 1;
            status.tools += lists.tools.items.len();
            status.resources += lists.resources.items.len();
            status.templates += lists.templates.items.len();
            status.prompts += lists.prompts.items.len();
        }
        Status { servers, ..status }
    }
}

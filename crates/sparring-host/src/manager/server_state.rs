//! The state of a server, and counts of all servers.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::connection::Connection;
use super::error::Error;
use crate::config::ServerConfig;

/// The state of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ServerState {
    /// The server's entry disables it.
    Disabled,
    /// Not connected on purpose.
    Idle,
    /// Being started or connected.
    Connecting {
        /// The number of the try after the server was lost; 0 if it was
        /// requested.
        attempt: u32,
    },
    /// Connected.
    Connected(Connection),
    /// Lost; the next try is scheduled.
    Lost {
        /// The reason.
        why: Error,
        /// The number of the next try.
        attempt: u32,
        /// The time of the next try.
        next_try: Instant,
    },
    /// Not connected, and not tried again.
    Failed {
        /// The reason.
        why: Error,
    },
    /// Being shut down.
    Closing,
}

impl ServerState {
    /// The connection, if the server is connected.
    pub fn connection(&self) -> Option<&Connection> {
        match self {
            ServerState::Connected(connection) => Some(connection),
            _ => None,
        }
    }

    /// The reason if the server is lost or failed.
    pub fn reason(&self) -> Option<&Error> {
        match self {
            ServerState::Lost { why, .. } | ServerState::Failed { why } => Some(why),
            _ => None,
        }
    }

    /// A stable name, for programs and people.
    pub fn name(&self) -> &'static str {
        match self {
            ServerState::Disabled => "disabled",
            ServerState::Idle => "idle",
            ServerState::Connecting { .. } => "connecting",
            ServerState::Connected(_) => "connected",
            ServerState::Lost { .. } => "lost",
            ServerState::Failed { .. } => "failed",
            ServerState::Closing => "closing",
        }
    }

    /// The time until the next try, if one is scheduled.
    pub fn retry_in(&self) -> Option<Duration> {
        match self {
            ServerState::Lost { next_try, .. } => Some(next_try.duration_since(Instant::now())),
            _ => None,
        }
    }
}

/// A configured server and its state.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// Its entry.
    pub config: Arc<ServerConfig>,
    /// Its state.
    pub state: ServerState,
}

/// Counts of all servers and of their items.
#[derive(Debug, Clone, Default)]
pub struct ManagerStatus {
    /// The number of configured servers.
    pub configured_servers: usize,
    /// The number of enabled servers.
    pub enabled_servers: usize,
    /// The number of connected servers.
    pub connected_servers: usize,
    /// The number of tools of the connected servers.
    pub tools: usize,
    /// The number of their resources.
    pub resources: usize,
    /// The number of their resource templates.
    pub templates: usize,
    /// The number of their prompts.
    pub prompts: usize,
    /// Every server, by name.
    pub servers: Vec<ServerStatus>,
}

impl ManagerStatus {
    pub(super) fn from_servers(servers: Vec<ServerStatus>) -> ManagerStatus {
        let mut status =
            ManagerStatus { configured_servers: servers.len(), ..ManagerStatus::default() };
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
        ManagerStatus { servers, ..status }
    }
}

//! What a server is told by others.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::super::connection::Connection;
use super::super::error::Error;
use crate::config::ServerConfig;

/// Who waits for a connection.
pub(in super::super) type Reply = oneshot::Sender<Result<Connection, Error>>;

/// Something that somebody wants of a server.
pub(in super::super) enum Order {
    /// Connect, if it is not; now, if it was lost.
    Connect(Reply),
    /// End the connection, if there is one, and make another.
    Reconnect(Reply),
    /// End the connection, and try no more.
    Disconnect(oneshot::Sender<()>),
    /// Another entry is in force. Whoever waits is told of the connection that
    /// is made because of it, and of nothing where none is.
    Configure(Arc<ServerConfig>, Reply),
    /// End the connection, and the task.
    Leave(oneshot::Sender<()>),
}

impl Order {
    /// Whether it can be obeyed beside a connection that stands or is made with
    /// this entry: only what it says of policy differs.
    pub(super) fn is_policy(&self, config: &ServerConfig) -> bool {
        match self {
            Order::Configure(new, _) => {
                new.target == config.target && new.protocol == config.protocol && new.enabled
            }
            _ => false,
        }
    }
}

//! A connection while it stands, and how it ends.

use std::sync::Arc;
use std::time::Duration;

use sparring_peer::Cause;
use sparring_transport::Container;

use super::super::connection::Connection;
use super::super::error::Error;
use super::super::keep::Keep;
use super::super::state::State;
use super::{Order, Phase, Server};

/// After how long a server that is lost once more counts as one that was well.
const STABLE: Duration = Duration::from_secs(60);

/// A connection that stands.
pub(super) struct Open {
    pub(super) connection: Connection,
    pub(super) keep: Keep,
    pub(super) container: Option<Container>,
}

impl Server {
    /// Stays connected until the server is lost or somebody wants an end.
    pub(super) async fn stay(&mut self, open: Open) -> Phase {
        let Open { connection, mut keep, container } = open;
        let order = loop {
            tokio::select! {
                biased;
                cause = connection.closed() => return self.gone(&connection, cause),
                order = self.orders.recv() => match order {
                    Some(Order::Connect(reply)) => {
                        let _ = reply.send(Ok(connection.clone()));
                    }
                    Some(order) if order.is_policy(&self.config.borrow()) => self.adopt(order),
                    other => break other,
                },
                never = keep.run() => match never {},
            }
        };
        drop(keep);
        // The manager is gone: so is the link, by now.
        let Some(order) = order else { return Phase::Leave };
        self.turn(State::Closing);
        self.close(connection.client(), container).await;
        self.obey(order)
    }

    fn gone(&mut self, connection: &Connection, cause: Cause) -> Phase {
        if connection.since().elapsed() >= STABLE {
            self.tries = 0;
        }
        // A server that has only forgotten a session is there.
        let at_once = matches!(cause, Cause::SessionLost(_)) && self.tries == 0;
        self.lost(Error::Lost { server: Arc::clone(&self.name), cause }, at_once)
    }
}

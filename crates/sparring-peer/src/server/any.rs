//! A server without the type of its handler, for whoever serves any of them and
//! is to be built only once.

use std::sync::Arc;

use sparring_wire::{Frame, Revision};

use super::alone::Lone;
use super::handler::Handler;
use super::running::Running;
use super::session::Connection;
use super::{Server, Shared};
use crate::link::{Envelope, Link};

/// A server, whatever its handler is. Cheap to clone; all clones are one server.
#[derive(Debug, Clone)]
pub struct AnyServer(Arc<Shared>);

impl AnyServer {
    /// The same server.
    pub fn of<H: Handler>(server: &Server<H>) -> Self {
        AnyServer(Arc::clone(&server.shared))
    }

    /// See [`Server::revisions`].
    pub fn revisions(&self) -> &[Revision] {
        &self.0.revisions
    }

    /// See [`Server::answer`].
    pub fn answer(&self, frame: Frame, envelope: Option<Envelope>) -> Lone {
        Lone::new(&self.0, frame, envelope)
    }

    /// Serves a link in the background, in those of the server's revisions that
    /// begin with a handshake.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn spawn_handshakes_only(&self, link: Box<dyn Link>) -> Running {
        let mut connection = Connection::new(Arc::clone(&self.0), Some(link));
        connection.handshakes_only();
        Running::spawn(connection)
    }
}

//! The public handle of a session, with the type of its handler. Nothing below it
//! needs that type.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use sparring_wire::{Frame, Transcript};

use super::Connection;
use crate::link::{Cause, Link};
use crate::server::handler::Handler;
use crate::server::server_task::ServerTask;
use crate::server::{NoLink, Shared};

/// A server's end of one connection.
pub struct Session<H> {
    connection: Connection,
    handler: PhantomData<Arc<H>>,
}

impl<H: Handler> Session<H> {
    pub(in crate::server) fn new(shared: Arc<Shared>, link: Option<Box<dyn Link>>) -> Self {
        Session { connection: Connection::new(shared, link), handler: PhantomData }
    }

    /// Sets the link. This starts a new connection: the session and the requests
    /// of the old one are dropped.
    pub fn set_link(&mut self, link: impl Link) {
        self.connection.set_link(Box::new(link));
    }

    /// Sets the timeout of requests to the client (default: 60s).
    #[must_use]
    pub fn ask_timeout(mut self, timeout: Duration) -> Self {
        self.connection.ask_timeout = timeout;
        self
    }

    /// Uses only the server's legacy revisions, as on a link that began with a
    /// handshake.
    #[must_use]
    pub fn legacy_only(mut self) -> Self {
        self.connection.legacy_only();
        self
    }

    /// Serves in the background, until the end of input or until it is stopped.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn spawn(self) -> ServerTask {
        ServerTask::spawn(self.connection)
    }

    /// Records everything that passes the link into a transcript, from now on.
    #[must_use]
    pub fn record_in(mut self, transcript: &Transcript) -> Self {
        self.connection.record_in(transcript);
        self
    }

    /// Serves until the end of input, and returns the reason of the end. Requests
    /// in flight are still answered.
    ///
    /// # Errors
    /// If the session has no link.
    pub async fn serve(self) -> Result<Cause, NoLink> {
        self.connection.serve().await
    }

    /// Serves until this many requests, including the handshake's, have been
    /// answered, or until the end of input. Returns [`Cause::ClosedLocally`] in the first
    /// case.
    ///
    /// # Errors
    /// If the session has no link.
    pub async fn serve_requests(&mut self, count: u64) -> Result<Cause, NoLink> {
        self.connection.serve_requests(count).await
    }

    /// Serves one request without a link, and returns its response; none for a
    /// notification. Other messages of the handler go to the link, if there is
    /// one.
    pub async fn process_request(&mut self, frame: Frame) -> Option<Frame> {
        self.connection.process_request(frame).await
    }

    /// Receives and answers exactly one message. Returns true if one arrived
    /// within that time.
    ///
    /// # Errors
    /// If the session has no link.
    pub async fn process_one_message(&mut self, within: Duration) -> Result<bool, NoLink> {
        self.connection.process_one_message(within).await
    }
}

impl<H> std::fmt::Debug for Session<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("core", &self.connection.core).finish_non_exhaustive()
    }
}

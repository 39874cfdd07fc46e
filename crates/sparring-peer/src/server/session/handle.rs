//! A session as its owner has it: with the type of its handler, which nothing
//! below it needs.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use sparring_wire::{Frame, Transcript};

use super::Connection;
use crate::link::{Cause, Link};
use crate::server::handler::Handler;
use crate::server::running::Running;
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

    /// Gives the session a link. It is a fresh connection: what was agreed on
    /// or in flight before is forgotten.
    pub fn set_link(&mut self, link: impl Link) {
        self.connection.set_link(Box::new(link));
    }

    /// Waits this long for a client to answer a question, instead of a minute.
    #[must_use]
    pub fn ask_timeout(mut self, timeout: Duration) -> Self {
        self.connection.ask_timeout = timeout;
        self
    }

    /// Speaks only those of the server's revisions that begin with a handshake,
    /// as on a link that came with one of them.
    #[must_use]
    pub fn handshakes_only(mut self) -> Self {
        self.connection.handshakes_only();
        self
    }

    /// Serves in the background, until the end of input or until it is stopped.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn spawn(self) -> Running {
        Running::spawn(self.connection)
    }

    /// Records what passes the link into a transcript, from now on.
    #[must_use]
    pub fn recorded_in(mut self, transcript: &Transcript) -> Self {
        self.connection.record_in(transcript);
        self
    }

    /// Serves until the end of input, and says why it ended. What is in flight
    /// then is still answered.
    ///
    /// # Errors
    /// When the session has no link.
    pub async fn serve(self) -> Result<Cause, NoLink> {
        self.connection.serve().await
    }

    /// Serves until so many requests, the handshake's included, have been
    /// answered, or until the end of input, and says which it was.
    ///
    /// # Errors
    /// When the session has no link.
    pub async fn serve_requests(&mut self, count: u64) -> Result<Cause, NoLink> {
        self.connection.serve_requests(count).await
    }

    /// One request in, one response out, without any link; a notification has
    /// no response. What the handler says and asks meanwhile goes to the link,
    /// if there is one.
    pub async fn process_request(&mut self, frame: Frame) -> Option<Frame> {
        self.connection.process_request(frame).await
    }

    /// Receives, handles and answers exactly one message, and says whether
    /// there was one within that time.
    ///
    /// # Errors
    /// When the session has no link.
    pub async fn process_one_message(&mut self, within: Duration) -> Result<bool, NoLink> {
        self.connection.process_one_message(within).await
    }
}

impl<H> std::fmt::Debug for Session<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("core", &self.connection.core).finish_non_exhaustive()
    }
}

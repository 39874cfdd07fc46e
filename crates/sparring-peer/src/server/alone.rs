//! One request served alone, without a link or a connection: it says everything
//! itself, and whoever carries it takes each frame as it comes.

use std::future::poll_fn;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Context, Poll};

use sparring_wire::Frame;

use super::Shared;
use super::handler::Handler;
use super::session::Connection;
use crate::link::{Envelope, Faults, Incoming, LinkKind, Outgoing, Stream};

/// A request being served alone. Dropped, it is given up.
#[derive(Debug)]
#[must_use = "a request is served by taking its frames"]
pub struct Alone<H> {
    lone: Lone,
    handler: PhantomData<Arc<H>>,
}

impl<H: Handler> Alone<H> {
    pub(super) fn new(lone: Lone) -> Self {
        Alone { lone, handler: PhantomData }
    }

    /// The same, told to have come over this transport.
    pub fn over(self, transport: &'static str) -> Self {
        Alone::new(self.lone.over(transport))
    }

    /// The next frame: what is said meanwhile, then the answer, then none.
    pub async fn next(&mut self) -> Option<Frame> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The same, for whoever polls.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Frame>> {
        self.lone.poll_next(cx)
    }

    /// What is to go wrong with the frame that was given last.
    pub fn faults(&self) -> &Faults {
        self.lone.faults()
    }

    /// Whether the request came as far as being served; one that did not was
    /// refused for how it was asked.
    pub fn was_admitted(&self) -> bool {
        self.lone.was_admitted()
    }

    /// Ends a subscription in good order; its answer is then the next frame.
    pub fn end(&mut self) {
        self.lone.end();
    }
}

/// The same as [`Alone`], whatever the server's handler is.
#[must_use = "a request is served by taking its frames"]
pub struct Lone {
    connection: Connection,
    /// What is to go wrong with the frame that was given last.
    faults: Faults,
}

impl Lone {
    pub(super) fn new(shared: &Arc<Shared>, frame: Frame, envelope: Option<Envelope>) -> Self {
        let mut connection = Connection::without_link(Arc::clone(shared), LinkKind::Streams);
        let stream = frame.id().cloned().map_or(Stream::Standing, Stream::Request);
        connection.take_in(Incoming::on(stream, frame, envelope));
        Lone { connection, faults: Faults::none() }
    }

    /// See [`Alone::over`].
    pub fn over(mut self, transport: &'static str) -> Self {
        self.connection.came_over(transport);
        self
    }

    /// See [`Alone::poll_next`].
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Frame>> {
        loop {
            while let Some(action) = self.connection.poll_action() {
                if let Outgoing::Send { frame, faults, .. } = action {
                    self.faults = faults;
                    return Poll::Ready(Some(frame));
                }
            }
            if self.connection.go_on(cx) {
                continue;
            }
            return match self.connection.is_over() {
                true => Poll::Ready(None),
                false => Poll::Pending,
            };
        }
    }

    /// See [`Alone::faults`].
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// See [`Alone::was_admitted`].
    pub fn was_admitted(&self) -> bool {
        self.connection.has_admitted()
    }

    /// See [`Alone::end`].
    pub fn end(&mut self) {
        self.connection.end_subscriptions();
    }
}

impl std::fmt::Debug for Lone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lone").field("faults", &self.faults).finish_non_exhaustive()
    }
}

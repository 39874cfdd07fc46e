//! Serves one request without a session or a link, for requests that carry their
//! own metadata. The caller takes the frames one by one.

use std::future::poll_fn;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Context, Poll};

use sparring_wire::Frame;

use super::Shared;
use super::handler::Handler;
use super::session::Connection;
use crate::link::{Envelope, Faults, Incoming, LinkKind, Outgoing, Stream};

/// A request served without a session. Dropping it cancels the request.
#[derive(Debug)]
#[must_use = "a request is served by taking its frames"]
pub struct SingleRequest<H> {
    inner: AnySingleRequest,
    handler: PhantomData<Arc<H>>,
}

impl<H: Handler> SingleRequest<H> {
    pub(super) fn new(inner: AnySingleRequest) -> Self {
        SingleRequest { inner, handler: PhantomData }
    }

    /// Sets the name of the transport.
    pub fn with_transport_name(self, transport: &'static str) -> Self {
        SingleRequest::new(self.inner.with_transport_name(transport))
    }

    /// Returns the next frame: notifications, then the response, then none.
    pub async fn next(&mut self) -> Option<Frame> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Polls for the next frame; see [`SingleRequest::next`].
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Frame>> {
        self.inner.poll_next(cx)
    }

    /// Returns the faults to apply to the last returned frame.
    pub fn faults(&self) -> &Faults {
        self.inner.faults()
    }

    /// Returns true if the request reached the handler. Otherwise it was rejected
    /// as invalid.
    pub fn was_admitted(&self) -> bool {
        self.inner.was_admitted()
    }

    /// Ends a subscription normally. Its response is then the next frame.
    pub fn end_subscription(&mut self) {
        self.inner.end_subscription();
    }
}

/// A [`SingleRequest`] without the type of the handler.
#[must_use = "a request is served by taking its frames"]
pub struct AnySingleRequest {
    connection: Connection,
    /// The faults to apply to the last returned frame.
    faults: Faults,
}

impl AnySingleRequest {
    pub(super) fn new(shared: &Arc<Shared>, frame: Frame, envelope: Option<Envelope>) -> Self {
        let mut connection = Connection::without_link(Arc::clone(shared), LinkKind::Streams);
        let stream = frame.id().cloned().map_or(Stream::Connection, Stream::Request);
        connection.receive(Incoming::from_frame(stream, frame, envelope));
        AnySingleRequest { connection, faults: Faults::none() }
    }

    /// See [`SingleRequest::with_transport_name`].
    pub fn with_transport_name(mut self, transport: &'static str) -> Self {
        self.connection.set_transport_name(transport);
        self
    }

    /// See [`SingleRequest::poll_next`].
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Frame>> {
        loop {
            // First, so that the handler has observed a request before its response is sent.
            let busy = self.connection.run_handlers(cx);
            while let Some(action) = self.connection.poll_action() {
                if let Outgoing::Send { frame, faults, .. } = action {
                    self.faults = faults;
                    return Poll::Ready(Some(frame));
                }
            }
            if busy {
                continue;
            }
            if self.connection.unread_overflow(cx).is_some() {
                return Poll::Ready(None);
            }
            return match self.connection.has_nothing_in_flight() {
                true => Poll::Ready(None),
                false => Poll::Pending,
            };
        }
    }

    /// See [`SingleRequest::faults`].
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// See [`SingleRequest::was_admitted`].
    pub fn was_admitted(&self) -> bool {
        self.connection.has_admitted()
    }

    /// See [`SingleRequest::end_subscription`].
    pub fn end_subscription(&mut self) {
        self.connection.end_subscriptions();
    }
}

impl std::fmt::Debug for AnySingleRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lone").field("faults", &self.faults).finish_non_exhaustive()
    }
}

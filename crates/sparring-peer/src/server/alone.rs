//! One request served alone, without a link or a connection: it says everything
//! itself, and whoever carries it takes each frame as it comes.

use std::future::poll_fn;
use std::task::{Context, Poll};

use sparring_wire::Frame;

use super::handler::Handler;
use super::session::Session;
use crate::link::{Envelope, Faults, Incoming, LinkKind, Outgoing, Stream};

/// A request being served alone. Dropped, it is given up.
#[derive(Debug)]
#[must_use = "a request is served by taking its frames"]
pub struct Alone<H> {
    session: Session<H>,
    /// What is to go wrong with the frame that was given last.
    faults: Faults,
}

impl<H: Handler> Alone<H> {
    pub(super) fn new(mut session: Session<H>, frame: Frame, envelope: Option<Envelope>) -> Self {
        let stream = frame.id().cloned().map_or(Stream::Standing, Stream::Request);
        session.take_in(Incoming::on(stream, frame, envelope));
        Alone { session, faults: Faults::none() }
    }

    /// The same, told to have come over this transport.
    pub fn over(mut self, transport: &'static str) -> Self {
        self.session.came_over(transport);
        self
    }

    /// The kind of connection that such a request has.
    pub(super) const KIND: LinkKind = LinkKind::Streams;

    /// The next frame: what is said meanwhile, then the answer, then none.
    pub async fn next(&mut self) -> Option<Frame> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The same, for whoever polls.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Frame>> {
        loop {
            while let Some(action) = self.session.poll_action() {
                if let Outgoing::Send { frame, faults, .. } = action {
                    self.faults = faults;
                    return Poll::Ready(Some(frame));
                }
            }
            if self.session.go_on(cx) {
                continue;
            }
            return match self.session.is_over() {
                true => Poll::Ready(None),
                false => Poll::Pending,
            };
        }
    }

    /// What is to go wrong with the frame that was given last.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Whether the request came as far as being served; one that did not was
    /// refused for how it was asked.
    pub fn was_admitted(&self) -> bool {
        self.session.has_admitted()
    }

    /// Ends a subscription in good order; its answer is then the next frame.
    pub fn end(&mut self) {
        self.session.end_subscriptions();
    }
}

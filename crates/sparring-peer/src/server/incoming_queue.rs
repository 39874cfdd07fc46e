//! Receives for a session. While the session serves a fixed number of requests,
//! further requests are held back.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use sparring_wire::{Frame, FrameKind};

use crate::link::{Incoming, Link};

/// The maximum number of messages to hold back.
const MAX_HELD: usize = 1_000;

/// The messages to receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReceiveMode {
    /// Everything.
    All,
    /// Only messages that belong to requests being served: responses,
    /// notifications, ends of streams.
    NoRequests,
}

/// Messages that are held back.
#[derive(Debug, Default)]
pub(super) struct IncomingQueue {
    held: VecDeque<Incoming>,
}

impl IncomingQueue {
    /// Returns the next message that matches the mode: first from those held
    /// back, then from the link.
    pub(super) fn poll_receive(
        &mut self,
        link: &mut dyn Link,
        mode: ReceiveMode,
        cx: &mut Context<'_>,
    ) -> Poll<Incoming> {
        if mode == ReceiveMode::All
            && let Some(incoming) = self.held.pop_front()
        {
            return Poll::Ready(incoming);
        }
        while self.held.len() < MAX_HELD {
            let incoming = std::task::ready!(link.poll_receive(cx));
            if mode == ReceiveMode::All || !is_request(&incoming) {
                return Poll::Ready(incoming);
            }
            self.held.push_back(incoming);
        }
        Poll::Pending
    }

    /// Returns true if the queue is full, so that nothing more is received.
    pub(super) fn is_full(&self) -> bool {
        self.held.len() >= MAX_HELD
    }

    /// Returns true if any message is held back.
    pub(super) fn has_held(&self) -> bool {
        !self.held.is_empty()
    }
}

fn is_request(incoming: &Incoming) -> bool {
    match incoming {
        Incoming::Noise { .. } => true,
        Incoming::Frame { frame, .. } => expects_response(frame),
        Incoming::StreamEnded { .. }
        | Incoming::MessagesLost(_)
        | Incoming::Restarted
        | Incoming::NotRestarted
        | Incoming::Closed(_) => false,
    }
}

/// Returns true if a frame expects a response. A malformed response does not.
fn expects_response(frame: &Frame) -> bool {
    match frame.kind() {
        FrameKind::Request => true,
        FrameKind::Notification | FrameKind::Result | FrameKind::Error => false,
        FrameKind::Other => frame.result().is_none() && frame.error().is_none(),
        FrameKind::Batch => frame.batch_items().any(|item| expects_response(&item)),
    }
}

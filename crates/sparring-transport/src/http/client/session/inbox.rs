//! The queue of frames that the exchanges of a link have received.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use sparring_peer::Incoming;

use super::ClientSession;

/// The maximum size of the queue. Exchanges wait while it is full.
const MAX_FRAMES: usize = 1_000;
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The queue.
#[derive(Default)]
pub(super) struct Inbox {
    queue: VecDeque<Incoming>,
    /// The size of the queued frames.
    bytes: usize,
    /// The exchanges that wait for room.
    waiting: Vec<Waker>,
}

impl Inbox {
    fn has_room(&self) -> bool {
        self.queue.len() < MAX_FRAMES && self.bytes < MAX_BYTES
    }

    fn push(&mut self, incoming: Incoming) {
        self.bytes += size(&incoming);
        self.queue.push_back(incoming);
    }

    fn take(&mut self) -> Option<Incoming> {
        let taken = self.queue.pop_front();
        self.bytes -= taken.as_ref().map_or(0, size);
        if self.has_room() && !self.waiting.is_empty() {
            self.waiting.drain(..).for_each(Waker::wake);
        }
        taken
    }
}

impl ClientSession {
    pub(in super::super) fn push(&self, incoming: Incoming) {
        self.state().inbox.push(incoming);
    }

    pub(in super::super) fn take(&self) -> Option<Incoming> {
        self.state().inbox.take()
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.state().inbox.queue.is_empty()
    }

    /// Waits until the queue has room.
    pub(in super::super) async fn wait_for_room(&self) {
        poll_fn(|cx| {
            let inbox = &mut self.state().inbox;
            if inbox.has_room() {
                return Poll::Ready(());
            }
            inbox.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

fn size(incoming: &Incoming) -> usize {
    match incoming {
        Incoming::Frame { frame, .. } | Incoming::Noise { frame, .. } => frame.bytes().len(),
        _ => 0,
    }
}

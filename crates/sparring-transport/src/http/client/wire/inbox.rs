//! What the exchanges of a link bring, until its owner takes it.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use sparring_peer::Incoming;

use super::Wire;

/// How much is collected before exchanges wait until some of it was taken.
const MOST: usize = 1_000;
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// What has come.
#[derive(Default)]
pub(super) struct Inbox {
    queue: VecDeque<Incoming>,
    /// How much stands in it.
    bytes: usize,
    /// Who waits for room.
    waiting: Vec<Waker>,
}

impl Inbox {
    fn has_room(&self) -> bool {
        self.queue.len() < MOST && self.bytes < MOST_BYTES
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

impl Wire {
    pub(in super::super) fn push(&self, incoming: Incoming) {
        self.state().inbox.push(incoming);
    }

    pub(in super::super) fn take(&self) -> Option<Incoming> {
        self.state().inbox.take()
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.state().inbox.queue.is_empty()
    }

    /// Waits until there is room for more.
    pub(in super::super) async fn room(&self) {
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

//! A bounded queue of the frames that the target sends, for a verb that reads all of
//! them. The link stops receiving while the queue is full.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use sparring_peer::Cause;
use sparring_wire::Entry;

/// The queue is full at this size.
const MAX_QUEUED_BYTES: usize = 1024 * 1024;

/// Approximate memory of a frame besides its bytes.
const FRAME_OVERHEAD: usize = 512;

/// A queue of frames. Clones share the queue.
#[derive(Clone, Default)]
pub(crate) struct FrameQueue(Arc<Mutex<QueueState>>);

#[derive(Default)]
struct QueueState {
    started: bool,
    queue: VecDeque<Entry>,
    size: usize,
    /// The bytes of sent frames that are not written yet.
    unsent_bytes: usize,
    /// Why nothing more can be sent.
    send_error: Option<Cause>,
    /// Woken when a frame arrives, and when there is capacity.
    reader_waker: Option<Waker>,
    link_waker: Option<Waker>,
}

impl FrameQueue {
    /// Starts to keep frames. Earlier frames are dropped.
    pub(crate) fn start(&self) {
        self.state().started = true;
    }

    /// Adds a frame, even if the queue is full.
    pub(crate) fn push(&self, entry: &Entry) {
        let mut state = self.state();
        if !state.started {
            return;
        }
        state.size += entry.frame.bytes().len() + FRAME_OVERHEAD;
        state.queue.push_back(entry.clone());
        if let Some(waker) = state.reader_waker.take() {
            waker.wake();
        }
    }

    /// Waits until there are frames, and takes all of them.
    pub(crate) async fn next(&self) -> VecDeque<Entry> {
        poll_fn(|cx| {
            let entries = self.take();
            if entries.is_empty() {
                self.state().reader_waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(entries)
        })
        .await
    }

    /// Takes all frames.
    pub(crate) fn take(&self) -> VecDeque<Entry> {
        let mut state = self.state();
        state.size = 0;
        if let Some(waker) = state.link_waker.take() {
            waker.wake();
        }
        std::mem::take(&mut state.queue)
    }

    /// Ready when the queue has capacity.
    pub(crate) fn poll_capacity(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.size < MAX_QUEUED_BYTES {
            return Poll::Ready(());
        }
        state.link_waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Waits until something cannot be sent, and returns the reason.
    pub(crate) async fn send_error(&self) -> Cause {
        poll_fn(|cx| {
            let mut state = self.state();
            state.reader_waker = Some(cx.waker().clone());
            state.send_error.clone().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Returns true if this is the reason that [`FrameQueue::send_error`] reports.
    pub(crate) fn is_send_error(&self, cause: &Cause) -> bool {
        self.state().send_error.as_ref() == Some(cause)
    }

    pub(crate) fn set_send_error(&self, cause: Cause) {
        let mut state = self.state();
        state.send_error = Some(cause).filter(|_| state.started);
        if let Some(waker) = state.reader_waker.take() {
            waker.wake();
        }
    }

    /// The bytes of sent frames that are not written yet.
    pub(crate) fn unsent_bytes(&self) -> usize {
        self.state().unsent_bytes
    }

    pub(crate) fn set_unsent_bytes(&self, unsent_bytes: usize) {
        self.state().unsent_bytes = unsent_bytes;
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sparring_wire::{Frame, Side};

    use super::*;

    fn entry(length: usize) -> Entry {
        let frame = Frame::parse(vec![b'x'; length]);
        let (at, from, status) = (Duration::ZERO, Side::Server, None);
        Entry { at, from, frame, status, violations: Vec::new() }
    }

    #[test]
    fn a_full_queue_has_capacity_after_its_frames_are_taken() {
        let frames = FrameQueue::default();
        frames.push(&entry(MAX_QUEUED_BYTES));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(frames.take().is_empty(), "the queue was not started");
        frames.start();
        frames.push(&entry(3));
        assert!(frames.poll_capacity(&mut cx).is_ready());
        frames.push(&entry(MAX_QUEUED_BYTES));
        assert!(frames.poll_capacity(&mut cx).is_pending());
        assert_eq!(frames.take().len(), 2);
        assert!(frames.poll_capacity(&mut cx).is_ready());
    }
}

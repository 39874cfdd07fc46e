//! Drives a peer by hand in a test: queues frames for the peer, and takes the
//! frames that it sends.
//!
//! No call blocks for longer than the timeout it is given.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use sparring_wire::Frame;

use super::{Incoming, Link, LinkKind, MemoryLink, memory};

/// The far end of a memory link, driven by a test. Cheap to clone, and usable
/// from many threads.
#[derive(Debug, Clone)]
pub struct MemoryTransport(Arc<Mutex<TransportState>>);

#[derive(Debug)]
struct TransportState {
    link: MemoryLink,
    sent: Vec<Frame>,
    /// The number of frames in `sent` that [`MemoryTransport::next_sent`] has
    /// returned.
    taken: usize,
    wakers: Arc<WakerSet>,
}

impl MemoryTransport {
    /// Creates a transport, and the link for the peer under test.
    pub fn new() -> (MemoryTransport, MemoryLink) {
        let (link, peer) = memory(LinkKind::Shared);
        let state = TransportState { link, sent: Vec::new(), taken: 0, wakers: Arc::default() };
        (MemoryTransport(Arc::new(Mutex::new(state))), peer)
    }

    /// Queues any bytes for the peer to receive.
    pub fn queue_incoming(&self, bytes: impl Into<Vec<u8>>) {
        self.synced_state().link.send(Frame::parse(bytes).into());
    }

    /// Ends the peer's input. Frames that the peer still sends can be taken.
    pub fn close(&self) {
        self.synced_state().link.end_output();
    }

    /// Returns the next frame that the peer sent and that was not yet taken.
    pub fn next_sent(&self) -> Option<Frame> {
        self.synced_state().take_next()
    }

    /// Waits up to `within` for the next frame that the peer sends. Returns none
    /// after that time, or when the peer is gone.
    pub async fn wait_sent(&self, within: Duration) -> Option<Frame> {
        let next = std::future::poll_fn(|cx| {
            let mut state = self.synced_state();
            if let Some(frame) = state.take_next() {
                return Poll::Ready(Some(frame));
            }
            state.wakers.add(cx.waker());
            let all = Waker::from(Arc::clone(&state.wakers));
            match state.link.poll_receive(&mut Context::from_waker(&all)) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(incoming) => {
                    let closed = matches!(incoming, Incoming::Closed(_));
                    state.store_frame(incoming);
                    match state.take_next() {
                        None if !closed => {
                            cx.waker().wake_by_ref();
                            Poll::Pending
                        }
                        taken => Poll::Ready(taken),
                    }
                }
            }
        });
        tokio::time::timeout(within, next).await.ok().flatten()
    }

    /// Returns the last frame that the peer sent, taken or not.
    pub fn last_sent(&self) -> Option<Frame> {
        self.synced_state().sent.last().cloned()
    }

    /// Returns every frame that the peer sent since the last
    /// [`MemoryTransport::clear`].
    pub fn all_sent(&self) -> Vec<Frame> {
        self.synced_state().sent.clone()
    }

    /// Drops the stored frames.
    pub fn clear(&self) {
        let mut state = self.synced_state();
        state.sent.clear();
        state.taken = 0;
    }

    fn lock(&self) -> MutexGuard<'_, TransportState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state after storing everything that the peer has sent so far.
    fn synced_state(&self) -> MutexGuard<'_, TransportState> {
        let mut state = self.lock();
        while let Some(incoming) = state.link.try_receive() {
            state.store_frame(incoming);
        }
        state
    }
}

impl TransportState {
    fn store_frame(&mut self, incoming: Incoming) {
        if let Incoming::Frame { frame, .. } | Incoming::Noise { frame, .. } = incoming {
            self.sent.push(frame);
        }
    }

    fn take_next(&mut self) -> Option<Frame> {
        let frame = self.sent.get(self.taken).cloned()?;
        self.taken += 1;
        Some(frame)
    }
}

/// All tasks that wait for the peer, because a link wakes only one.
#[derive(Debug, Default)]
struct WakerSet(Mutex<Vec<Waker>>);

impl WakerSet {
    fn add(&self, waker: &Waker) {
        let mut wakers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
    }
}

impl Wake for WakerSet {
    fn wake(self: Arc<Self>) {
        let wakers = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        wakers.into_iter().for_each(Waker::wake);
    }
}

//! A test's hand on a server: queue what it shall receive, take what it sent.
//!
//! Every call returns at once or within the time it is given.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use sparring_wire::Frame;

use super::{Incoming, Link, LinkKind, MemoryLink, memory};

/// The far end of a memory link, driven by hand. Cheap to clone, and usable
/// from many threads.
#[derive(Debug, Clone)]
pub struct MemoryTransport(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    link: MemoryLink,
    sent: Vec<Frame>,
    /// How many of `sent` were taken by [`MemoryTransport::next_sent`].
    taken: usize,
    waiting: Arc<Waiting>,
}

impl MemoryTransport {
    /// A transport, and the link to give to the peer under test.
    pub fn new() -> (MemoryTransport, MemoryLink) {
        let (link, peer) = memory(LinkKind::Shared);
        let state = State { link, sent: Vec::new(), taken: 0, waiting: Arc::default() };
        (MemoryTransport(Arc::new(Mutex::new(state))), peer)
    }

    /// Queues bytes for the peer to receive, whatever they are.
    pub fn queue_incoming(&self, bytes: impl Into<Vec<u8>>) {
        self.state().link.send(Frame::parse(bytes).into());
    }

    /// Ends the peer's input; what it still sends can be taken.
    pub fn close(&self) {
        self.state().link.end_output();
    }

    /// The next frame that the peer sent and nobody took, if there is one.
    pub fn next_sent(&self) -> Option<Frame> {
        self.state().take()
    }

    /// Waits for the next frame that the peer sends, for at most that long;
    /// none when the time is over or the peer is gone.
    pub async fn wait_sent(&self, within: Duration) -> Option<Frame> {
        let next = std::future::poll_fn(|cx| {
            let mut state = self.state();
            if let Some(frame) = state.take() {
                return Poll::Ready(Some(frame));
            }
            state.waiting.add(cx.waker());
            let all = Waker::from(Arc::clone(&state.waiting));
            match state.link.poll_receive(&mut Context::from_waker(&all)) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(incoming) => {
                    let ended = matches!(incoming, Incoming::Closed(_));
                    state.keep(incoming);
                    match state.take() {
                        None if !ended => {
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

    /// The last frame that the peer sent, taken or not.
    pub fn last_sent(&self) -> Option<Frame> {
        self.state().sent.last().cloned()
    }

    /// Every frame that the peer sent since the last [`MemoryTransport::clear`].
    pub fn all_sent(&self) -> Vec<Frame> {
        self.state().sent.clone()
    }

    /// Forgets what the peer sent.
    pub fn clear(&self) {
        let mut state = self.state();
        state.sent.clear();
        state.taken = 0;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state with everything in it that the peer has sent up to now.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        while let Some(incoming) = state.link.try_receive() {
            state.keep(incoming);
        }
        state
    }
}

impl State {
    fn keep(&mut self, incoming: Incoming) {
        if let Incoming::Frame { frame, .. } | Incoming::Noise { frame, .. } = incoming {
            self.sent.push(frame);
        }
    }

    fn take(&mut self) -> Option<Frame> {
        let frame = self.sent.get(self.taken).cloned()?;
        self.taken += 1;
        Some(frame)
    }
}

/// Everybody who waits for the peer; a link itself wakes only one.
#[derive(Debug, Default)]
struct Waiting(Mutex<Vec<Waker>>);

impl Waiting {
    fn add(&self, waker: &Waker) {
        let mut wakers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
    }
}

impl Wake for Waiting {
    fn wake(self: Arc<Self>) {
        let wakers = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        wakers.into_iter().for_each(Waker::wake);
    }
}

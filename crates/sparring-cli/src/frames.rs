//! What the target sends, for a verb that wants to see all of it. The queue has
//! a bound: a target that sends faster than is looked at has to wait.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use sparring_peer::Cause;
use sparring_wire::Entry;

/// More bytes queued than this, and there is no room.
const FULL: usize = 1024 * 1024;

/// What a frame takes besides its bytes, about.
const BESIDES: usize = 512;

/// A queue of frames. Cheap to clone; all clones are the same queue.
#[derive(Clone, Default)]
pub(crate) struct Frames(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    wanted: bool,
    queue: VecDeque<Entry>,
    size: usize,
    /// How much of what was sent is not written yet.
    unsent: usize,
    /// Why nothing can be sent any more.
    broken: Option<Cause>,
    /// Who waits for something to come, and who for room.
    looking: Option<Waker>,
    filling: Option<Waker>,
}

impl Frames {
    /// From now on frames are kept; what came before was of no interest.
    pub(crate) fn begin(&self) {
        self.state().wanted = true;
    }

    /// Adds a frame, room or not.
    pub(crate) fn add(&self, entry: &Entry) {
        let mut state = self.state();
        if !state.wanted {
            return;
        }
        state.size += entry.frame.bytes().len() + BESIDES;
        state.queue.push_back(entry.clone());
        if let Some(waker) = state.looking.take() {
            waker.wake();
        }
    }

    /// Everything that has come, as soon as something has.
    pub(crate) async fn next(&self) -> VecDeque<Entry> {
        poll_fn(|cx| {
            let entries = self.take();
            if entries.is_empty() {
                self.state().looking = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(entries)
        })
        .await
    }

    /// Everything that has come.
    pub(crate) fn take(&self) -> VecDeque<Entry> {
        let mut state = self.state();
        state.size = 0;
        if let Some(waker) = state.filling.take() {
            waker.wake();
        }
        std::mem::take(&mut state.queue)
    }

    /// Ready when there is room for more.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.size < FULL {
            return Poll::Ready(());
        }
        state.filling = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Ready when something could not be sent, with the reason.
    pub(crate) async fn broken(&self) -> Cause {
        poll_fn(|cx| {
            let mut state = self.state();
            state.looking = Some(cx.waker().clone());
            state.broken.clone().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }

    /// Whether that is what broke, of which whoever wanted them has been told.
    pub(crate) fn is_broken_by(&self, cause: &Cause) -> bool {
        self.state().broken.as_ref() == Some(cause)
    }

    pub(crate) fn set_broken(&self, cause: Cause) {
        let mut state = self.state();
        state.broken = Some(cause).filter(|_| state.wanted);
        if let Some(waker) = state.looking.take() {
            waker.wake();
        }
    }

    /// How much of what was sent has not left.
    pub(crate) fn unsent(&self) -> usize {
        self.state().unsent
    }

    pub(crate) fn set_unsent(&self, unsent: usize) {
        self.state().unsent = unsent;
    }

    fn state(&self) -> MutexGuard<'_, State> {
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
    fn there_is_no_room_until_somebody_has_looked() {
        let frames = Frames::default();
        frames.add(&entry(FULL));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(frames.take().is_empty(), "nobody wanted it");
        frames.begin();
        frames.add(&entry(3));
        assert!(frames.poll_room(&mut cx).is_ready());
        frames.add(&entry(FULL));
        assert!(frames.poll_room(&mut cx).is_pending());
        assert_eq!(frames.take().len(), 2);
        assert!(frames.poll_room(&mut cx).is_ready());
    }
}

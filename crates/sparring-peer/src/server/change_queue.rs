//! The queues of change notifications, one for each session, and their limits. All queues share
//! the bytes of a notification.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use sparring_wire::Frame;

use super::core::CurrentLists;

/// The maximum number of notifications in a queue; more are dropped.
const MAX_QUEUED_CHANGES: usize = 1_000;

/// The maximum number of bytes in a queue. A session whose client reads too slowly for it ends.
const MAX_QUEUED_BYTES: usize = 4 * 1024 * 1024;

/// The maximum number of bytes in all queues of a server. The sessions with the longest queues
/// end.
const MAX_TOTAL_BYTES: usize = 64 * 1024 * 1024;

/// A notification for all sessions of a server.
#[derive(Debug)]
pub(super) struct ChangeNotification {
    pub(super) frame: Frame,
    /// The capability that a server must declare to send it, if any.
    pub(super) capability: Option<&'static str>,
    /// The current lists, if the notification is about lists and clients are
    /// notified only of changes.
    pub(super) lists: Option<Arc<CurrentLists>>,
}

/// A notification in at least one queue.
#[derive(Debug)]
pub(super) struct QueuedChange {
    pub(super) change: ChangeNotification,
    /// The bytes of all queued notifications of the server.
    total: Arc<AtomicUsize>,
}

impl QueuedChange {
    fn size(&self) -> usize {
        self.change.frame.bytes().len()
    }
}

impl Drop for QueuedChange {
    fn drop(&mut self) {
        self.total.fetch_sub(self.size(), Ordering::Relaxed);
    }
}

/// The queue of one session.
#[derive(Debug, Default)]
pub(super) struct ChangeQueue(Mutex<QueueState>);

#[derive(Debug, Default)]
struct QueueState {
    changes: VecDeque<Arc<QueuedChange>>,
    bytes: usize,
    overflowed: bool,
    waker: Option<Waker>,
}

impl ChangeQueue {
    /// Returns the next notification.
    pub(super) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Arc<QueuedChange>> {
        let mut state = self.lock();
        match state.changes.pop_front() {
            Some(change) => {
                state.bytes -= change.size();
                Poll::Ready(change)
            }
            None => {
                state.register(cx);
                Poll::Pending
            }
        }
    }

    /// Returns true if the session must end, since its client reads too slowly.
    pub(super) fn poll_overflowed(&self, cx: &mut Context<'_>) -> bool {
        let mut state = self.lock();
        state.register(cx);
        state.overflowed
    }

    fn push(&self, change: &Arc<QueuedChange>) {
        let mut state = self.lock();
        if state.overflowed || state.changes.len() >= MAX_QUEUED_CHANGES {
            return;
        }
        if state.bytes > 0 && state.bytes + change.size() > MAX_QUEUED_BYTES {
            return state.overflow();
        }
        state.bytes += change.size();
        state.changes.push_back(Arc::clone(change));
        state.wake();
    }

    fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    fn overflow(&mut self) {
        self.changes = VecDeque::new();
        self.bytes = 0;
        self.overflowed = true;
        self.wake();
    }

    fn register(&mut self, cx: &Context<'_>) {
        match &mut self.waker {
            Some(known) if known.will_wake(cx.waker()) => {}
            known => *known = Some(cx.waker().clone()),
        }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// The queues of all open sessions.
#[derive(Debug, Default)]
pub(super) struct SessionList {
    queues: Mutex<Vec<Weak<ChangeQueue>>>,
    /// The bytes of all queued notifications.
    total: Arc<AtomicUsize>,
    /// The number of sessions that have started.
    started: AtomicU64,
}

impl SessionList {
    /// Returns the number of a new session.
    pub(super) fn next_number(&self) -> u64 {
        self.started.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the queue of a new session.
    pub(super) fn add_session(&self) -> Arc<ChangeQueue> {
        let queue = Arc::new(ChangeQueue::default());
        let mut queues = self.queues();
        queues.retain(|queue| queue.strong_count() > 0);
        queues.push(Arc::downgrade(&queue));
        queue
    }

    /// Adds a notification to all queues.
    pub(super) fn broadcast(&self, change: ChangeNotification) {
        self.total.fetch_add(change.frame.bytes().len(), Ordering::Relaxed);
        let change = Arc::new(QueuedChange { change, total: Arc::clone(&self.total) });
        let mut open = Vec::new();
        self.queues().retain(|queue| {
            let queue = queue.upgrade();
            open.extend(queue.clone());
            queue.is_some()
        });
        for queue in &open {
            queue.push(&change);
        }
        drop(change);
        while self.total.load(Ordering::Relaxed) > MAX_TOTAL_BYTES {
            let Some(longest) = open.iter().max_by_key(|queue| queue.bytes()) else { return };
            // Another broadcast may hold the rest.
            if longest.bytes() == 0 {
                return;
            }
            longest.lock().overflow();
        }
    }

    fn queues(&self) -> MutexGuard<'_, Vec<Weak<ChangeQueue>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use sparring_wire::RawJson;

    use super::*;

    fn change(bytes: usize) -> ChangeNotification {
        let params = RawJson::from(serde_json::json!({"text": "x".repeat(bytes)}));
        let frame = Frame::notification("notifications/x", Some(&params));
        ChangeNotification { frame, capability: None, lists: None }
    }

    fn next(queue: &ChangeQueue) -> Option<Arc<QueuedChange>> {
        match queue.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(change) => Some(change),
            Poll::Pending => None,
        }
    }

    fn overflowed(queue: &ChangeQueue) -> bool {
        queue.poll_overflowed(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn queues_share_a_notification_and_free_it_after_the_last() {
        let sessions = SessionList::default();
        let (first, second) = (sessions.add_session(), sessions.add_session());
        sessions.broadcast(change(1_000));
        let (one, two) = (next(&first).unwrap(), next(&second).unwrap());
        assert!(Arc::ptr_eq(&one, &two));
        assert!(sessions.total.load(Ordering::Relaxed) >= 1_000);
        drop((one, two));
        assert_eq!(sessions.total.load(Ordering::Relaxed), 0);
        assert!(next(&first).is_none() && !overflowed(&first));
    }

    #[test]
    fn a_session_that_does_not_read_overflows_alone() {
        let sessions = SessionList::default();
        let (reads, idle) = (sessions.add_session(), sessions.add_session());
        for _ in 0..5 {
            sessions.broadcast(change(MAX_QUEUED_BYTES / 4));
            assert!(next(&reads).is_some());
        }
        assert_eq!((overflowed(&reads), overflowed(&idle)), (false, true));
        assert!(next(&idle).is_none());
        assert_eq!(sessions.total.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn the_longest_queues_overflow_at_the_total_limit() {
        let sessions = SessionList::default();
        let mut idle = Vec::new();
        let frame = change(MAX_QUEUED_BYTES - 1_000).frame;
        // Each new session gets other notifications than those before.
        for _ in 0..(2 * MAX_TOTAL_BYTES / MAX_QUEUED_BYTES) {
            idle.push(sessions.add_session());
            let (frame, capability, lists) = (frame.clone(), None, None);
            sessions.broadcast(ChangeNotification { frame, capability, lists });
        }
        assert!(sessions.total.load(Ordering::Relaxed) <= MAX_TOTAL_BYTES);
        assert!(!overflowed(idle.last().unwrap()));
    }
}

//! The queues of change notifications, one for each session, and their limits. All queues share
//! the bytes of a notification.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use sparring_wire::Frame;
use tokio::runtime::Handle;
use tokio::task::yield_now;

use super::core::CurrentLists;

/// The maximum number of notifications in a queue; more are dropped.
const MAX_QUEUED_CHANGES: usize = 1_000;

/// The maximum number of bytes in a queue. A session whose client reads too slowly for it ends.
const MAX_QUEUED_BYTES: usize = 4 * 1024 * 1024;

/// The maximum number of bytes in all queues of a server. The sessions with the longest queues
/// end.
const MAX_TOTAL_BYTES: usize = 64 * 1024 * 1024;

/// The number of sessions that a notification wakes at once. The others are woken in further
/// groups, and other tasks run between two groups, so that a request does not wait until
/// thousands of sessions have sent the notification.
const MAX_SESSIONS_WOKEN_AT_ONCE: usize = 4;

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

    /// Adds a notification. Returns the waker of the session, if it waits for one.
    fn push(&self, change: &Arc<QueuedChange>) -> Option<Waker> {
        let mut state = self.lock();
        if state.overflowed || state.changes.len() >= MAX_QUEUED_CHANGES {
            return None;
        }
        if state.bytes > 0 && state.bytes + change.size() > MAX_QUEUED_BYTES {
            state.overflow();
        } else {
            state.bytes += change.size();
            state.changes.push_back(Arc::clone(change));
        }
        state.waker.take()
    }

    /// Ends the session.
    fn overflow(&self) -> Option<Waker> {
        let mut state = self.lock();
        state.overflow();
        state.waker.take()
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
    }

    fn register(&mut self, cx: &Context<'_>) {
        match &mut self.waker {
            Some(known) if known.will_wake(cx.waker()) => {}
            known => *known = Some(cx.waker().clone()),
        }
    }
}

/// Wakes sessions in groups.
fn wake_sessions(mut wakers: Vec<Waker>) {
    let later = wakers.split_off(wakers.len().min(MAX_SESSIONS_WOKEN_AT_ONCE));
    wakers.into_iter().for_each(Waker::wake);
    let mut later = later.into_iter().peekable();
    if later.peek().is_none() {
        return;
    }
    // A library may send notifications from a thread without a runtime.
    let Ok(runtime) = Handle::try_current() else { return later.for_each(Waker::wake) };
    runtime.spawn(async move {
        while later.peek().is_some() {
            yield_now().await;
            later.by_ref().take(MAX_SESSIONS_WOKEN_AT_ONCE).for_each(Waker::wake);
        }
    });
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
        // Only before the list grows, since there may be thousands of sessions.
        if queues.len() == queues.capacity() {
            queues.retain(|queue| queue.strong_count() > 0);
        }
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
        let mut wakers: Vec<Waker> = open.iter().filter_map(|queue| queue.push(&change)).collect();
        drop(change);
        while self.total.load(Ordering::Relaxed) > MAX_TOTAL_BYTES {
            let Some(longest) = open.iter().max_by_key(|queue| queue.bytes()) else { break };
            // Another broadcast may hold the rest.
            if longest.bytes() == 0 {
                break;
            }
            wakers.extend(longest.overflow());
        }
        wake_sessions(wakers);
    }

    fn queues(&self) -> MutexGuard<'_, Vec<Weak<ChangeQueue>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

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

    #[tokio::test]
    async fn other_tasks_run_before_all_sessions_have_a_notification() {
        let sessions = SessionList::default();
        let received = Arc::new(AtomicUsize::new(0));
        let start = |queue: Arc<ChangeQueue>| {
            let received = Arc::clone(&received);
            tokio::spawn(async move {
                let _change = poll_fn(|cx| queue.poll_next(cx)).await;
                received.fetch_add(1, Ordering::Relaxed);
            })
        };
        let tasks: Vec<_> = (0..1_000).map(|_| start(sessions.add_session())).collect();
        // Until all sessions wait.
        yield_now().await;
        sessions.broadcast(change(1_000));
        yield_now().await;
        let first = received.load(Ordering::Relaxed);
        assert!((1..100).contains(&first), "{first}");
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(received.load(Ordering::Relaxed), 1_000);
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

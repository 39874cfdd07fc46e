//! Stores and counts messages that answer no request, and lets callers wait for
//! them.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sparring_wire::Frame;
use tokio::sync::Notify;

use super::error::Error;

/// The maximum number of stored frames and of their bytes. Dropped frames are
/// still counted.
const MAX_FRAMES: usize = 10_000;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The maximum number of bytes of the stored frames of all clients. Above it a client stores
/// only the newest frame.
const MAX_TOTAL_BYTES: usize = 256 * 1024 * 1024;

/// The bytes of the stored frames of all clients.
static TOTAL_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The maximum number of counted names, because a server may invent any number of
/// methods.
const MAX_NAMES: usize = 1_000;

/// Frames in the order of arrival, counted by name. The name is the method, or
/// `noise`, `late`, `duplicate` or `foreign` for unclaimed frames. Cheap to
/// clone; all clones share the content.
#[derive(Debug, Clone, Default)]
pub struct Inbox(Arc<SharedInbox>);

#[derive(Debug, Default)]
struct SharedInbox {
    state: Mutex<InboxState>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct InboxState {
    /// Each frame with the name it is counted under.
    frames: VecDeque<(String, Frame)>,
    bytes: usize,
    counts: HashMap<String, u64>,
    total: u64,
}

impl Inbox {
    pub(super) fn push(&self, name: &str, frame: Frame) {
        {
            let mut state = self.state();
            state.total += 1;
            if let Some(count) = state.counts.get_mut(name) {
                *count += 1;
            } else if state.counts.len() < MAX_NAMES {
                state.counts.insert(name.to_owned(), 1);
            }
            state.store(name, frame, &TOTAL_BYTES);
        }
        self.0.changed.notify_waiters();
    }

    /// Returns the stored frames.
    pub fn all(&self) -> Vec<Frame> {
        self.state().frames.iter().map(|(_, frame)| frame.clone()).collect()
    }

    /// Returns the stored frames with this name.
    pub fn by_name(&self, name: &str) -> Vec<Frame> {
        let state = self.state();
        let named = state.frames.iter().filter(|(known, _)| known == name);
        named.map(|(_, frame)| frame.clone()).collect()
    }

    /// Returns the number of frames that arrived, stored or not.
    pub fn total(&self) -> u64 {
        self.state().total
    }

    /// Returns the number of frames with this name that arrived, stored or not.
    pub fn count(&self, name: &str) -> u64 {
        self.state().counts.get(name).copied().unwrap_or_default()
    }

    /// Returns the number of frames that arrived, by name.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        counts.extend(self.state().counts.iter().map(|(name, count)| (name.clone(), *count)));
        counts
    }

    /// Waits until `count` frames with this name have arrived, and returns the
    /// stored ones.
    ///
    /// # Errors
    /// If they have not arrived within that time.
    pub async fn wait_for(
        &self,
        name: &str,
        count: u64,
        within: Duration,
    ) -> Result<Vec<Frame>, Error> {
        let arrival = self.wait_until(|inbox| inbox.count(name) >= count);
        match tokio::time::timeout(within, arrival).await {
            Ok(()) => Ok(self.by_name(name)),
            Err(_) => {
                let method = format!("{name} ({} of {count} received)", self.count(name));
                Err(Error::Timeout { method, after: within })
            }
        }
    }

    /// Waits without a timeout until a condition holds.
    pub async fn wait_until(&self, holds: impl Fn(&Inbox) -> bool) {
        loop {
            let changed = self.0.changed.notified();
            if holds(self) {
                return;
            }
            changed.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, InboxState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InboxState {
    /// Stores a frame, and drops the oldest ones above a limit.
    fn store(&mut self, name: &str, frame: Frame, total: &AtomicUsize) {
        let size = frame.bytes().len();
        self.bytes += size;
        total.fetch_add(size, Ordering::Relaxed);
        self.frames.push_back((name.to_owned(), frame));
        while self.frames.len() > MAX_FRAMES
            || self.bytes > MAX_BYTES
            || self.frames.len() > 1 && total.load(Ordering::Relaxed) > MAX_TOTAL_BYTES
        {
            let Some((_, oldest)) = self.frames.pop_front() else { break };
            self.bytes -= oldest.bytes().len();
            total.fetch_sub(oldest.bytes().len(), Ordering::Relaxed);
        }
    }
}

impl Drop for SharedInbox {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        TOTAL_BYTES.fetch_sub(state.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_share_a_limit_of_bytes() {
        let total = AtomicUsize::new(0);
        let frame = || Frame::parse(vec![b' '; 1024 * 1024]);
        let mut inboxes: Vec<InboxState> = (0..20).map(|_| InboxState::default()).collect();
        for inbox in &mut inboxes {
            (0..MAX_BYTES / frame().bytes().len()).for_each(|_| inbox.store("a", frame(), &total));
        }
        let stored: usize = inboxes.iter().map(|inbox| inbox.bytes).sum();
        assert_eq!(stored, total.load(Ordering::Relaxed));
        assert_eq!(inboxes[0].bytes, MAX_BYTES);
        // The clients that come too late store only their newest frame.
        assert_eq!(inboxes[19].frames.len(), 1);
        assert!(stored <= MAX_TOTAL_BYTES + 20 * frame().bytes().len(), "{stored}");
    }
}

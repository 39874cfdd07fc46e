//! Stores and counts messages that answer no request, and lets callers wait for
//! them.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sparring_wire::Frame;
use tokio::sync::Notify;

use super::error::Error;

/// The maximum number of stored frames and of their bytes. Dropped frames are
/// still counted.
const MAX_FRAMES: usize = 10_000;
const MAX_BYTES: usize = 16 * 1024 * 1024;

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
            state.bytes += frame.bytes().len();
            if let Some(count) = state.counts.get_mut(name) {
                *count += 1;
            } else if state.counts.len() < MAX_NAMES {
                state.counts.insert(name.to_owned(), 1);
            }
            state.frames.push_back((name.to_owned(), frame));
            while state.frames.len() > MAX_FRAMES || state.bytes > MAX_BYTES {
                let Some((_, oldest)) = state.frames.pop_front() else { break };
                state.bytes -= oldest.bytes().len();
            }
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

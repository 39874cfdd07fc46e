//! What came in without being asked for, to be counted and awaited.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sparring_wire::Frame;
use tokio::sync::Notify;

use super::error::Error;

/// The most frames, and bytes of them, that are kept; all are counted.
const MAX_FRAMES: usize = 10_000;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The most names that are counted; a server may invent any number of methods.
const MAX_NAMES: usize = 1_000;

/// Frames in the order they came, counted by name: their method, or for what is
/// nobody's `noise`, `late`, `duplicate` or `foreign`. Cheap to clone; all
/// clones share it.
#[derive(Debug, Clone, Default)]
pub struct Inbox(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Each with what it is counted under.
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

    /// The frames that are kept.
    pub fn all(&self) -> Vec<Frame> {
        self.state().frames.iter().map(|(_, frame)| frame.clone()).collect()
    }

    /// The frames of one name that are kept.
    pub fn of(&self, name: &str) -> Vec<Frame> {
        let state = self.state();
        let named = state.frames.iter().filter(|(known, _)| known == name);
        named.map(|(_, frame)| frame.clone()).collect()
    }

    /// How many frames came, kept or not.
    pub fn total(&self) -> u64 {
        self.state().total
    }

    /// How many frames of one name came, kept or not.
    pub fn count(&self, name: &str) -> u64 {
        self.state().counts.get(name).copied().unwrap_or_default()
    }

    /// How many frames came of each name, by their names.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        counts.extend(self.state().counts.iter().map(|(name, count)| (name.clone(), *count)));
        counts
    }

    /// Waits until so many of one name have come, and gives those kept.
    ///
    /// # Errors
    /// When they have not come in that time.
    pub async fn wait_for(
        &self,
        name: &str,
        count: u64,
        within: Duration,
    ) -> Result<Vec<Frame>, Error> {
        let arrival = self.until(|inbox| inbox.count(name) >= count);
        match tokio::time::timeout(within, arrival).await {
            Ok(()) => Ok(self.of(name)),
            Err(_) => {
                let method = format!("{name} ({} of {count} came)", self.count(name));
                Err(Error::Timeout { method, after: within })
            }
        }
    }

    /// Waits, for as long as it takes, until something holds of what came.
    pub async fn until(&self, holds: impl Fn(&Inbox) -> bool) {
        loop {
            let changed = self.0.changed.notified();
            if holds(self) {
                return;
            }
            changed.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

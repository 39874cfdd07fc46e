//! What came in without being asked for, to be counted and awaited.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sparring_wire::Frame;
use tokio::sync::Notify;

use super::error::Error;

/// The most frames, and bytes of them, that are kept; all are counted.
const MAX_FRAMES: usize = 10_000;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Frames in the order they came. Cheap to clone; all clones share it.
#[derive(Debug, Clone, Default)]
pub struct Inbox(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<Frame>,
    bytes: usize,
    counts: HashMap<String, u64>,
    total: u64,
}

impl Inbox {
    pub(super) fn push(&self, frame: Frame) {
        {
            let mut state = self.state();
            state.total += 1;
            state.bytes += frame.bytes().len();
            if let Some(method) = frame.method() {
                match state.counts.get_mut(method) {
                    Some(count) => *count += 1,
                    None => {
                        state.counts.insert(method.to_owned(), 1);
                    }
                }
            }
            state.frames.push_back(frame);
            while state.frames.len() > MAX_FRAMES || state.bytes > MAX_BYTES {
                let Some(oldest) = state.frames.pop_front() else { break };
                state.bytes -= oldest.bytes().len();
            }
        }
        self.0.changed.notify_waiters();
    }

    /// The frames that are kept.
    pub fn all(&self) -> Vec<Frame> {
        self.state().frames.iter().cloned().collect()
    }

    /// The frames of one method that are kept.
    pub fn of(&self, method: &str) -> Vec<Frame> {
        self.state().frames.iter().filter(|frame| frame.method() == Some(method)).cloned().collect()
    }

    /// How many frames came, kept or not.
    pub fn total(&self) -> u64 {
        self.state().total
    }

    /// How many frames of one method came, kept or not.
    pub fn count(&self, method: &str) -> u64 {
        self.state().counts.get(method).copied().unwrap_or_default()
    }

    /// Waits until so many of one method have come, and gives those kept.
    ///
    /// # Errors
    /// When they have not come in that time.
    pub async fn wait_for(
        &self,
        method: &str,
        count: u64,
        within: Duration,
    ) -> Result<Vec<Frame>, Error> {
        let arrival = async {
            loop {
                let changed = self.0.changed.notified();
                if self.count(method) >= count {
                    return;
                }
                changed.await;
            }
        };
        match tokio::time::timeout(within, arrival).await {
            Ok(()) => Ok(self.of(method)),
            Err(_) => {
                let method = format!("{method} ({} of {count} came)", self.count(method));
                Err(Error::Timeout { method, after: within })
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

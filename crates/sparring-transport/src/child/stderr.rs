//! What a child writes to its stderr: always drained, the end of it kept.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_peer::task;
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;

/// How much of the end is kept.
const KEPT: usize = 64 * 1024;

/// How many lines a message shows.
const SHOWN: usize = 20;

type Handler = Box<dyn FnMut(&[u8]) + Send>;
type Passage = Box<dyn AsyncWrite + Send + Unpin>;

/// A child's stderr. Cheap to clone, and outlives the child.
#[derive(Clone, Default)]
pub struct Stderr(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    kept: VecDeque<u8>,
    total: u64,
    handler: Option<Handler>,
    /// On its way to the task that drains.
    passage: Option<Passage>,
}

impl Stderr {
    /// Gives everything that comes from now on to `handler`, as it comes. One
    /// that panics is not called again, and nothing else comes of it.
    pub fn on_output(&self, handler: impl FnMut(&[u8]) + Send + 'static) {
        self.state().handler = Some(Box::new(handler));
    }

    /// Passes everything that comes from now on to `to`, which is dropped when
    /// nothing more can come. The child waits for whoever takes it slowly.
    pub fn pass_to(&self, to: impl AsyncWrite + Send + Unpin + 'static) {
        self.state().passage = Some(Box::new(to));
    }

    /// Everything that is kept: the last 64 KiB.
    pub fn text(&self) -> String {
        let mut state = self.state();
        String::from_utf8_lossy(state.kept.make_contiguous()).into_owned()
    }

    /// The last lines, for a message.
    pub fn tail(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(SHOWN)..].join("\n")
    }

    /// How many bytes came, kept or not.
    pub fn total(&self) -> u64 {
        self.state().total
    }

    pub(super) fn drain(&self, mut from: ChildStderr) -> JoinHandle<()> {
        let stderr = self.clone();
        task::spawn(async move {
            let mut buffer = vec![0; 16 * 1024];
            let mut passage: Option<Passage> = None;
            // An end or an error: either way nothing more comes.
            while let Ok(length @ 1..) = from.read(&mut buffer).await {
                stderr.add(&buffer[..length]);
                passage = stderr.state().passage.take().or(passage);
                if let Some(to) = &mut passage {
                    // Whoever cannot take it any more has to know it itself.
                    let _ = to.write_all(&buffer[..length]).await;
                }
            }
            stderr.state().passage = None;
        })
    }

    fn add(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.total += bytes.len() as u64;
        state.kept.extend(bytes);
        let surplus = state.kept.len().saturating_sub(KEPT);
        drop(state.kept.drain(..surplus));
        let Some(mut handler) = state.handler.take() else { return };
        // Called while nothing is locked, since it may look here itself. Its
        // panic must not end the draining, which a child could block on.
        drop(state);
        if std::panic::catch_unwind(AssertUnwindSafe(|| handler(bytes))).is_ok() {
            self.state().handler.get_or_insert(handler);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Stderr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stderr").field("total", &self.total()).finish_non_exhaustive()
    }
}

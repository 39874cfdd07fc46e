//! A child's stderr: always drained, with its end kept. The stdout of a child that does not use
//! it for messages is drained in the same way.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_peer::task;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::task::JoinHandle;

/// The number of bytes that are kept of the end.
const BUFFER_SIZE: usize = 64 * 1024;

/// The number of lines that [`Stderr::tail`] returns.
const TAIL_LINES: usize = 20;

type Handler = Box<dyn FnMut(&[u8]) + Send>;
type ForwardWriter = Box<dyn AsyncWrite + Send + Unpin>;

/// A child's stderr. Cheap to clone; outlives the child.
#[derive(Clone, Default)]
pub struct Stderr(Arc<Mutex<StderrState>>);

#[derive(Default)]
struct StderrState {
    buffer: VecDeque<u8>,
    total: u64,
    handler: Option<Handler>,
    /// A writer that the draining task has not taken yet.
    forward: Option<ForwardWriter>,
}

impl Stderr {
    /// Calls `handler` with all further output, as it arrives. A handler that panics is not
    /// called again; the panic has no other effect.
    pub fn on_output(&self, handler: impl FnMut(&[u8]) + Send + 'static) {
        self.state().handler = Some(Box::new(handler));
    }

    /// Writes all further output to `to`, and drops it at the end of the output. A slow writer
    /// slows the child down.
    pub fn forward_to(&self, to: impl AsyncWrite + Send + Unpin + 'static) {
        self.state().forward = Some(Box::new(to));
    }

    /// Returns the kept output: the last 64 KiB.
    pub fn text(&self) -> String {
        let mut state = self.state();
        String::from_utf8_lossy(state.buffer.make_contiguous()).into_owned()
    }

    /// Returns the last lines, for a message.
    pub fn tail(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
    }

    /// Returns the number of bytes received so far, kept or not.
    pub fn total_bytes(&self) -> u64 {
        self.state().total
    }

    pub(super) fn drain(
        &self,
        mut from: impl AsyncRead + Send + Unpin + 'static,
    ) -> JoinHandle<()> {
        let stderr = self.clone();
        task::spawn(async move {
            let mut buffer = vec![0; 16 * 1024];
            let mut forward: Option<ForwardWriter> = None;
            // An end or an error: nothing more arrives either way.
            while let Ok(length @ 1..) = from.read(&mut buffer).await {
                stderr.add(&buffer[..length]);
                forward = stderr.state().forward.take().or(forward);
                if let Some(to) = &mut forward {
                    // The owner of the writer notices its errors itself.
                    let _ = to.write_all(&buffer[..length]).await;
                }
            }
            stderr.state().forward = None;
        })
    }

    pub(super) fn add(&self, bytes: &[u8]) {
        let mut state = self.state();
        state.total += bytes.len() as u64;
        state.buffer.extend(bytes);
        let surplus = state.buffer.len().saturating_sub(BUFFER_SIZE);
        drop(state.buffer.drain(..surplus));
        let Some(mut handler) = state.handler.take() else { return };
        // The lock is released during the call, since the handler may use this value. A panic
        // must not end the draining, which would block the child.
        drop(state);
        if std::panic::catch_unwind(AssertUnwindSafe(|| handler(bytes))).is_ok() {
            self.state().handler.get_or_insert(handler);
        }
    }

    fn state(&self) -> MutexGuard<'_, StderrState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Stderr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stderr").field("total", &self.total_bytes()).finish_non_exhaustive()
    }
}

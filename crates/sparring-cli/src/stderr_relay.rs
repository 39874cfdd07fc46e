//! Copies the target's stderr to ours as it arrives. A target that writes faster than our
//! stderr is read has to wait.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use sparring_transport::Stderr;
use tokio::io::AsyncWrite;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::output::{StreamWriter, ThreadedWriter};

/// Maximum wait for more output after the target has ended. Another process may hold
/// its stderr open.
const STDERR_DRAIN_INTERVAL: Duration = Duration::from_millis(50);

/// A running copy of stderr.
pub(crate) struct StderrRelay {
    from: Stderr,
    to: ThreadedWriter,
    /// Ready when no more output can arrive.
    ended: oneshot::Receiver<()>,
}

impl StderrRelay {
    /// Starts the copy. It is cleaned unless it is `raw`.
    pub(crate) fn start(from: &Stderr, to: &ThreadedWriter, raw: bool) -> StderrRelay {
        let (ended_sender, ended) = oneshot::channel();
        from.forward_to(RelayWriter {
            to: if raw { to.stream() } else { to.clean_stream() },
            _ended_sender: ended_sender,
        });
        StderrRelay { from: from.clone(), to: to.clone(), ended }
    }

    /// Waits for the rest of the output after the target has ended.
    pub(crate) async fn finish(&mut self) {
        loop {
            let before = self.from.total_bytes();
            let ended = timeout(STDERR_DRAIN_INTERVAL, &mut self.ended).await.is_ok();
            if ended || self.to.has_capacity() && self.from.total_bytes() == before {
                break;
            }
        }
        // A closed stderr cannot be reported anywhere.
        let _ = self.to.flush().await;
    }
}

/// The writing end. Dropping it ends the relay.
struct RelayWriter {
    to: StreamWriter,
    _ended_sender: oneshot::Sender<()>,
}

impl AsyncWrite for RelayWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.to).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.to).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.to).poll_shutdown(cx)
    }
}

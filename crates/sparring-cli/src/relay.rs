//! Passes the target's stderr on to ours, byte by byte as it comes. A target
//! that writes faster than is read there has to wait.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use sparring_transport::Stderr;
use tokio::io::AsyncWrite;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::output::Outlet;

/// How long is waited for more once the target has ended: somebody else may
/// have its stderr, and keep it open.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// What is passed on.
pub(crate) struct Relay {
    from: Stderr,
    to: Outlet,
    /// Ready when nothing more can come.
    ended: oneshot::Receiver<()>,
}

impl Relay {
    pub(crate) fn start(from: &Stderr, to: &Outlet) -> Relay {
        let (ending, ended) = oneshot::channel();
        from.pass_to(Passage { to: to.clone(), _ending: ending });
        Relay { from: from.clone(), to: to.clone(), ended }
    }

    /// After the target's end: waits until its last words have arrived.
    pub(crate) async fn finish(&mut self) {
        loop {
            let before = self.from.total();
            let ended = timeout(LAST_WORDS, &mut self.ended).await.is_ok();
            if ended || self.to.has_room() && self.from.total() == before {
                break;
            }
        }
        // There is nobody left to tell that stderr is closed.
        let _ = self.to.written().await;
    }
}

/// The way in; its drop is the end.
struct Passage {
    to: Outlet,
    _ending: oneshot::Sender<()>,
}

impl AsyncWrite for Passage {
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

//! Announces the shutdown to all connections: standing streams end, running requests may
//! finish.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

/// A signal that is sent once, to all waiters.
#[derive(Debug, Default)]
pub(super) struct ShutdownSignal {
    started: AtomicBool,
    notify: Arc<Notify>,
}

impl ShutdownSignal {
    pub(super) fn start(&self) {
        self.started.store(true, Ordering::SeqCst);
        self.notify.notify_waiters();
    }

    pub(super) fn has_started(&self) -> bool {
        self.started.load(Ordering::SeqCst)
    }

    pub(super) fn subscribe(&self) -> ShutdownWaiter {
        // Created before the check, so that no signal is missed.
        let notify = Box::pin(Arc::clone(&self.notify).notified_owned());
        ShutdownWaiter(if self.has_started() { WaitState::Now } else { WaitState::Later(notify) })
    }
}

/// Waits for the signal once.
pub(super) struct ShutdownWaiter(WaitState);

impl ShutdownWaiter {
    /// Creates a waiter that is never woken, for connections that arrive during the shutdown.
    pub(super) fn never() -> Self {
        ShutdownWaiter(WaitState::Never)
    }
}

enum WaitState {
    Now,
    Later(Pin<Box<OwnedNotified>>),
    Never,
}

impl ShutdownWaiter {
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let result = match &mut self.0 {
            WaitState::Now => Poll::Ready(()),
            WaitState::Later(notify) => notify.as_mut().poll(cx),
            WaitState::Never => Poll::Pending,
        };
        if result.is_ready() {
            self.0 = WaitState::Never;
        }
        result
    }
}

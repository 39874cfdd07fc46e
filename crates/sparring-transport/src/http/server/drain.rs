//! The word that the end is near: what stands open is to end, what is being
//! served may finish.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

/// Said once, heard by everybody.
#[derive(Debug, Default)]
pub(super) struct Drain {
    begun: AtomicBool,
    told: Arc<Notify>,
}

impl Drain {
    pub(super) fn begin(&self) {
        self.begun.store(true, Ordering::SeqCst);
        self.told.notify_waiters();
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::SeqCst)
    }

    pub(super) fn ear(&self) -> Ear {
        // Made before the look, so that nothing is missed in between.
        let told = Box::pin(Arc::clone(&self.told).notified_owned());
        Ear(if self.has_begun() { Hears::Now } else { Hears::Later(told) })
    }
}

/// Hears it once.
pub(super) struct Ear(Hears);

impl Ear {
    /// One that hears nothing, of those who come when it has been said.
    pub(super) fn deaf() -> Self {
        Ear(Hears::Never)
    }
}

enum Hears {
    Now,
    Later(Pin<Box<OwnedNotified>>),
    Never,
}

impl Ear {
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let heard = match &mut self.0 {
            Hears::Now => Poll::Ready(()),
            Hears::Later(told) => told.as_mut().poll(cx),
            Hears::Never => Poll::Pending,
        };
        if heard.is_ready() {
            self.0 = Hears::Never;
        }
        heard
    }
}

//! Handlers that wait. A handler that answers at once is never stored here.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::{Either, FutureExt as _, select};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use sparring_wire::Id;
use tokio::sync::oneshot;

use crate::server::dispatch::{HandlerFuture, HandlerOutcome};

/// The handlers that wait.
#[derive(Default)]
pub(super) struct PendingHandlers {
    waiting: FuturesUnordered<PendingHandler>,
    /// By the core's keys of the requests. Dropping a sender cancels its request.
    cancels: HashMap<u64, oneshot::Sender<()>>,
}

/// A waiting handler. It returns none if it was cancelled.
type PendingHandler = Pin<Box<dyn Future<Output = Option<FinishedRequest>> + Send>>;

/// A request whose handler has finished.
pub(super) struct FinishedRequest {
    pub(super) id: Id,
    pub(super) key: u64,
    pub(super) outcome: HandlerOutcome,
}

impl PendingHandlers {
    /// Starts a handler and returns its outcome if it finishes at once. Otherwise
    /// the caller must call [`PendingHandlers::poll_finished`] before its task
    /// sleeps.
    pub(super) fn start(
        &mut self,
        id: Id,
        key: u64,
        mut future: HandlerFuture,
    ) -> Option<FinishedRequest> {
        if let Some(outcome) = (&mut future).now_or_never() {
            return Some(FinishedRequest { id, key, outcome });
        }
        let (cancel, cancelled) = oneshot::channel();
        self.cancels.insert(key, cancel);
        self.waiting.push(Box::pin(run_until_cancelled(id, key, future, cancelled)));
        None
    }

    /// Cancels a request. The next [`PendingHandlers::poll_finished`] drops its
    /// handler.
    pub(super) fn cancel(&mut self, key: u64) {
        self.cancels.remove(&key);
    }

    /// Returns the next finished request. If there is none, the task is woken for
    /// the next.
    pub(super) fn poll_finished(&mut self, cx: &mut Context<'_>) -> Option<FinishedRequest> {
        while let Poll::Ready(Some(finished)) = self.waiting.poll_next_unpin(cx) {
            if let Some(finished) = finished {
                self.cancels.remove(&finished.key);
                return Some(finished);
            }
        }
        None
    }
}

async fn run_until_cancelled(
    id: Id,
    key: u64,
    future: HandlerFuture,
    cancelled: oneshot::Receiver<()>,
) -> Option<FinishedRequest> {
    match select(cancelled, future).await {
        Either::Left((_, future)) => {
            // A handler that panics while it is dropped must not affect others.
            let _ = std::panic::catch_unwind(AssertUnwindSafe(|| drop(future)));
            None
        }
        Either::Right((outcome, _)) => Some(FinishedRequest { id, key, outcome }),
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;
    use crate::server::Reply;

    fn id(number: u64) -> Id {
        Id::from(i64::try_from(number).unwrap())
    }

    fn answer() -> HandlerOutcome {
        Ok(Reply::empty())
    }

    /// Returns a handler that waits until it is released.
    fn waiting_handler() -> (oneshot::Sender<()>, HandlerFuture) {
        let (release, released) = oneshot::channel();
        (release, Box::pin(released.map(|_| answer())))
    }

    fn finished_keys(handlers: &mut PendingHandlers) -> Vec<u64> {
        let mut cx = Context::from_waker(Waker::noop());
        std::iter::from_fn(|| handlers.poll_finished(&mut cx))
            .map(|finished| finished.key)
            .collect()
    }

    #[test]
    fn a_handler_that_answers_at_once_is_not_stored() {
        let mut handlers = PendingHandlers::default();
        let served = handlers.start(id(7), 1, Box::pin(async { answer() })).unwrap();
        assert_eq!((served.id, served.key), (id(7), 1));
        assert!(handlers.waiting.is_empty() && handlers.cancels.is_empty());
    }

    #[test]
    fn a_waiting_handler_finishes_when_it_is_released() {
        let mut handlers = PendingHandlers::default();
        let mut releases: Vec<_> = (0..3)
            .map(|key| {
                let (release, serving) = waiting_handler();
                assert!(handlers.start(id(key), key, serving).is_none());
                release
            })
            .collect();
        assert!(finished_keys(&mut handlers).is_empty());
        releases.remove(1).send(()).unwrap();
        assert_eq!(finished_keys(&mut handlers), [1]);
        drop(releases);
        assert_eq!(finished_keys(&mut handlers), [0, 2]);
        assert!(handlers.cancels.is_empty());
    }

    #[test]
    fn a_handler_that_wakes_itself_does_not_starve_others() {
        let mut handlers = PendingHandlers::default();
        let self_waking = std::future::poll_fn(|cx: &mut Context<'_>| {
            cx.waker().wake_by_ref();
            Poll::Pending
        });
        assert!(handlers.start(id(1), 1, Box::pin(self_waking)).is_none());
        let (release, serving) = waiting_handler();
        assert!(handlers.start(id(2), 2, serving).is_none());
        release.send(()).unwrap();
        assert_eq!(finished_keys(&mut handlers), [2]);
    }

    #[test]
    fn a_panic_while_dropping_a_cancelled_handler_is_contained() {
        struct Panics;
        impl Drop for Panics {
            fn drop(&mut self) {
                panic!("on purpose");
            }
        }
        let (mut handlers, panics) = (PendingHandlers::default(), Panics);
        let serving = async move {
            let _held = panics;
            std::future::pending().await
        };
        assert!(handlers.start(id(1), 1, Box::pin(serving)).is_none());
        handlers.cancel(1);
        assert!(finished_keys(&mut handlers).is_empty());
        assert!(handlers.waiting.is_empty());
    }

    #[test]
    fn a_cancelled_handler_is_dropped() {
        let mut handlers = PendingHandlers::default();
        let (release, serving) = waiting_handler();
        assert!(handlers.start(id(1), 1, serving).is_none());
        handlers.cancel(1);
        assert!(finished_keys(&mut handlers).is_empty());
        assert!(release.is_closed());
    }
}

//! Requests whose handlers wait. A handler that answers at once never comes here.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::{Either, FutureExt as _, select};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use sparring_wire::Id;
use tokio::sync::oneshot;

use crate::server::dispatch::{Served, Serving};

/// The requests that wait.
#[derive(Default)]
pub(super) struct Jobs {
    waiting: FuturesUnordered<Job>,
    /// By the core's keys for the requests. Dropping a sender cancels its request.
    cancels: HashMap<u64, oneshot::Sender<()>>,
}

/// One request; nothing comes of it where it is cancelled.
type Job = Pin<Box<dyn Future<Output = Option<Done>> + Send>>;

/// A request that was served.
pub(super) struct Done {
    pub(super) id: Id,
    pub(super) key: u64,
    pub(super) outcome: Served,
}

impl Jobs {
    /// Begins to serve a request. What is not answered at once waits from now on;
    /// whoever begins it has to ask for [`Jobs::next`] before it sleeps.
    pub(super) fn begin(&mut self, id: Id, key: u64, mut serving: Serving) -> Option<Done> {
        if let Some(outcome) = (&mut serving).now_or_never() {
            return Some(Done { id, key, outcome });
        }
        let (cancel, cancelled) = oneshot::channel();
        self.cancels.insert(key, cancel);
        self.waiting.push(Box::pin(wait(id, key, serving, cancelled)));
        None
    }

    /// Gives a request up. Its handler is dropped as [`Jobs::next`] is asked for.
    pub(super) fn cancel(&mut self, key: u64) {
        self.cancels.remove(&key);
    }

    /// The next that is done. Where there is none, the task is woken for the next.
    pub(super) fn next(&mut self, cx: &mut Context<'_>) -> Option<Done> {
        while let Poll::Ready(Some(job)) = self.waiting.poll_next_unpin(cx) {
            if let Some(done) = job {
                self.cancels.remove(&done.key);
                return Some(done);
            }
        }
        None
    }
}

async fn wait(
    id: Id,
    key: u64,
    serving: Serving,
    cancelled: oneshot::Receiver<()>,
) -> Option<Done> {
    match select(cancelled, serving).await {
        Either::Left((_, serving)) => {
            // A handler that panics as it is dropped does so alone.
            let _ = std::panic::catch_unwind(AssertUnwindSafe(|| drop(serving)));
            None
        }
        Either::Right((outcome, _)) => Some(Done { id, key, outcome }),
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

    fn answer() -> Served {
        Ok(Reply::empty())
    }

    /// One that waits for a word.
    fn waits() -> (oneshot::Sender<()>, Serving) {
        let (word, heard) = oneshot::channel();
        (word, Box::pin(heard.map(|_| answer())))
    }

    fn done(jobs: &mut Jobs) -> Vec<u64> {
        let mut cx = Context::from_waker(Waker::noop());
        std::iter::from_fn(|| jobs.next(&mut cx)).map(|done| done.key).collect()
    }

    #[test]
    fn what_is_answered_at_once_never_waits() {
        let mut jobs = Jobs::default();
        let served = jobs.begin(id(7), 1, Box::pin(async { answer() })).unwrap();
        assert_eq!((served.id, served.key), (id(7), 1));
        assert!(jobs.waiting.is_empty() && jobs.cancels.is_empty());
    }

    #[test]
    fn what_waits_is_done_when_its_time_has_come() {
        let mut jobs = Jobs::default();
        let mut words: Vec<_> = (0..3)
            .map(|key| {
                let (word, serving) = waits();
                assert!(jobs.begin(id(key), key, serving).is_none());
                word
            })
            .collect();
        assert!(done(&mut jobs).is_empty());
        words.remove(1).send(()).unwrap();
        assert_eq!(done(&mut jobs), [1]);
        drop(words);
        assert_eq!(done(&mut jobs), [0, 2]);
        assert!(jobs.cancels.is_empty());
    }

    #[test]
    fn one_that_wakes_itself_leaves_the_others_their_turn() {
        let mut jobs = Jobs::default();
        let restless = std::future::poll_fn(|cx: &mut Context<'_>| {
            cx.waker().wake_by_ref();
            Poll::Pending
        });
        assert!(jobs.begin(id(1), 1, Box::pin(restless)).is_none());
        let (word, serving) = waits();
        assert!(jobs.begin(id(2), 2, serving).is_none());
        word.send(()).unwrap();
        assert_eq!(done(&mut jobs), [2]);
    }

    #[test]
    fn one_that_panics_as_it_is_dropped_is_only_gone() {
        struct Panics;
        impl Drop for Panics {
            fn drop(&mut self) {
                panic!("on purpose");
            }
        }
        let (mut jobs, panics) = (Jobs::default(), Panics);
        let serving = async move {
            let _held = panics;
            std::future::pending().await
        };
        assert!(jobs.begin(id(1), 1, Box::pin(serving)).is_none());
        jobs.cancel(1);
        assert!(done(&mut jobs).is_empty());
        assert!(jobs.waiting.is_empty());
    }

    #[test]
    fn what_is_cancelled_is_gone() {
        let mut jobs = Jobs::default();
        let (word, serving) = waits();
        assert!(jobs.begin(id(1), 1, serving).is_none());
        jobs.cancel(1);
        assert!(done(&mut jobs).is_empty());
        assert!(word.is_closed());
    }
}

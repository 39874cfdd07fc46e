//! Requests whose handlers wait. Each is polled when something it waits for has
//! happened, and only then; until the first has to wait, it costs nothing.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use sparring_wire::Id;

use crate::server::dispatch::{Served, Serving};

/// How many bells are kept for others.
const SPARE: usize = 64;

/// The requests that wait, by the core's keys for them.
pub(super) struct Jobs {
    waiting: HashMap<u64, Job, foldhash::fast::RandomState>,
    /// Whose turn it is.
    due: VecDeque<u64>,
    rung: Arc<Rung>,
    /// Of requests that are done: the next can have them.
    spare: Vec<Rope>,
}

struct Job {
    id: Id,
    serving: Serving,
    rope: Rope,
}

/// A bell, and what rings it.
struct Rope {
    bell: Arc<Bell>,
    waker: Waker,
}

/// A request that was served.
pub(super) struct Done {
    pub(super) id: Id,
    pub(super) key: u64,
    pub(super) outcome: Served,
}

/// What a handler wakes.
struct Bell {
    key: AtomicU64,
    has_rung: AtomicBool,
    rung: Arc<Rung>,
}

/// What the bells share.
#[derive(Default)]
struct Rung(Mutex<Ringing>);

/// Whose bells have rung, and who is to look.
#[derive(Default)]
struct Ringing {
    keys: VecDeque<u64>,
    session: Option<Waker>,
}

impl Jobs {
    pub(super) fn new() -> Jobs {
        let (waiting, due, rung, spare) = Default::default();
        Jobs { waiting, due, rung, spare }
    }

    /// Begins to serve a request. What is not answered at once waits from now on;
    /// whoever begins it has to ask for [`Jobs::next`] before it sleeps.
    pub(super) fn begin(&mut self, id: Id, key: u64, mut serving: Serving) -> Option<Done> {
        let rope = self.spare.pop().unwrap_or_else(|| {
            let (key, has_rung) = Default::default();
            let bell = Arc::new(Bell { key, has_rung, rung: Arc::clone(&self.rung) });
            Rope { waker: Waker::from(Arc::clone(&bell)), bell }
        });
        // If one that had it before still rings it, this one is looked at in vain.
        rope.bell.key.store(key, Ordering::Relaxed);
        rope.bell.has_rung.store(false, Ordering::Release);
        match serving.as_mut().poll(&mut Context::from_waker(&rope.waker)) {
            Poll::Ready(outcome) => {
                // One that rang for itself is not waited for.
                if self.waiting.is_empty() && rope.bell.has_rung.load(Ordering::Relaxed) {
                    self.rung.ringing().keys.clear();
                }
                self.spare.push(rope);
                Some(Done { id, key, outcome })
            }
            Poll::Pending => {
                self.waiting.insert(key, Job { id, serving, rope });
                None
            }
        }
    }

    /// Gives a request up. A handler that panics as it is dropped does so alone.
    pub(super) fn cancel(&mut self, key: u64) {
        let job = self.waiting.remove(&key);
        let _ = std::panic::catch_unwind(AssertUnwindSafe(|| drop(job)));
    }

    /// Gives their turn to those whose bells have rung up to now; the task is woken
    /// for those that ring later, also while the others have their turn.
    pub(super) fn listen(&mut self, cx: &Context<'_>) {
        if self.waiting.is_empty() {
            return;
        }
        let mut rung = self.rung.ringing();
        match &mut rung.session {
            Some(session) => session.clone_from(cx.waker()),
            session => *session = Some(cx.waker().clone()),
        }
        match self.due.is_empty() {
            true => std::mem::swap(&mut self.due, &mut rung.keys),
            false => self.due.append(&mut rung.keys),
        }
    }

    /// The next that is done, of those whose turn it is.
    pub(super) fn next(&mut self) -> Option<Done> {
        while let Some(key) = self.due.pop_front() {
            let Some(job) = self.waiting.get_mut(&key) else { continue };
            // Read and not only written: who rang just now gets no turn of its own, so
            // what it did must be seen by this one.
            job.rope.bell.has_rung.swap(false, Ordering::AcqRel);
            let mut cx = Context::from_waker(&job.rope.waker);
            if let Poll::Ready(outcome) = job.serving.as_mut().poll(&mut cx) {
                let Some(Job { id, rope, .. }) = self.waiting.remove(&key) else { continue };
                if self.spare.len() < SPARE {
                    self.spare.push(rope);
                }
                return Some(Done { id, key, outcome });
            }
        }
        None
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.has_rung.swap(true, Ordering::AcqRel) {
            let mut rung = self.rung.ringing();
            rung.keys.push_back(self.key.load(Ordering::Relaxed));
            let session = rung.session.take();
            drop(rung);
            if let Some(session) = session {
                session.wake();
            }
        }
    }
}

impl Rung {
    fn ringing(&self) -> MutexGuard<'_, Ringing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::atomic::AtomicUsize;

    use crate::server::Reply;
    use futures_util::task::noop_waker;
    use tokio::sync::oneshot;

    use super::*;

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Counter(AtomicUsize);

    impl Wake for Counter {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn id(number: u64) -> Id {
        Id::from(i64::try_from(number).unwrap())
    }

    fn answer() -> Served {
        Ok(Reply::empty())
    }

    /// One that waits for a word, and counts how often it is polled.
    fn waits(polled: &Arc<AtomicUsize>) -> (oneshot::Sender<()>, Serving) {
        let (word, mut heard) = oneshot::channel();
        let polled = Arc::clone(polled);
        let serving = std::future::poll_fn(move |cx| {
            polled.fetch_add(1, Ordering::Relaxed);
            Pin::new(&mut heard).poll(cx).map(|_| answer())
        });
        (word, Box::pin(serving))
    }

    fn done(jobs: &mut Jobs, waker: &Waker) -> Vec<u64> {
        jobs.listen(&Context::from_waker(waker));
        std::iter::from_fn(|| jobs.next()).map(|done| done.key).collect()
    }

    #[test]
    fn what_is_answered_at_once_never_waits() {
        let mut jobs = Jobs::new();
        let served = jobs.begin(id(7), 1, Box::pin(async { answer() })).unwrap();
        assert_eq!((served.id, served.key), (id(7), 1));
        assert!(jobs.waiting.is_empty());
    }

    #[test]
    fn only_what_was_woken_is_polled_again() {
        let (mut jobs, polled) = (Jobs::new(), <Arc<AtomicUsize>>::default());
        let counter = Arc::new(Counter::default());
        let waker = Waker::from(Arc::clone(&counter));
        let mut words: Vec<_> = (0..3)
            .map(|key| {
                let (word, serving) = waits(&polled);
                assert!(jobs.begin(id(key), key, serving).is_none());
                word
            })
            .collect();
        assert!(done(&mut jobs, &waker).is_empty());
        assert_eq!(polled.load(Ordering::Relaxed), 3, "each once, as it began");

        words.remove(1).send(()).unwrap();
        assert_eq!(counter.0.load(Ordering::Relaxed), 1);
        assert_eq!(done(&mut jobs, &waker), [1]);
        assert_eq!(polled.load(Ordering::Relaxed), 4);

        drop(words);
        assert_eq!(done(&mut jobs, &waker), [0, 2]);
    }

    #[test]
    fn one_that_wakes_itself_leaves_the_others_their_turn() {
        let mut jobs = Jobs::new();
        let restless = std::future::poll_fn(|cx: &mut Context<'_>| {
            cx.waker().wake_by_ref();
            Poll::Pending
        });
        assert!(jobs.begin(id(1), 1, Box::pin(restless)).is_none());
        let (word, serving) = waits(&Arc::default());
        assert!(jobs.begin(id(2), 2, serving).is_none());
        word.send(()).unwrap();
        let counter = Arc::new(Counter::default());
        assert_eq!(done(&mut jobs, &Waker::from(Arc::clone(&counter))), [2]);
        assert_eq!(counter.0.load(Ordering::Relaxed), 1, "and is looked at again");
    }

    #[test]
    fn nothing_is_kept_of_one_that_rings_for_itself_and_does_not_wait() {
        let mut jobs = Jobs::new();
        for key in 0..3 {
            let eager = std::future::poll_fn(|cx: &mut Context<'_>| {
                cx.waker().wake_by_ref();
                Poll::Ready(answer())
            });
            assert!(jobs.begin(id(key), key, Box::pin(eager)).is_some());
        }
        assert!(jobs.rung.ringing().keys.is_empty());
    }

    #[test]
    fn one_that_panics_as_it_is_dropped_is_only_gone() {
        struct Panics;
        impl Drop for Panics {
            fn drop(&mut self) {
                panic!("on purpose");
            }
        }
        let (mut jobs, panics) = (Jobs::new(), Panics);
        let serving = async move {
            let _held = panics;
            std::future::pending().await
        };
        assert!(jobs.begin(id(1), 1, Box::pin(serving)).is_none());
        jobs.cancel(1);
        assert!(jobs.waiting.is_empty());
    }

    #[test]
    fn what_is_cancelled_is_gone() {
        let mut jobs = Jobs::new();
        let (word, serving) = waits(&Arc::default());
        assert!(jobs.begin(id(1), 1, serving).is_none());
        jobs.cancel(1);
        assert!(word.is_closed());
        assert!(done(&mut jobs, &noop_waker()).is_empty());
    }
}

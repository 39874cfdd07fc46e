//! What waits to be passed on for one request: a channel for those that carry
//! nothing most of the time, so that it costs next to nothing until it does.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// How much may wait.
const MOST: usize = 256;

/// A queue that many may push to and one takes from.
pub(super) struct Queue<T> {
    /// Whether there may be items: most of the time there are none, and then
    /// nobody has to lock anything to see that.
    filled: AtomicBool,
    contents: Mutex<Contents<T>>,
}

struct Contents<T> {
    items: VecDeque<T>,
    reader: Option<Waker>,
}

/// There is no room.
#[derive(Debug)]
pub(super) struct Full;

impl<T> Default for Queue<T> {
    fn default() -> Self {
        let contents = Contents { items: VecDeque::new(), reader: None };
        Queue { filled: AtomicBool::new(false), contents: Mutex::new(contents) }
    }
}

impl<T> Queue<T> {
    /// Adds one, if there is room.
    pub(super) fn push(&self, item: T) -> Result<(), Full> {
        let mut contents = self.contents();
        if contents.items.len() >= MOST {
            return Err(Full);
        }
        contents.items.push_back(item);
        self.filled.store(true, Ordering::Release);
        let reader = contents.reader.take();
        drop(contents);
        if let Some(reader) = reader {
            reader.wake();
        }
        Ok(())
    }

    /// The first, if there is one.
    pub(super) fn pop(&self) -> Option<T> {
        if !self.filled.load(Ordering::Acquire) {
            return None;
        }
        let mut contents = self.contents();
        let item = contents.items.pop_front();
        self.filled.store(!contents.items.is_empty(), Ordering::Release);
        item
    }

    /// The first, for who asks in other ways to be woken. It locks nothing as long
    /// as there is none.
    pub(super) async fn at_once(&self) -> T {
        poll_fn(|_| self.pop().map_or(Poll::Pending, Poll::Ready)).await
    }

    /// Waits for the first.
    pub(super) async fn next(&self) -> T {
        poll_fn(|cx| {
            let mut contents = self.contents();
            if let Some(item) = contents.items.pop_front() {
                return Poll::Ready(item);
            }
            match &mut contents.reader {
                Some(reader) => reader.clone_from(cx.waker()),
                reader => *reader = Some(cx.waker().clone()),
            }
            Poll::Pending
        })
        .await
    }

    fn contents(&self) -> MutexGuard<'_, Contents<T>> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn who_waits_gets_what_is_pushed_in_its_order() {
        let queue = Queue::default();
        let (taken, ()) = tokio::join!(async { [queue.next().await, queue.next().await] }, async {
            queue.push(1).expect("room");
            queue.push(2).expect("room");
        });
        assert_eq!(taken, [1, 2]);
        assert_eq!(queue.pop(), None);
        queue.push(3).expect("room");
        queue.push(4).expect("room");
        assert_eq!([queue.at_once().await, queue.next().await], [3, 4]);
        assert_eq!(queue.at_once().now_or_never(), None);
    }

    #[test]
    fn takes_no_more_than_it_may_hold() {
        let queue = Queue::default();
        for number in 0..MOST {
            queue.push(number).expect("room");
        }
        assert!(queue.push(MOST).is_err());
        assert_eq!(queue.pop(), Some(0));
        assert!(queue.push(MOST).is_ok());
    }
}

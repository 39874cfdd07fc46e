//! A stream that a thread of its own writes to, so that a reader who does not
//! read holds up nobody but whoever waits for it.
//!
//! Nobody waits for the thread: it sleeps, or hangs in a write, until the
//! program ends.

use std::future::poll_fn;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::io::AsyncWrite;

/// More than this queued, and there is no room.
const FULL: u64 = 1024 * 1024;

/// One stream to write to. Cheap to clone; all clones write to the same.
#[derive(Clone)]
pub(crate) struct Outlet(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    more: Condvar,
    /// How long the thread lets more come together before it writes.
    gather: Duration,
}

struct State {
    /// Gone to the thread with the first bytes, so that a program that writes
    /// nothing has no thread.
    stream: Option<Box<dyn Write + Send>>,
    /// What the thread has not taken yet.
    queue: Vec<u8>,
    /// All bytes that were ever queued, and those of them that are written.
    queued: u64,
    written: u64,
    broken: Option<io::Error>,
    waiting: Vec<Waker>,
    /// Whether the thread waits to be woken, which costs a call of the system.
    asleep: bool,
}

impl Outlet {
    pub(crate) fn new(stream: impl Write + Send + 'static) -> Self {
        Outlet::gathering(stream, Duration::ZERO)
    }

    /// One for small pieces that come quickly, and that nobody waits for: what
    /// comes within this time is written together.
    pub(crate) fn gathering(stream: impl Write + Send + 'static, gather: Duration) -> Self {
        Outlet(Arc::new(Shared {
            state: Mutex::new(State {
                stream: Some(Box::new(stream)),
                queue: Vec::new(),
                queued: 0,
                written: 0,
                broken: None,
                waiting: Vec::new(),
                asleep: false,
            }),
            more: Condvar::new(),
            gather,
        }))
    }

    /// Queues bytes; never waits.
    pub(crate) fn queue(&self, bytes: &[u8]) {
        let mut state = self.0.state();
        if state.broken.is_some() || bytes.is_empty() {
            return;
        }
        state.queue.extend_from_slice(bytes);
        state.queued += bytes.len() as u64;
        if state.asleep {
            self.0.more.notify_one();
        }
        if let Some(stream) = state.stream.take() {
            let shared = Arc::clone(&self.0);
            let thread = std::thread::Builder::new().name("outlet".to_owned());
            if let Err(error) = thread.spawn(move || shared.write_to(stream)) {
                state.broken = Some(error);
            }
        }
    }

    /// Waits until everything that is queued now is written.
    ///
    /// # Errors
    /// When it cannot be written, or something before could not.
    pub(crate) async fn written(&self) -> io::Result<()> {
        let until = self.0.state().queued;
        poll_fn(|cx| self.poll(cx, |state| state.written >= until)).await
    }

    /// Queues bytes and waits until they are written.
    ///
    /// # Errors
    /// When they cannot be.
    pub(crate) async fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.queue(bytes);
        self.written().await
    }

    /// Ready when there is room for more, or never will be.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll(cx, State::has_room).map(drop)
    }

    /// Whether there is room for more.
    pub(crate) fn has_room(&self) -> bool {
        self.0.state().has_room()
    }

    fn poll(&self, cx: &mut Context<'_>, done: impl Fn(&State) -> bool) -> Poll<io::Result<()>> {
        let mut state = self.0.state();
        if let Some(error) = &state.broken {
            return Poll::Ready(Err(same(error)));
        }
        if done(&state) {
            return Poll::Ready(Ok(()));
        }
        if !state.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl State {
    fn has_room(&self) -> bool {
        self.broken.is_some() || self.queued - self.written < FULL
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the thread does: writes what is queued, again and again, until
    /// that fails.
    fn write_to(&self, mut stream: Box<dyn Write + Send>) {
        let mut state = self.state();
        while state.broken.is_none() {
            if state.queue.is_empty() {
                state.asleep = true;
                state = self.more.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.asleep = false;
                continue;
            }
            if !self.gather.is_zero() {
                drop(state);
                std::thread::sleep(self.gather);
                state = self.state();
            }
            let bytes = std::mem::take(&mut state.queue);
            drop(state);
            let outcome = stream.write_all(&bytes).and_then(|()| stream.flush());
            state = self.state();
            state.written += bytes.len() as u64;
            if let Err(error) = outcome {
                state.broken = Some(error);
                state.queue = Vec::new();
            }
            state.waiting.drain(..).for_each(Waker::wake);
        }
    }
}

/// Takes what fits and no more; whoever fills it waits for the reader.
impl AsyncWrite for Outlet {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll(cx, State::has_room))?;
        self.queue(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// An error cannot be copied; this says the same.
fn same(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Takes bytes when the other side receives them.
    struct Slow(mpsc::SyncSender<Vec<u8>>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let gone = |_| io::ErrorKind::BrokenPipe.into();
            self.0.send(bytes.to_vec()).map(|()| bytes.len()).map_err(gone)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_reader_that_does_not_read_holds_up_only_who_waits() {
        let (sender, receiver) = mpsc::sync_channel(0);
        let outlet = Outlet::new(Slow(sender));
        outlet.queue(b"first");
        assert!(outlet.has_room());
        outlet.queue(&[b'x'; FULL as usize]);
        assert!(!outlet.has_room());
        assert_eq!(receiver.recv().unwrap()[..5], *b"first");
        let reading = std::thread::spawn(move || receiver.into_iter().count());
        outlet.written().await.unwrap();
        assert!(outlet.has_room());
        drop(reading);
    }

    #[tokio::test]
    async fn what_comes_quickly_is_written_together() {
        let (sender, receiver) = mpsc::sync_channel(100);
        let outlet = Outlet::gathering(Slow(sender), Duration::from_millis(1));
        (0..100).for_each(|_| outlet.queue(b"x"));
        outlet.written().await.unwrap();
        outlet.write(b"last").await.unwrap();
        let pieces: Vec<Vec<u8>> = receiver.try_iter().collect();
        assert!(pieces.len() < 50, "{}", pieces.len());
        assert_eq!(pieces.concat(), [&[b'x'; 100][..], b"last"].concat());
    }

    #[tokio::test]
    async fn what_cannot_be_written_is_told_from_then_on() {
        let (sender, receiver) = mpsc::sync_channel(0);
        drop(receiver);
        let outlet = Outlet::new(Slow(sender));
        for _ in 0..2 {
            let error = outlet.write(b"x").await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        }
        assert!(outlet.has_room());
    }
}

//! A writer with its own thread, so that a reader that does not read blocks only those
//! that wait for the writer. It masks secrets: all output of the program passes here.
//!
//! The program does not wait for the thread when it ends.

use std::future::poll_fn;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use sparring_transport::{SecretStream, Secrets};
use tokio::io::AsyncWrite;

use super::text_cleaner::TextCleaner;

/// The queue is full at this size.
const MAX_QUEUED_BYTES: u64 = 1024 * 1024;

/// A stream to write to. Clones write to the same stream.
#[derive(Clone)]
pub(crate) struct ThreadedWriter(Arc<SharedQueue>);

struct SharedQueue {
    state: Mutex<WriterState>,
    queue_filled: Condvar,
    /// The time in which the thread collects bytes before it writes.
    delay: Duration,
    /// The secrets to mask.
    secrets: Secrets,
}

struct WriterState {
    /// Moved to the thread with the first bytes, so that a program that writes nothing
    /// starts no thread.
    stream: Option<Box<dyn Write + Send>>,
    /// The bytes that the thread has not taken yet.
    queue: Vec<u8>,
    /// The number of bytes ever queued, and of those that are written.
    queued: u64,
    written: u64,
    error: Option<io::Error>,
    wakers: Vec<Waker>,
    /// True if the thread waits to be woken. Waking it costs a system call.
    thread_waits: bool,
}

impl ThreadedWriter {
    pub(crate) fn new(stream: impl Write + Send + 'static, secrets: &Secrets) -> Self {
        ThreadedWriter::with_delay(stream, secrets, Duration::ZERO)
    }

    /// A writer for many small pieces: bytes queued within this time are written
    /// together.
    pub(crate) fn with_delay(
        stream: impl Write + Send + 'static,
        secrets: &Secrets,
        delay: Duration,
    ) -> Self {
        ThreadedWriter(Arc::new(SharedQueue {
            state: Mutex::new(WriterState {
                stream: Some(Box::new(stream)),
                queue: Vec::new(),
                queued: 0,
                written: 0,
                error: None,
                wakers: Vec::new(),
                thread_waits: false,
            }),
            queue_filled: Condvar::new(),
            delay,
            secrets: secrets.clone(),
        }))
    }

    /// The secrets that this writer masks.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.0.secrets
    }

    /// Queues a complete text, with its secrets masked. Never waits.
    pub(crate) fn queue(&self, bytes: &[u8]) {
        self.queue_masked(&self.0.secrets.mask_bytes(bytes));
    }

    fn queue_masked(&self, bytes: &[u8]) {
        let mut state = self.0.state();
        if state.error.is_some() || bytes.is_empty() {
            return;
        }
        state.queue.extend_from_slice(bytes);
        state.queued += bytes.len() as u64;
        if state.thread_waits {
            self.0.queue_filled.notify_one();
        }
        if let Some(stream) = state.stream.take() {
            let shared = Arc::clone(&self.0);
            let thread = std::thread::Builder::new().name("writer".to_owned());
            if let Err(error) = thread.spawn(move || shared.run_writer(stream)) {
                state.error = Some(error);
            }
        }
    }

    /// Waits until everything that is queued now is written.
    ///
    /// # Errors
    /// When this or an earlier write failed.
    pub(crate) async fn flush(&self) -> io::Result<()> {
        let until = self.0.state().queued;
        poll_fn(|cx| self.poll_until(cx, |state| state.written >= until)).await
    }

    /// Queues bytes and waits until they are written.
    ///
    /// # Errors
    /// When a write failed.
    pub(crate) async fn write(&self, bytes: &[u8]) -> io::Result<()> {
        self.queue(bytes);
        self.flush().await
    }

    /// Ready when the queue has capacity, or after an error.
    pub(crate) fn poll_capacity(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_until(cx, WriterState::has_capacity).map(drop)
    }

    /// Returns true if the queue has capacity.
    pub(crate) fn has_capacity(&self) -> bool {
        self.0.state().has_capacity()
    }

    fn poll_until(
        &self,
        cx: &mut Context<'_>,
        done: impl Fn(&WriterState) -> bool,
    ) -> Poll<io::Result<()>> {
        let mut state = self.0.state();
        if let Some(error) = &state.error {
            return Poll::Ready(Err(copy_error(error)));
        }
        if done(&state) {
            return Poll::Ready(Ok(()));
        }
        if !state.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.wakers.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

impl WriterState {
    fn has_capacity(&self) -> bool {
        self.error.is_some() || self.queued - self.written < MAX_QUEUED_BYTES
    }
}

impl SharedQueue {
    fn state(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the queue until a write fails. Runs on the thread.
    fn run_writer(&self, mut stream: Box<dyn Write + Send>) {
        let mut state = self.state();
        while state.error.is_none() {
            if state.queue.is_empty() {
                state.thread_waits = true;
                state = self.queue_filled.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.thread_waits = false;
                continue;
            }
            if !self.delay.is_zero() {
                drop(state);
                std::thread::sleep(self.delay);
                state = self.state();
            }
            let bytes = std::mem::take(&mut state.queue);
            drop(state);
            let outcome = stream.write_all(&bytes).and_then(|()| stream.flush());
            state = self.state();
            state.written += bytes.len() as u64;
            if let Err(error) = outcome {
                state.error = Some(error);
                state.queue = Vec::new();
            }
            state.wakers.drain(..).for_each(Waker::wake);
        }
    }
}

/// Writes a stream of bytes. A secret may be divided between two writes, so the end of a
/// write waits if it may be the beginning of a secret. Flushing or dropping it writes the
/// rest.
pub(crate) struct StreamWriter {
    to: ThreadedWriter,
    stream: SecretStream,
    /// Cleans text for people, after the masking.
    cleaner: Option<TextCleaner>,
}

impl ThreadedWriter {
    pub(crate) fn stream(&self) -> StreamWriter {
        StreamWriter { to: self.clone(), stream: self.0.secrets.stream(), cleaner: None }
    }

    /// A stream of text for people.
    pub(crate) fn clean_stream(&self) -> StreamWriter {
        let mut stream = self.stream();
        stream.cleaner = Some(TextCleaner::default());
        stream
    }
}

impl StreamWriter {
    /// Writes more of the stream.
    ///
    /// # Errors
    /// When a write failed.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.queue(bytes);
        self.to.flush().await
    }

    /// Writes the rest of the stream.
    ///
    /// # Errors
    /// When a write failed.
    pub(crate) async fn finish(&mut self) -> io::Result<()> {
        self.queue_rest();
        self.to.flush().await
    }

    fn queue(&mut self, bytes: &[u8]) {
        let masked = self.stream.push(bytes);
        self.queue_clean(&masked);
    }

    fn queue_rest(&mut self) {
        let masked = self.stream.finish();
        self.queue_clean(&masked);
        if let Some(cleaner) = &mut self.cleaner {
            self.to.queue_masked(cleaner.finish().as_bytes());
        }
    }

    fn queue_clean(&mut self, masked: &[u8]) {
        match &mut self.cleaner {
            Some(cleaner) => self.to.queue_masked(cleaner.push(masked).as_bytes()),
            None => self.to.queue_masked(masked),
        }
    }
}

impl Drop for StreamWriter {
    fn drop(&mut self) {
        self.queue_rest();
    }
}

/// Accepts bytes only while the queue has capacity.
impl AsyncWrite for StreamWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.to.poll_until(cx, WriterState::has_capacity))?;
        self.queue(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let masked = self.stream.finish();
        self.queue_clean(&masked);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Returns an equal error, since errors cannot be cloned.
fn copy_error(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Accepts bytes when the other side receives them.
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
    async fn a_slow_reader_blocks_only_those_that_wait() {
        let (sender, receiver) = mpsc::sync_channel(0);
        let writer = ThreadedWriter::new(Slow(sender), &Secrets::default());
        writer.queue(b"first");
        assert!(writer.has_capacity());
        writer.queue(&[b'x'; MAX_QUEUED_BYTES as usize]);
        assert!(!writer.has_capacity());
        assert_eq!(receiver.recv().unwrap()[..5], *b"first");
        let reading = std::thread::spawn(move || receiver.into_iter().count());
        writer.flush().await.unwrap();
        assert!(writer.has_capacity());
        drop(reading);
    }

    #[tokio::test]
    async fn bytes_within_the_delay_are_written_together() {
        let (sender, receiver) = mpsc::sync_channel(100);
        let writer =
            ThreadedWriter::with_delay(Slow(sender), &Secrets::default(), Duration::from_millis(1));
        (0..100).for_each(|_| writer.queue(b"x"));
        writer.flush().await.unwrap();
        writer.write(b"last").await.unwrap();
        let pieces: Vec<Vec<u8>> = receiver.try_iter().collect();
        assert!(pieces.len() < 50, "{}", pieces.len());
        assert_eq!(pieces.concat(), [&[b'x'; 100][..], b"last"].concat());
    }

    #[tokio::test]
    async fn masks_secrets_in_texts_and_in_streams() {
        let (sender, receiver) = mpsc::sync_channel(100);
        let secrets = Secrets::default();
        secrets.add("hunter-two");
        let writer = ThreadedWriter::new(Slow(sender), &secrets);
        writer.write(b"a hunter-two b\n").await.unwrap();
        let mut stream = writer.stream();
        stream.write(b"c hunt").await.unwrap();
        writer.write(b"<note>").await.unwrap();
        stream.write(b"er-two hun").await.unwrap();
        drop(stream);
        writer.flush().await.unwrap();
        let written = receiver.try_iter().collect::<Vec<_>>().concat();
        assert_eq!(String::from_utf8(written).unwrap(), "a (hidden) b\nc <note>(hidden) hun");
    }

    #[tokio::test]
    async fn a_write_error_is_returned_from_then_on() {
        let (sender, receiver) = mpsc::sync_channel(0);
        drop(receiver);
        let writer = ThreadedWriter::new(Slow(sender), &Secrets::default());
        for _ in 0..2 {
            let error = writer.write(b"x").await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        }
        assert!(writer.has_capacity());
    }
}

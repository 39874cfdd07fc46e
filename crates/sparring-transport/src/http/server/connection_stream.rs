//! The bytes of a connection. A client that stops reading is disconnected, so that it does not
//! hold memory and a task forever. A connection without a request does not delay the shutdown.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::listener::Stream;
use super::shutdown_signal::ShutdownWaiter;

/// A byte stream with a write timeout.
pub(super) struct ConnectionStream {
    stream: Box<dyn Stream>,
    write_timeout: Duration,
    /// Waits for the shutdown until the first request has arrived.
    before_request: Option<(Arc<AtomicBool>, ShutdownWaiter)>,
    /// Set while a write waits.
    timer: Option<Pin<Box<Sleep>>>,
}

impl ConnectionStream {
    /// Creates a stream; the caller sets `has_request` when the first request has arrived.
    pub(super) fn new(
        stream: Box<dyn Stream>,
        write_timeout: Duration,
        has_request: Arc<AtomicBool>,
        shutdown: ShutdownWaiter,
    ) -> Self {
        ConnectionStream {
            stream,
            write_timeout,
            before_request: Some((has_request, shutdown)),
            timer: None,
        }
    }

    /// Ends an idle connection when the server shuts down, before its first request. After that
    /// hyper does this.
    fn poll_shutdown_before_request(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some((has_request, shutdown)) = &mut self.before_request else { return Poll::Pending };
        if has_request.load(Ordering::Relaxed) {
            self.before_request = None;
            return Poll::Pending;
        }
        shutdown.poll(cx).map(Ok)
    }

    /// Returns the result of a write, or an error if it waits for too long.
    fn check_write_timeout(
        &mut self,
        written: Poll<io::Result<usize>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.timer = None;
            return written;
        }
        let write_timeout = self.write_timeout;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(write_timeout)));
        timer.as_mut().poll(cx).map(|()| {
            let message = "the client stopped reading";
            Err(io::Error::new(io::ErrorKind::TimedOut, message))
        })
    }
}

impl AsyncRead for ConnectionStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(cx, into) {
            Poll::Pending => self.poll_shutdown_before_request(cx),
            ready => ready,
        }
    }
}

impl AsyncWrite for ConnectionStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check_write_timeout(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.check_write_timeout(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

//! A connection's bytes. A client that does not read any more is taken for gone,
//! so that it holds neither memory nor a task for ever; and one that has not yet
//! asked for anything is not waited for at the end.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::drain::Ear;
use super::listener::Stream;

/// A stream of bytes that must be read by the other side.
pub(super) struct Wire {
    stream: Box<dyn Stream>,
    within: Duration,
    /// Until a first request has come: hears that the end has begun.
    before: Option<(Arc<AtomicBool>, Ear)>,
    /// Set while a write waits.
    alarm: Option<Pin<Box<Sleep>>>,
}

impl Wire {
    /// Somebody else tells by `asked` that a first request has come.
    pub(super) fn new(
        stream: Box<dyn Stream>,
        within: Duration,
        asked: Arc<AtomicBool>,
        ear: Ear,
    ) -> Self {
        Wire { stream, within, before: Some((asked, ear)), alarm: None }
    }

    /// Nothing came. As long as no request has, that is the end once the
    /// server's has begun; after the first, hyper sees to it.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some((asked, ear)) = &mut self.before else { return Poll::Pending };
        if asked.load(Ordering::Relaxed) {
            self.before = None;
            return Poll::Pending;
        }
        ear.poll(cx).map(Ok)
    }

    /// What a write came to, or that it has waited for too long.
    fn watch(
        &mut self,
        written: Poll<io::Result<usize>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.alarm = None;
            return written;
        }
        let within = self.within;
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep(within)));
        alarm.as_mut().poll(cx).map(|()| {
            let message = "the client does not read";
            Err(io::Error::new(io::ErrorKind::TimedOut, message))
        })
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.stream).poll_read(cx, into) {
            Poll::Pending => self.wait(cx),
            ready => ready,
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.watch(written, cx)
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

//! A connection whose other side may stop to read and still have something to
//! say, as a server that refuses a body for its length: what it says is heard.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};

/// A connection that is read to its end although nothing can be written to it
/// any more.
pub(super) struct Heard<T> {
    io: T,
    /// Whether nobody reads what is written.
    deaf: bool,
}

impl<T> Heard<T> {
    pub(super) fn new(io: T) -> Self {
        Heard { io, deaf: false }
    }

    /// What was written, as far as the other side has to do with it.
    fn written<R>(&mut self, result: Poll<io::Result<R>>, all: R) -> Poll<io::Result<R>> {
        match result {
            Poll::Ready(Err(error)) if is_refusal(&error) => {
                self.deaf = true;
                Poll::Ready(Ok(all))
            }
            result => result,
        }
    }
}

fn is_refusal(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset | ConnectionAborted)
}

impl<T: Read + Unpin> Read for Heard<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl<T: Write + Unpin> Write for Heard<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.deaf {
            return Poll::Ready(Ok(bytes.len()));
        }
        let result = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.written(result, bytes.len())
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let all = pieces.iter().map(|piece| piece.len()).sum();
        if self.deaf {
            return Poll::Ready(Ok(all));
        }
        let result = Pin::new(&mut self.io).poll_write_vectored(cx, pieces);
        self.written(result, all)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.deaf {
            return Poll::Ready(Ok(()));
        }
        let result = Pin::new(&mut self.io).poll_flush(cx);
        self.written(result, ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

//! A connection that stays readable after the other side stops reading. A server may refuse a
//! long body and still send a response.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};

/// A connection that ignores write errors, so that it can be read to its end.
pub(super) struct IgnoreWriteErrors<T> {
    io: T,
    /// True if the other side has stopped reading.
    write_closed: bool,
}

impl<T> IgnoreWriteErrors<T> {
    pub(super) fn new(io: T) -> Self {
        IgnoreWriteErrors { io, write_closed: false }
    }

    /// Turns the error of a closed connection into success.
    fn ignore_closed<R>(&mut self, result: Poll<io::Result<R>>, all: R) -> Poll<io::Result<R>> {
        match result {
            Poll::Ready(Err(error)) if is_closed_error(&error) => {
                self.write_closed = true;
                Poll::Ready(Ok(all))
            }
            result => result,
        }
    }
}

fn is_closed_error(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset};
    matches!(error.kind(), BrokenPipe | ConnectionReset | ConnectionAborted)
}

impl<T: Read + Unpin> Read for IgnoreWriteErrors<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl<T: Write + Unpin> Write for IgnoreWriteErrors<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.write_closed {
            return Poll::Ready(Ok(bytes.len()));
        }
        let result = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.ignore_closed(result, bytes.len())
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let all = pieces.iter().map(|piece| piece.len()).sum();
        if self.write_closed {
            return Poll::Ready(Ok(all));
        }
        let result = Pin::new(&mut self.io).poll_write_vectored(cx, pieces);
        self.ignore_closed(result, all)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.write_closed {
            return Poll::Ready(Ok(()));
        }
        let result = Pin::new(&mut self.io).poll_flush(cx);
        self.ignore_closed(result, ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

//! A link of newline-delimited frames over any pair of byte streams: pipes,
//! sockets, a `tokio::io::duplex`, this process's stdin and stdout.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use sparring_wire::{Frame, Limits};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::rate_limiter::RateLimiter;
use super::{
    Cause, Disconnect, Faults, Incoming, Link, LinkInfo, LinkKind, Outgoing, Recorder, Stream,
};

/// The number of bytes to keep of a line that is too long, for messages.
const MAX_KEPT_OF_LONG_LINE: usize = 4096;

/// The number of bytes to read at once.
const READ_BUFFER_SIZE: usize = 64 * 1024;

/// The number of reads without a frame before other tasks get their turn.
const MAX_READS_PER_POLL: usize = 64;

/// Options for reading lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineLinkOptions {
    /// The maximum length of a line. A longer line becomes noise, so that memory
    /// stays bounded.
    pub max_line_bytes: usize,
}

impl Default for LineLinkOptions {
    fn default() -> Self {
        LineLinkOptions { max_line_bytes: 8 * 1024 * 1024 }
    }
}

/// A link of lines over a reader and a writer.
#[derive(Debug)]
pub struct LineLink<R, W> {
    transport: &'static str,
    reader: R,
    /// Dropped to close it, because a pipe ends only when it is dropped.
    writer: Option<W>,
    options: LineLinkOptions,
    recorder: Option<Recorder>,
    /// The beginning of a line whose end has not been read.
    partial: Vec<u8>,
    /// True if the link is skipping the rest of a line that is too long.
    skipping: bool,
    received: VecDeque<Incoming>,
    closed: Option<Cause>,
    buffer: Box<[u8]>,
    /// Bytes to write; those before `written` have been written.
    outgoing: Vec<u8>,
    written: usize,
    /// The stream of each frame in `outgoing`, with the position where the frame
    /// ends. Adjacent frames without a request share one entry.
    queued_streams: VecDeque<(usize, Stream)>,
    /// True if written bytes have not been flushed.
    unflushed: bool,
    closing: bool,
    /// True if the input stays open after the output was closed.
    keeps_input: bool,
    /// Limits the rate of writing, if a fault asks for it.
    rate_limiter: Option<RateLimiter>,
    /// The reason why writing has ended, once it has.
    write_end: Option<Cause>,
}

impl<S: AsyncRead + AsyncWrite + Send + 'static>
    LineLink<tokio::io::ReadHalf<S>, tokio::io::WriteHalf<S>>
{
    /// Creates a link over a stream that is a reader and a writer.
    pub fn from_stream(stream: S) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        LineLink::new(reader, writer, LineLinkOptions::default())
    }
}

impl<R, W> LineLink<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    /// Creates a link over a reader and a writer.
    pub fn new(reader: R, writer: W, options: LineLinkOptions) -> Self {
        LineLink {
            transport: "stdio",
            reader,
            writer: Some(writer),
            options,
            recorder: None,
            partial: Vec::new(),
            skipping: false,
            received: VecDeque::new(),
            closed: None,
            buffer: vec![0; READ_BUFFER_SIZE].into(),
            outgoing: Vec::new(),
            written: 0,
            queued_streams: VecDeque::new(),
            unflushed: false,
            closing: false,
            rate_limiter: None,
            keeps_input: false,
            write_end: None,
        }
    }

    /// Sets the name of the transport (default: `stdio`).
    #[must_use]
    pub fn with_transport_name(mut self, transport: &'static str) -> Self {
        self.transport = transport;
        self
    }

    /// Sets bytes that the caller has already read from the beginning of the
    /// first line.
    #[must_use]
    pub fn with_initial_bytes(mut self, beginning: &[u8]) -> Self {
        self.partial.extend_from_slice(beginning);
        self
    }

    /// Ends the input although the reader has not ended. A line without an end
    /// counts as a line.
    pub fn end_input(&mut self) {
        self.close_input(Cause::EndOfInput);
    }

    /// Closes the output after everything queued is written. Unlike
    /// [`Outgoing::Close`], this leaves the input open until it ends.
    pub fn close_output(&mut self) {
        self.closing = true;
        self.keeps_input = true;
    }

    /// Splits the bytes that were just read into lines.
    fn split_lines(&mut self, length: usize) {
        let buffer = std::mem::take(&mut self.buffer);
        let mut rest = &buffer[..length];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let line = &rest[..end];
            rest = &rest[end + 1..];
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if self.partial.is_empty() {
                self.receive_line(line.to_vec());
            } else {
                self.partial.extend_from_slice(line);
                let line = std::mem::take(&mut self.partial);
                self.receive_line(line);
            }
        }
        if !self.skipping {
            self.partial.extend_from_slice(rest);
            if self.partial.len() > self.options.max_line_bytes {
                self.skipping = true;
                let line = std::mem::take(&mut self.partial);
                self.receive_line(line);
            }
        }
        self.buffer = buffer;
    }

    fn receive_line(&mut self, mut line: Vec<u8>) {
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let frame = if line.len() > self.options.max_line_bytes {
            line.truncate(MAX_KEPT_OF_LONG_LINE);
            line.shrink_to_fit();
            Frame::truncated(line, self.options.max_line_bytes)
        } else {
            Frame::parse_with_limits(line, Limits::default())
        };
        if let Some(recorder) = &self.recorder {
            recorder.record_received(&frame);
        }
        self.received.push_back(Incoming::from_shared_channel(frame));
    }

    fn close_input(&mut self, cause: Cause) {
        if !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            self.receive_line(line);
        }
        self.closed.get_or_insert(cause);
    }

    /// Frees written bytes from time to time, so that the buffer does not grow
    /// without limit behind a slow reader.
    fn drop_written(&mut self) {
        if self.written < 4 * READ_BUFFER_SIZE {
            return;
        }
        self.outgoing.drain(..self.written);
        let written = std::mem::take(&mut self.written);
        self.queued_streams.retain_mut(|(end, _)| {
            let waiting = *end > written;
            *end = end.saturating_sub(written);
            waiting
        });
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(writer) = &mut self.writer else { return Poll::Ready(Ok(())) };
        let mut writer = Pin::new(writer);
        while self.written < self.outgoing.len() {
            let mut rest = &self.outgoing[self.written..];
            if let Some(rate_limiter) = &mut self.rate_limiter {
                let most = ready!(rate_limiter.poll_ready_bytes(cx)).min(rest.len());
                rest = &rest[..most];
            }
            match ready!(writer.as_mut().poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
            self.unflushed = true;
            if self.rate_limiter.is_some() {
                ready!(writer.as_mut().poll_flush(cx))?;
            }
        }
        self.outgoing.clear();
        self.rate_limiter = None;
        self.queued_streams.clear();
        self.written = 0;
        if self.unflushed {
            ready!(writer.as_mut().poll_flush(cx))?;
            self.unflushed = false;
        }
        if self.closing {
            ready!(writer.as_mut().poll_shutdown(cx))?;
            self.writer = None;
        }
        Poll::Ready(Ok(()))
    }

    /// Fails everything that could not be written. The link still reads what the
    /// other side has sent.
    fn handle_write_error(&mut self, error: &io::Error) {
        let cause = Cause::Broken(format!("the other side stopped reading: {error}"));
        for (end, stream) in std::mem::take(&mut self.queued_streams) {
            if end > self.written {
                self.report_unsent(stream, cause.clone());
            }
        }
        self.outgoing.clear();
        self.written = 0;
        self.unflushed = false;
        self.writer = None;
        self.write_end = Some(cause);
    }

    /// Queues a frame, or the frames that its faults replace it with.
    fn queue_frame(&mut self, frame: &Frame, faults: &Faults) {
        let Some(fault) = faults.get() else { return self.queue_line(frame) };
        if let Some(noise) = &fault.noise {
            self.queue_line(&Frame::parse(noise.clone()));
        }
        for frame in faults.apply(frame) {
            self.queue_line(&frame);
        }
        if fault.disconnect == Some(Disconnect::Middle) {
            self.outgoing.pop();
        }
        if let Some(rate) = fault.bytes_per_second {
            self.rate_limiter = Some(RateLimiter::new(rate));
        }
        self.closing = fault.disconnect.is_some();
    }

    fn queue_line(&mut self, frame: &Frame) {
        if let Some(recorder) = &self.recorder {
            recorder.record_sent(frame);
        }
        self.outgoing.extend_from_slice(frame.bytes());
        self.outgoing.push(b'\n');
    }

    fn report_unsent(&mut self, stream: Stream, cause: Cause) {
        self.received.push_back(Incoming::StreamEnded { stream, cause });
    }
}

impl<R, W> Link for LineLink<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    fn info(&self) -> LinkInfo {
        LinkInfo::new(LinkKind::Shared, self.transport)
    }

    fn set_recorder(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Send { frame, faults, .. } if !self.closing => {
                let request = frame.id().filter(|_| frame.method().is_some()).cloned();
                let stream = request.map_or(Stream::Connection, Stream::Request);
                if let Some(cause) = self.write_end.clone() {
                    return self.report_unsent(stream, cause);
                }
                self.drop_written();
                self.queue_frame(&frame, &faults);
                let end = self.outgoing.len();
                match self.queued_streams.back_mut() {
                    Some((last, Stream::Connection)) if stream == Stream::Connection => *last = end,
                    _ => self.queued_streams.push_back((end, stream)),
                }
            }
            // A shared channel has no streams to open or abort.
            Outgoing::Send { .. } | Outgoing::Open(_) | Outgoing::Abort(_) => {}
            Outgoing::EraDetected(_) => {}
            Outgoing::Restart => self.received.push_back(Incoming::NotRestarted),
            Outgoing::Close => self.closing = true,
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.write_end.is_none() {
            if self.outgoing.is_empty() && !self.unflushed && !self.closing {
                return Poll::Ready(());
            }
            match ready!(self.poll_write(cx)) {
                Ok(()) if self.closing => self.write_end = Some(Cause::ClosedLocally),
                Ok(()) => {}
                Err(error) => self.handle_write_error(&error),
            }
        }
        if self.closing && !self.keeps_input {
            self.close_input(Cause::ClosedLocally);
        }
        Poll::Ready(())
    }

    fn backlog(&self) -> usize {
        self.outgoing.len() - self.written
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        for _ in 0..MAX_READS_PER_POLL {
            if let Some(incoming) = self.received.pop_front() {
                return Poll::Ready(incoming);
            }
            if let Some(cause) = &self.closed {
                return Poll::Ready(Incoming::Closed(cause.clone()));
            }
            let mut buffer = ReadBuf::new(&mut self.buffer);
            match ready!(Pin::new(&mut self.reader).poll_read(cx, &mut buffer)) {
                Ok(()) if buffer.filled().is_empty() => self.close_input(Cause::EndOfInput),
                Ok(()) => {
                    let length = buffer.filled().len();
                    self.split_lines(length);
                }
                Err(error) => self.close_input(Cause::Broken(format!("reading failed: {error}"))),
            }
        }
        // The reads brought no frame: other tasks get their turn.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

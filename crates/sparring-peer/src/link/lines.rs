//! Newline-delimited frames over any pair of byte streams: pipes, sockets, a
//! `tokio::io::duplex`, our own stdin and stdout.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use sparring_wire::{Frame, Limits};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::pace::Pace;
use super::{Cause, Cut, Faults, Incoming, Link, LinkKind, Outgoing, Recorder, Stream};

/// How much of a line that is too long is kept to be shown.
const SHOWN: usize = 4096;

/// How much is read at once.
const READ: usize = 64 * 1024;

/// How often is read for one frame before others get their turn.
const READS: usize = 64;

/// How lines are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinesOptions {
    /// The longest line; a longer one becomes noise, and memory stays bounded.
    pub max_line: usize,
}

impl Default for LinesOptions {
    fn default() -> Self {
        LinesOptions { max_line: 8 * 1024 * 1024 }
    }
}

/// A link of lines over a reader and a writer.
#[derive(Debug)]
pub struct Lines<R, W> {
    transport: &'static str,
    reader: R,
    /// Dropped when it is shut, since a pipe only ends so.
    writer: Option<W>,
    options: LinesOptions,
    recorder: Option<Recorder>,
    /// Read, and not yet a whole line.
    partial: Vec<u8>,
    /// Whether the rest of a line that was too long is being passed over.
    skipping: bool,
    received: VecDeque<Incoming>,
    closed: Option<Cause>,
    buffer: Box<[u8]>,
    /// Queued to be written, from `written` on.
    outgoing: Vec<u8>,
    written: usize,
    /// Whose frames are in `outgoing`, and where each ends; what belongs to no
    /// request counts as one.
    senders: VecDeque<(usize, Stream)>,
    /// Whether something was written and not flushed.
    unflushed: bool,
    closing: bool,
    /// How slowly to write, where that is wanted.
    pace: Option<Pace>,
    /// Whether nothing can be written any more, and why if not by us.
    shut: Option<Cause>,
}

impl<S: AsyncRead + AsyncWrite + Send + 'static>
    Lines<tokio::io::ReadHalf<S>, tokio::io::WriteHalf<S>>
{
    /// A link over a stream that goes both ways.
    pub fn over(stream: S) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Lines::new(reader, writer, LinesOptions::default())
    }
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    /// A link over a reader and a writer.
    pub fn new(reader: R, writer: W, options: LinesOptions) -> Self {
        Lines {
            transport: "stdio",
            reader,
            writer: Some(writer),
            options,
            recorder: None,
            partial: Vec::new(),
            skipping: false,
            received: VecDeque::new(),
            closed: None,
            buffer: vec![0; READ].into(),
            outgoing: Vec::new(),
            written: 0,
            senders: VecDeque::new(),
            unflushed: false,
            closing: false,
            pace: None,
            shut: None,
        }
    }

    /// The same, over something that is called otherwise than `stdio`.
    #[must_use]
    pub fn named(mut self, transport: &'static str) -> Self {
        self.transport = transport;
        self
    }

    /// The same, where the beginning of a line has been read already.
    #[must_use]
    pub fn after(mut self, beginning: &[u8]) -> Self {
        self.partial.extend_from_slice(beginning);
        self
    }

    /// Ends what is received, although the reader has not: what came of a line
    /// that has no end counts as one.
    pub fn end_input(&mut self) {
        self.end(Cause::EndOfInput);
    }

    /// Cuts what was just read into lines.
    fn take_in(&mut self, length: usize) {
        let buffer = std::mem::take(&mut self.buffer);
        let mut rest = &buffer[..length];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let line = &rest[..end];
            rest = &rest[end + 1..];
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if self.partial.is_empty() {
                self.line(line.to_vec());
            } else {
                self.partial.extend_from_slice(line);
                let line = std::mem::take(&mut self.partial);
                self.line(line);
            }
        }
        if !self.skipping {
            self.partial.extend_from_slice(rest);
            if self.partial.len() > self.options.max_line {
                self.skipping = true;
                let line = std::mem::take(&mut self.partial);
                self.line(line);
            }
        }
        self.buffer = buffer;
    }

    fn line(&mut self, mut line: Vec<u8>) {
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let frame = if line.len() > self.options.max_line {
            line.truncate(SHOWN);
            line.shrink_to_fit();
            Frame::cut_off(line, self.options.max_line)
        } else {
            Frame::parse_within(line, Limits::default())
        };
        if let Some(recorder) = &self.recorder {
            recorder.received(&frame);
        }
        self.received.push_back(Incoming::on_shared_channel(frame));
    }

    fn end(&mut self, cause: Cause) {
        if !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            self.line(line);
        }
        self.closed.get_or_insert(cause);
    }

    /// Frees what has been written, now and then, so that a slow reader does not
    /// make the queue grow for ever.
    fn forget_written(&mut self) {
        if self.written < 4 * READ {
            return;
        }
        self.outgoing.drain(..self.written);
        let written = std::mem::take(&mut self.written);
        self.senders.retain_mut(|(end, _)| {
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
            if let Some(pace) = &mut self.pace {
                let most = ready!(pace.poll_allowed(cx)).min(rest.len());
                rest = &rest[..most];
            }
            match ready!(writer.as_mut().poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                count => self.written += count,
            }
            self.unflushed = true;
            if self.pace.is_some() {
                ready!(writer.as_mut().poll_flush(cx))?;
            }
        }
        self.outgoing.clear();
        self.pace = None;
        self.senders.clear();
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

    /// Nothing can be written any more: what was not, fails. What the other
    /// side has still to say is read all the same.
    fn writing_failed(&mut self, error: &io::Error) {
        let cause = Cause::Broken(format!("the other side does not read any more: {error}"));
        for (end, stream) in std::mem::take(&mut self.senders) {
            if end > self.written {
                self.unsent(stream, cause.clone());
            }
        }
        self.outgoing.clear();
        self.written = 0;
        self.unflushed = false;
        self.writer = None;
        self.shut = Some(cause);
    }

    /// Queues a frame, or what is to be written in its place.
    fn write(&mut self, frame: &Frame, faults: &Faults) {
        let Some(fault) = faults.get() else { return self.write_line(frame) };
        if let Some(noise) = &fault.noise {
            self.write_line(&Frame::parse(noise.clone()));
        }
        for frame in faults.applied_to(frame) {
            self.write_line(&frame);
        }
        if fault.cut == Some(Cut::Middle) {
            self.outgoing.pop();
        }
        if let Some(rate) = fault.slow {
            self.pace = Some(Pace::new(rate));
        }
        self.closing = fault.cut.is_some();
    }

    fn write_line(&mut self, frame: &Frame) {
        if let Some(recorder) = &self.recorder {
            recorder.sent(frame);
        }
        self.outgoing.extend_from_slice(frame.bytes());
        self.outgoing.push(b'\n');
    }

    fn unsent(&mut self, stream: Stream, cause: Cause) {
        self.received.push_back(Incoming::StreamEnded { stream, cause });
    }
}

impl<R, W> Link for Lines<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    fn kind(&self) -> LinkKind {
        LinkKind::Shared
    }

    fn transport(&self) -> &'static str {
        self.transport
    }

    fn record_to(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Send { frame, faults, .. } if !self.closing => {
                let request = frame.id().filter(|_| frame.method().is_some()).cloned();
                let sender = request.map_or(Stream::Standing, Stream::Request);
                if let Some(cause) = self.shut.clone() {
                    return self.unsent(sender, cause);
                }
                self.forget_written();
                self.write(&frame, &faults);
                let end = self.outgoing.len();
                match self.senders.back_mut() {
                    Some((last, Stream::Standing)) if sender == Stream::Standing => *last = end,
                    _ => self.senders.push_back((end, sender)),
                }
            }
            // One channel for all: there is no stream to give up.
            Outgoing::Send { .. } | Outgoing::Open(_) | Outgoing::Abort(_) => {}
            Outgoing::Close => self.closing = true,
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.shut.is_none() {
            if self.outgoing.is_empty() && !self.unflushed && !self.closing {
                return Poll::Ready(());
            }
            match ready!(self.poll_write(cx)) {
                Ok(()) if self.closing => self.shut = Some(Cause::ByUs),
                Ok(()) => {}
                Err(error) => self.writing_failed(&error),
            }
        }
        if self.closing {
            self.end(Cause::ByUs);
        }
        Poll::Ready(())
    }

    fn backlog(&self) -> usize {
        self.outgoing.len() - self.written
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        for _ in 0..READS {
            if let Some(incoming) = self.received.pop_front() {
                return Poll::Ready(incoming);
            }
            if let Some(cause) = &self.closed {
                return Poll::Ready(Incoming::Closed(cause.clone()));
            }
            let mut buffer = ReadBuf::new(&mut self.buffer);
            match ready!(Pin::new(&mut self.reader).poll_read(cx, &mut buffer)) {
                Ok(()) if buffer.filled().is_empty() => self.end(Cause::EndOfInput),
                Ok(()) => {
                    let length = buffer.filled().len();
                    self.take_in(length);
                }
                Err(error) => self.end(Cause::Broken(format!("reading failed: {error}"))),
            }
        }
        // Much was read and no frame came of it: others get their turn.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

//! An in-process link with two ends: no copied bytes, no port, no child process.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use sparring_wire::Frame;

use super::{Cause, Envelope, Incoming, Link, LinkInfo, LinkKind, Outgoing, Recorder, Stream};

/// Creates a link: each end receives the messages of the other end.
pub fn memory(kind: LinkKind) -> (MemoryLink, MemoryLink) {
    let (here, there) = (Arc::new(Queue::default()), Arc::new(Queue::default()));
    let end = |inbox: &Arc<Queue>, outbox: &Arc<Queue>| MemoryLink {
        kind,
        inbox: Arc::clone(inbox),
        outbox: Arc::clone(outbox),
        received: VecDeque::new(),
        recorder: None,
        closed: None,
    };
    (end(&here, &there), end(&there, &here))
}

/// One end of a memory link; see [`memory()`].
#[derive(Debug)]
pub struct MemoryLink {
    kind: LinkKind,
    inbox: Arc<Queue>,
    outbox: Arc<Queue>,
    /// Taken out of the inbox in one step, and not yet returned.
    received: VecDeque<Incoming>,
    recorder: Option<Recorder>,
    closed: Option<Cause>,
}

/// The messages that one end has sent and the other has not yet received.
#[derive(Debug, Default)]
struct Queue(Mutex<QueueContents>);

#[derive(Debug, Default)]
struct QueueContents {
    items: VecDeque<Incoming>,
    reader: Option<Waker>,
    closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, QueueContents> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, item: Incoming) {
        let waker = {
            let mut contents = self.lock();
            if contents.closed {
                return;
            }
            contents.closed = matches!(item, Incoming::Closed(_));
            contents.items.push_back(item);
            contents.reader.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl MemoryLink {
    /// Returns the next event that has already arrived, without waiting.
    pub fn try_receive(&mut self) -> Option<Incoming> {
        if self.received.is_empty() {
            std::mem::swap(&mut self.received, &mut self.inbox.lock().items);
        }
        let incoming = self.received.pop_front()?;
        Some(self.record_received(incoming))
    }

    /// Ends the input of the other side. This side can still receive.
    pub(super) fn end_output(&mut self) {
        self.outbox.push(Incoming::Closed(Cause::EndOfInput));
    }

    fn push_frame(&self, stream: Stream, frame: Frame, envelope: Option<Envelope>) {
        if let Some(recorder) = &self.recorder {
            recorder.record_sent(&frame);
        }
        self.outbox.push(Incoming::from_frame(stream, frame, envelope));
    }

    fn record_received(&mut self, incoming: Incoming) -> Incoming {
        match &incoming {
            Incoming::Frame { frame, .. } | Incoming::Noise { frame, .. } => {
                if let Some(recorder) = &self.recorder {
                    recorder.record_received(frame);
                }
            }
            Incoming::Closed(cause) => self.closed = Some(cause.clone()),
            Incoming::StreamEnded { .. }
            | Incoming::MessagesLost(_)
            | Incoming::Restarted
            | Incoming::NotRestarted => {}
        }
        incoming
    }
}

impl Link for MemoryLink {
    fn info(&self) -> LinkInfo {
        LinkInfo::new(self.kind, "memory")
    }

    fn set_recorder(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Send { frame, stream, headers, faults } => {
                let envelope = || Envelope { headers, ..Envelope::default() };
                let envelope = (self.kind == LinkKind::Streams).then(envelope);
                let Some(fault) = faults.get() else {
                    return self.push_frame(stream, frame, envelope);
                };
                let noise = fault.noise.clone().map(Frame::parse);
                for frame in noise.into_iter().chain(faults.apply(&frame)) {
                    self.push_frame(stream.clone(), frame, envelope.clone());
                }
                if fault.disconnect.is_some() {
                    self.send(Outgoing::Close);
                }
            }
            // Both ends can send on every stream from the start.
            Outgoing::Open(_) | Outgoing::EraDetected(_) => {}
            Outgoing::Abort(stream) => {
                self.outbox.push(Incoming::StreamEnded { stream, cause: Cause::EndOfInput });
            }
            Outgoing::Restart => self.inbox.push(Incoming::NotRestarted),
            Outgoing::Close => {
                self.end_output();
                self.inbox.push(Incoming::Closed(Cause::ClosedLocally));
            }
        }
    }

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if let Some(cause) = &self.closed {
            return Poll::Ready(Incoming::Closed(cause.clone()));
        }
        if self.received.is_empty() {
            let mut contents = self.inbox.lock();
            std::mem::swap(&mut self.received, &mut contents.items);
            if self.received.is_empty() {
                match &mut contents.reader {
                    Some(reader) => reader.clone_from(cx.waker()),
                    reader => *reader = Some(cx.waker().clone()),
                }
                return Poll::Pending;
            }
        }
        match self.try_receive() {
            Some(incoming) => Poll::Ready(incoming),
            None => Poll::Pending,
        }
    }
}

/// A dropped end closes its side, so that the other end does not wait for it.
impl Drop for MemoryLink {
    fn drop(&mut self) {
        self.end_output();
        let mut contents = self.inbox.lock();
        contents.closed = true;
        contents.items.clear();
    }
}

//! The messages that the handlers of one connection send while they serve requests, with a limit
//! in bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use sparring_wire::types::LogLevel;
use sparring_wire::{ErrorObject, Id, RawJson};
use tokio::sync::{mpsc, oneshot};

use crate::link::Faults;

/// The maximum number of bytes in the queue. A session whose client reads too slowly for it
/// ends.
const MAX_QUEUED_BYTES: usize = 16 * 1024 * 1024;

/// A message that a handler sends while it serves a request.
#[derive(Debug)]
pub(super) enum HandlerMessage {
    Progress(Id, RawJson),
    Log(Id, LogLevel, RawJson),
    Notify(Id, String, Option<RawJson>),
    CloseStream(Id),
    Faults(Id, Faults),
    Ask(Id, &'static str, RawJson, oneshot::Sender<Result<RawJson, ErrorObject>>),
}

impl HandlerMessage {
    fn size(&self) -> usize {
        match self {
            HandlerMessage::Progress(_, params)
            | HandlerMessage::Log(_, _, params)
            | HandlerMessage::Ask(_, _, params, _) => params.text().len(),
            HandlerMessage::Notify(_, method, params) => {
                method.len() + params.as_ref().map_or(0, |params| params.text().len())
            }
            HandlerMessage::CloseStream(_) | HandlerMessage::Faults(..) => 0,
        }
    }
}

/// The sender of a queue, which all handlers share.
#[derive(Debug)]
pub(super) struct MessageSender {
    sender: mpsc::UnboundedSender<HandlerMessage>,
    /// The bytes in the queue.
    bytes: AtomicUsize,
    overflowed: AtomicBool,
}

impl MessageSender {
    /// Adds a message. It is dropped if the queue is full, and then the session ends. It is not
    /// needed if the session has ended.
    pub(super) fn send(&self, message: HandlerMessage) {
        let size = message.size();
        let before = self.bytes.fetch_add(size, Ordering::Relaxed);
        if before > 0 && before + size > MAX_QUEUED_BYTES {
            self.bytes.fetch_sub(size, Ordering::Relaxed);
            self.overflowed.store(true, Ordering::Relaxed);
            return;
        }
        let _ = self.sender.send(message);
    }
}

/// The queue of one connection.
#[derive(Debug)]
pub(super) struct MessageQueue {
    sender: Arc<MessageSender>,
    receiver: mpsc::UnboundedReceiver<HandlerMessage>,
}

impl Default for MessageQueue {
    fn default() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        let (bytes, overflowed) = Default::default();
        MessageQueue { sender: Arc::new(MessageSender { sender, bytes, overflowed }), receiver }
    }
}

impl MessageQueue {
    pub(super) fn sender(&self) -> Arc<MessageSender> {
        Arc::clone(&self.sender)
    }

    pub(super) fn len(&self) -> usize {
        self.receiver.len()
    }

    /// Returns the next message, without waiting.
    pub(super) fn try_next(&mut self) -> Option<HandlerMessage> {
        let message = self.receiver.try_recv().ok()?;
        Some(self.taken(message))
    }

    /// Returns the next message.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<HandlerMessage> {
        match self.receiver.poll_recv(cx) {
            Poll::Ready(Some(message)) => Poll::Ready(self.taken(message)),
            // The queue has a sender itself, so it never ends.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    /// Returns true if a message was dropped.
    pub(super) fn has_overflowed(&self) -> bool {
        self.sender.overflowed.load(Ordering::Relaxed)
    }

    fn taken(&self, message: HandlerMessage) -> HandlerMessage {
        self.sender.bytes.fetch_sub(message.size(), Ordering::Relaxed);
        message
    }
}

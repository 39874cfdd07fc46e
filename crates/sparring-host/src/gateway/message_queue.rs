//! The messages of a server that wait to be forwarded to the client of a request, with limits in
//! number and bytes. Excess messages are dropped.

use sparring_peer::client::{LogMessage, Progress};
use sparring_peer::{ByteBudget, ReservedBytes};
use tokio::sync::mpsc;

use super::forwarded_request::PendingQuestion;

/// The maximum number of messages of one request, and of their bytes. One message always fits.
const MAX_QUEUED_MESSAGES: usize = 256;
pub(super) const MAX_QUEUED_BYTES: usize = 4 * 1024 * 1024;

/// The maximum number of bytes of the messages of all requests.
pub(super) const MAX_TOTAL_BYTES: usize = 64 * 1024 * 1024;

/// The memory of a message beside its texts.
const MESSAGE_BYTES: usize = 128;

/// A message before the response.
pub(super) enum ServerMessage {
    Progress(Progress),
    Log(LogMessage),
    Question(PendingQuestion),
}

impl ServerMessage {
    fn size(&self) -> usize {
        let texts = match self {
            ServerMessage::Progress(it) => it.message.as_ref().map_or(0, String::len),
            ServerMessage::Log(it) => {
                it.data.text().len() + it.logger.as_ref().map_or(0, String::len)
            }
            ServerMessage::Question(it) => it.params.text().len(),
        };
        MESSAGE_BYTES + texts
    }
}

/// A message in a queue. Channels carry it in a box: most requests have none, and a channel
/// allocates room for 32 items at once.
struct QueuedMessage {
    message: ServerMessage,
    _own: ReservedBytes,
    _total: ReservedBytes,
}

/// The limits of the bytes of one queue, and of all.
#[derive(Debug, Clone)]
struct QueueBudgets {
    own: ByteBudget,
    total: ByteBudget,
}

/// A sender of a queue.
#[derive(Debug, Clone)]
pub(super) struct MessageSender {
    sender: mpsc::Sender<Box<QueuedMessage>>,
    budgets: QueueBudgets,
}

/// A sender that does not keep a queue open.
#[derive(Debug)]
pub(super) struct WeakMessageSender {
    sender: mpsc::WeakSender<Box<QueuedMessage>>,
    budgets: QueueBudgets,
}

/// The receiver of a queue.
#[derive(Debug)]
pub(super) struct MessageReceiver(mpsc::Receiver<Box<QueuedMessage>>);

/// The queue is full or closed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QueueFull;

/// Creates the queue of one request. `total` limits the bytes of all queues.
pub(super) fn message_queue(total: &ByteBudget) -> (MessageSender, MessageReceiver) {
    let (sender, receiver) = mpsc::channel(MAX_QUEUED_MESSAGES);
    let budgets = QueueBudgets { own: ByteBudget::new(MAX_QUEUED_BYTES), total: total.clone() };
    (MessageSender { sender, budgets }, MessageReceiver(receiver))
}

impl MessageSender {
    /// Adds a message, unless the queue is full.
    pub(super) fn try_send(&self, message: ServerMessage) -> Result<(), QueueFull> {
        let size = message.size();
        // A larger message fits into an empty queue.
        let own = self.budgets.own.reserve(size.min(MAX_QUEUED_BYTES)).ok_or(QueueFull)?;
        let total = self.budgets.total.reserve(size).ok_or(QueueFull)?;
        let queued = QueuedMessage { message, _own: own, _total: total };
        self.sender.try_send(queued.into()).map_err(|_| QueueFull)
    }

    pub(super) fn downgrade(&self) -> WeakMessageSender {
        WeakMessageSender { sender: self.sender.downgrade(), budgets: self.budgets.clone() }
    }
}

impl WeakMessageSender {
    pub(super) fn upgrade(&self) -> Option<MessageSender> {
        let sender = self.sender.upgrade()?;
        Some(MessageSender { sender, budgets: self.budgets.clone() })
    }

    pub(super) fn is_open(&self) -> bool {
        self.sender.strong_count() > 0
    }
}

impl MessageReceiver {
    /// Returns the next message; `None` after the last.
    pub(super) async fn recv(&mut self) -> Option<ServerMessage> {
        Some(self.0.recv().await?.message)
    }

    /// Returns the next message, without waiting.
    pub(super) fn try_recv(&mut self) -> Option<ServerMessage> {
        Some(self.0.try_recv().ok()?.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(bytes: usize) -> ServerMessage {
        let message = Some("x".repeat(bytes));
        ServerMessage::Progress(Progress { progress: 1.0, total: None, message })
    }

    #[test]
    fn limits_the_bytes_of_one_request() {
        let total = ByteBudget::new(MAX_TOTAL_BYTES);
        let (sender, mut receiver) = message_queue(&total);
        for _ in 0..3 {
            assert_eq!(sender.try_send(progress(MAX_QUEUED_BYTES / 4)), Ok(()));
        }
        assert_eq!(sender.try_send(progress(MAX_QUEUED_BYTES / 4)), Err(QueueFull));
        assert_eq!(sender.try_send(progress(1)), Ok(()));
        while receiver.try_recv().is_some() {}
        // One message always fits.
        assert_eq!(sender.try_send(progress(2 * MAX_QUEUED_BYTES)), Ok(()));
        assert_eq!(sender.try_send(progress(1)), Err(QueueFull));
        drop(receiver);
        assert_eq!(total.reserved(), 0);
    }

    #[test]
    fn limits_the_number_of_messages_and_the_bytes_of_all_requests() {
        let total = ByteBudget::new(MAX_TOTAL_BYTES);
        let mut queues = Vec::new();
        let fits = |queues: &mut Vec<_>| {
            let (sender, receiver) = message_queue(&total);
            let fits = sender.try_send(progress(MAX_QUEUED_BYTES - MESSAGE_BYTES)).is_ok();
            queues.push((sender, receiver));
            fits
        };
        for _ in 0..MAX_TOTAL_BYTES / MAX_QUEUED_BYTES {
            assert!(fits(&mut queues));
        }
        assert!(!fits(&mut queues));
        queues.remove(0);
        assert!(fits(&mut queues));
        queues.clear();
        let (sender, _receiver) = message_queue(&total);
        let sent = (0..300).filter(|_| sender.try_send(progress(1)).is_ok()).count();
        assert_eq!(sent, MAX_QUEUED_MESSAGES);
    }
}

//! Bounded event channels. A subscriber that is too slow gets the number of
//! missed events.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Maximum events that wait for a subscriber; older ones are dropped.
const EVENT_CAPACITY: usize = 1_024;

/// An event type with a variant for missed events.
pub trait LagEvent: Clone {
    /// This subscriber was too slow and missed so many events.
    fn missed(events: u64) -> Self;
}

/// Sends events to all subscribers.
#[derive(Debug, Clone)]
pub(crate) struct EventSender<E>(broadcast::Sender<E>);

/// Events since the moment of subscribing.
#[derive(Debug)]
pub struct Events<E>(broadcast::Receiver<E>);

impl<E: LagEvent> Default for EventSender<E> {
    fn default() -> Self {
        EventSender(broadcast::channel(EVENT_CAPACITY).0)
    }
}

impl<E: LagEvent> EventSender<E> {
    pub(crate) fn send(&self, event: E) {
        // An error means that there are no subscribers.
        let _ = self.0.send(event);
    }

    pub(crate) fn subscribe(&self) -> Events<E> {
        Events(self.0.subscribe())
    }
}

impl<E: LagEvent> Events<E> {
    /// Waits for the next event; `None` after the sender is gone.
    pub async fn next(&mut self) -> Option<E> {
        match self.0.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(missed)) => Some(E::missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq)]
    enum Event {
        Number(usize),
        Missed(u64),
    }

    impl LagEvent for Event {
        fn missed(events: u64) -> Self {
            Event::Missed(events)
        }
    }

    #[tokio::test]
    async fn a_slow_subscriber_gets_the_number_of_missed_events() {
        let events = EventSender::default();
        let mut received = events.subscribe();
        (0..EVENT_CAPACITY + 10).for_each(|number| events.send(Event::Number(number)));
        assert_eq!(received.next().await, Some(Event::Missed(10)));
        assert_eq!(received.next().await, Some(Event::Number(10)), "the first that was kept");
        drop(events);
        while received.next().await.is_some() {}
    }
}

//! Events for whoever wants to know of them: bounded, and who is too slow is
//! told how much was missed.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// How many events wait for a subscriber; of more it is only told how many.
const WAITING: usize = 1_024;

/// An event that can say that others were missed.
pub trait Missable: Clone {
    /// So many events came too fast for this subscriber.
    fn missed(events: u64) -> Self;
}

/// Tells everybody who subscribed.
#[derive(Debug, Clone)]
pub(crate) struct Announcer<E>(broadcast::Sender<E>);

/// Events from the moment of subscribing on.
#[derive(Debug)]
pub struct Events<E>(broadcast::Receiver<E>);

impl<E: Missable> Default for Announcer<E> {
    fn default() -> Self {
        Announcer(broadcast::channel(WAITING).0)
    }
}

impl<E: Missable> Announcer<E> {
    pub(crate) fn tell(&self, event: E) {
        // Nobody may have subscribed.
        let _ = self.0.send(event);
    }

    pub(crate) fn subscribe(&self) -> Events<E> {
        Events(self.0.subscribe())
    }
}

impl<E: Missable> Events<E> {
    /// The next one; none when there is nobody left to tell of anything.
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

    impl Missable for Event {
        fn missed(events: u64) -> Self {
            Event::Missed(events)
        }
    }

    #[tokio::test]
    async fn a_slow_subscriber_is_told_how_much_it_missed() {
        let announcer = Announcer::default();
        let mut events = announcer.subscribe();
        (0..WAITING + 10).for_each(|number| announcer.tell(Event::Number(number)));
        assert_eq!(events.next().await, Some(Event::Missed(10)));
        assert_eq!(events.next().await, Some(Event::Number(10)), "the first that was kept");
        drop(announcer);
        while events.next().await.is_some() {}
    }
}

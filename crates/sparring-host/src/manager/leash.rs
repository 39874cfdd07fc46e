//! Links that can be ended at once, by somebody who does not own them: no task
//! has to run for it, and no runtime.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sparring_peer::link::Recorder;
use sparring_peer::{Cause, Era, Incoming, Link, LinkKind, Outgoing, Stream};

/// All links of a manager. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Leashes(Arc<Mutex<All>>);

#[derive(Default)]
struct All {
    /// Set once there shall be none any more.
    cut: bool,
    held: Vec<Weak<Held>>,
}

/// A link on a leash.
pub(super) struct Leash {
    held: Arc<Held>,
    kind: LinkKind,
    transport: &'static str,
}

/// What owner and holder share.
struct Held(Mutex<Ends>);

struct Ends {
    /// None once it was cut.
    link: Option<Box<dyn Link>>,
    owner: Option<Waker>,
}

impl Leashes {
    /// Takes a link; if all were cut before, it ends at once.
    pub(super) fn hold(&self, link: Box<dyn Link>) -> Leash {
        let (kind, transport) = (link.kind(), link.transport());
        let held = Arc::new(Held(Mutex::new(Ends { link: Some(link), owner: None })));
        let cut = {
            let mut all = self.all();
            all.held.retain(|held| held.strong_count() > 0);
            all.held.push(Arc::downgrade(&held));
            all.cut
        };
        if cut {
            held.cut();
        }
        Leash { held, kind, transport }
    }

    /// Ends all links at once, and every later one. A child is killed with its
    /// group.
    pub(super) fn cut(&self) {
        let held = {
            let mut all = self.all();
            all.cut = true;
            std::mem::take(&mut all.held)
        };
        held.iter().filter_map(Weak::upgrade).for_each(|held| held.cut());
    }

    /// Whether all were ended.
    pub(super) fn are_cut(&self) -> bool {
        self.all().cut
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cut(&self) {
        let (link, owner) = {
            let mut ends = self.ends();
            (ends.link.take(), ends.owner.take())
        };
        drop(link);
        if let Some(owner) = owner {
            owner.wake();
        }
    }
}

impl Leash {
    fn on<T>(&self, otherwise: T, does: impl FnOnce(&mut dyn Link) -> T) -> T {
        match &mut self.held.ends().link {
            Some(link) => does(&mut **link),
            None => otherwise,
        }
    }
}

impl Link for Leash {
    fn kind(&self) -> LinkKind {
        self.kind
    }

    fn transport(&self) -> &'static str {
        self.transport
    }

    fn record_to(&mut self, recorder: Recorder) {
        self.on((), |link| link.record_to(recorder));
    }

    fn send(&mut self, outgoing: Outgoing) {
        self.on((), |link| link.send(outgoing));
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.on(Poll::Ready(()), |link| link.poll_flush(cx))
    }

    fn backlog(&self) -> usize {
        self.on(0, |link| link.backlog())
    }

    fn closing_time(&self) -> Duration {
        self.on(Duration::ZERO, |link| link.closing_time())
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        let mut ends = self.held.ends();
        let Some(link) = &mut ends.link else {
            let cause = Cause::Broken("it was ended at once, with all others".to_owned());
            return Poll::Ready(Incoming::Closed(cause));
        };
        let received = link.poll_receive(cx);
        if received.is_pending() {
            ends.owner = Some(cx.waker().clone());
        }
        received
    }

    fn state_of(&self, stream: &Stream) -> Option<String> {
        self.on(None, |link| link.state_of(stream))
    }

    fn is_held(&self) -> bool {
        self.on(false, |link| link.is_held())
    }

    fn known_era(&self) -> Option<Era> {
        self.on(None, |link| link.known_era())
    }

    fn learn_era(&mut self, era: Era) {
        self.on((), |link| link.learn_era(era));
    }
}

#[cfg(test)]
mod tests {
    use sparring_peer::{Client, memory};

    use super::*;

    #[tokio::test]
    async fn a_link_that_is_cut_ends_for_its_owner_and_for_the_other_side() {
        let leashes = Leashes::default();
        let (here, mut there) = memory(LinkKind::Shared);
        let client = Client::builder().start(leashes.hold(Box::new(here)));
        let call = client.call_tool("x", serde_json::json!({})).start();
        leashes.cut();
        let error = call.await.unwrap_err();
        assert!(error.to_string().contains("ended at once"), "{error}");
        while let Some(incoming) = there.try_receive() {
            if let Incoming::Closed(cause) = incoming {
                assert_eq!(cause, Cause::EndOfInput);
                return;
            }
        }
        panic!("the other side was not told");
    }

    #[test]
    fn what_is_taken_after_the_cut_ends_at_once() {
        let leashes = Leashes::default();
        leashes.cut();
        let (here, mut there) = memory(LinkKind::Shared);
        let _leash = leashes.hold(Box::new(here));
        assert_eq!(there.try_receive(), Some(Incoming::Closed(Cause::EndOfInput)));
    }
}

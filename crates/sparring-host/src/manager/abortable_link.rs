//! Links that any holder of the set can abort at once, without a task or a
//! runtime.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sparring_peer::link::Recorder;
use sparring_peer::{Cause, Incoming, Link, LinkInfo, Outgoing, Stream};

/// All links of a manager. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct AbortableLinks(Arc<Mutex<LinkSet>>);

#[derive(Default)]
struct LinkSet {
    /// Set by the first abort; later links are aborted at once.
    aborted: bool,
    links: Vec<Weak<SharedLink>>,
}

/// A link that its [`AbortableLinks`] can abort.
pub(super) struct AbortableLink {
    shared: Arc<SharedLink>,
    /// The properties of the link when it was wrapped.
    info: LinkInfo,
}

/// The link, shared by its owner and the set.
struct SharedLink(Mutex<LinkState>);

struct LinkState {
    /// None after an abort.
    link: Option<Box<dyn Link>>,
    waker: Option<Waker>,
}

impl AbortableLinks {
    /// Wraps a link. If the set was aborted before, the link ends at once.
    pub(super) fn wrap(&self, link: Box<dyn Link>) -> AbortableLink {
        let info = link.info();
        let shared = Arc::new(SharedLink(Mutex::new(LinkState { link: Some(link), waker: None })));
        let aborted = {
            let mut all = self.lock();
            all.links.retain(|shared| shared.strong_count() > 0);
            all.links.push(Arc::downgrade(&shared));
            all.aborted
        };
        if aborted {
            shared.abort();
        }
        AbortableLink { shared, info }
    }

    /// Aborts all links and every later one. A child process is killed with its
    /// process group.
    pub(super) fn abort(&self) {
        let shared = {
            let mut all = self.lock();
            all.aborted = true;
            std::mem::take(&mut all.links)
        };
        shared.iter().filter_map(Weak::upgrade).for_each(|shared| shared.abort());
    }

    /// Returns true if the set was aborted.
    pub(super) fn are_aborted(&self) -> bool {
        self.lock().aborted
    }

    fn lock(&self) -> MutexGuard<'_, LinkSet> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedLink {
    fn lock(&self) -> MutexGuard<'_, LinkState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn abort(&self) {
        let (link, waker) = {
            let mut state = self.lock();
            (state.link.take(), state.waker.take())
        };
        drop(link);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl AbortableLink {
    fn with_link<T>(&self, if_aborted: T, action: impl FnOnce(&mut dyn Link) -> T) -> T {
        match &mut self.shared.lock().link {
            Some(link) => action(&mut **link),
            None => if_aborted,
        }
    }
}

impl Link for AbortableLink {
    fn info(&self) -> LinkInfo {
        let aborted = LinkInfo { close_timeout: Duration::ZERO, ..self.info };
        self.with_link(aborted, |link| link.info())
    }

    fn set_recorder(&mut self, recorder: Recorder) {
        self.with_link((), |link| link.set_recorder(recorder));
    }

    fn send(&mut self, outgoing: Outgoing) {
        self.with_link((), |link| link.send(outgoing));
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.with_link(Poll::Ready(()), |link| link.poll_flush(cx))
    }

    fn backlog(&self) -> usize {
        self.with_link(0, |link| link.backlog())
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        let mut state = self.shared.lock();
        let Some(link) = &mut state.link else {
            let cause = Cause::Broken("the manager aborted all connections".to_owned());
            return Poll::Ready(Incoming::Closed(cause));
        };
        let received = link.poll_receive(cx);
        if received.is_pending() {
            state.waker = Some(cx.waker().clone());
        }
        received
    }

    fn describe_progress(&self, stream: &Stream) -> Option<String> {
        self.with_link(None, |link| link.describe_progress(stream))
    }

    fn pauses_timeouts(&self) -> bool {
        self.with_link(false, |link| link.pauses_timeouts())
    }
}

#[cfg(test)]
mod tests {
    use sparring_peer::{Client, LinkKind, memory};

    use super::*;

    #[tokio::test]
    async fn an_aborted_link_ends_for_its_owner_and_for_the_other_side() {
        let links = AbortableLinks::default();
        let (here, mut there) = memory(LinkKind::Shared);
        let client = Client::builder().start(links.wrap(Box::new(here)));
        let call = client.call_tool("x", serde_json::json!({})).start();
        links.abort();
        let error = call.await.unwrap_err();
        assert!(error.to_string().contains("aborted all connections"), "{error}");
        while let Some(incoming) = there.try_receive() {
            if let Incoming::Closed(cause) = incoming {
                assert_eq!(cause, Cause::EndOfInput);
                return;
            }
        }
        panic!("the other side did not see the end");
    }

    #[test]
    fn a_link_that_is_added_after_the_abort_ends_at_once() {
        let links = AbortableLinks::default();
        links.abort();
        let (here, mut there) = memory(LinkKind::Shared);
        let _aborted = links.wrap(Box::new(here));
        assert_eq!(there.try_receive(), Some(Incoming::Closed(Cause::EndOfInput)));
    }
}

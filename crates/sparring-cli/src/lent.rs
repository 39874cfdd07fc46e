//! A link that is lent to a client and comes back instead of being closed, so
//! that an error is told before the target is shut down, and Ctrl+C can cut the
//! shutdown short.

use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use sparring_peer::link::Recorder;
use sparring_peer::{Cause, Incoming, Link, LinkKind, Outgoing};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long a client may take to give its link back.
const GIVING_BACK: Duration = Duration::from_secs(1);

/// What the client holds: the link, until the client closes it or is gone.
pub(crate) struct Lent {
    link: Option<Box<dyn Link>>,
    back: Option<oneshot::Sender<Box<dyn Link>>>,
    kind: LinkKind,
}

/// Where the link comes back.
pub(crate) struct Return(oneshot::Receiver<Box<dyn Link>>);

/// Lends a link.
pub(crate) fn lend(link: Box<dyn Link>) -> (Lent, Return) {
    let (back, returned) = oneshot::channel();
    (Lent { kind: link.kind(), link: Some(link), back: Some(back) }, Return(returned))
}

impl Return {
    /// Closes the link in good order, in bounded time. Dropped before that, it
    /// takes the link along, and with it what it leads to.
    pub(crate) async fn close(self) {
        let Ok(Ok(mut link)) = timeout(GIVING_BACK, self.0).await else { return };
        let within = link.closing_time();
        link.send(Outgoing::Close);
        let end = poll_fn(|cx| {
            let _ = link.poll_flush(cx);
            while !matches!(ready!(link.poll_receive(cx)), Incoming::Closed(_)) {}
            Poll::Ready(())
        });
        let _ = timeout(within, end).await;
    }
}

impl Lent {
    fn give_back(&mut self) {
        if let (Some(link), Some(back)) = (self.link.take(), self.back.take()) {
            // With nobody to take it, the link ends here.
            let _ = back.send(link);
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl Link for Lent {
    fn kind(&self) -> LinkKind {
        self.kind
    }

    fn record_to(&mut self, recorder: Recorder) {
        if let Some(link) = &mut self.link {
            link.record_to(recorder);
        }
    }

    fn send(&mut self, outgoing: Outgoing) {
        match (&mut self.link, outgoing) {
            (_, Outgoing::Close) => self.give_back(),
            (Some(link), outgoing) => link.send(outgoing),
            (None, _) => {}
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.link.as_mut().map_or(Poll::Ready(()), |link| link.poll_flush(cx))
    }

    fn backlog(&self) -> usize {
        self.link.as_ref().map_or(0, |link| link.backlog())
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        match &mut self.link {
            Some(link) => link.poll_receive(cx),
            None => Poll::Ready(Incoming::Closed(Cause::ByUs)),
        }
    }
}

//! A server's end of one connection: pumps the core, runs the handler, and can
//! do so message by message.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::{FuturesUnordered, Stream as _};
use sparring_wire::{ErrorObject, Frame, Id, RawJson};
use tokio::sync::{mpsc, oneshot};

use super::context::{Context, Said};
use super::core::{Call, Core, Event};
use super::dispatch::dispatch;
use super::handler::Handler;
use super::{NoLink, Shared};
use crate::link::{Cause, Incoming, Link, LinkKind, Outgoing};
use crate::timer::Timer;

/// How many rounds one poll makes before others get their turn.
const ROUNDS: usize = 64;

/// How long requests in flight may still take after the end of input.
const DRAIN: Duration = Duration::from_secs(5);

type Outcome = Result<RawJson, ErrorObject>;
type Serving = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A server's end of one connection.
pub struct Session<H> {
    shared: Arc<Shared<H>>,
    core: Core<oneshot::Sender<Outcome>>,
    link: Option<Box<dyn Link>>,
    /// Requests whose handler did not answer at once.
    serving: FuturesUnordered<Job>,
    abort: HashMap<Id, AbortHandle>,
    outbox: mpsc::UnboundedSender<Said>,
    said: mpsc::UnboundedReceiver<Said>,
    changes: mpsc::UnboundedReceiver<Change>,
    timer: Timer,
    ended: Option<Cause>,
    /// When to stop waiting for what is in flight after the end of input.
    drained_by: Option<Duration>,
}

/// Something that all sessions of a server may tell their clients.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) method: String,
    pub(super) params: Option<RawJson>,
}

impl<H: Handler> Session<H> {
    pub(super) fn new(shared: Arc<Shared<H>>, link: Option<Box<dyn Link>>) -> Self {
        let kind = link.as_ref().map_or(LinkKind::Shared, |link| link.kind());
        let core = Core::new(Arc::clone(&shared.profile), Arc::clone(&shared.counters), kind);
        let (outbox, said) = mpsc::unbounded_channel();
        let changes = shared.sessions.join();
        Session {
            shared,
            core,
            link,
            serving: FuturesUnordered::new(),
            abort: HashMap::new(),
            outbox,
            said,
            changes,
            timer: Timer::start(),
            ended: None,
            drained_by: None,
        }
    }

    /// Gives the session a link, in place of one it may have.
    pub fn set_link(&mut self, link: impl Link) {
        self.link = Some(Box::new(link));
        self.ended = None;
    }

    /// One request in, one response out, without any link; a notification has
    /// no response. What the handler says meanwhile goes to the link, if there
    /// is one.
    pub async fn process_request(&mut self, frame: Frame) -> Option<Frame> {
        self.timer.renew();
        let now = self.timer.now();
        self.core.receive(now, Incoming::on_shared_channel(frame));
        poll_fn(|cx| {
            loop {
                let busy = self.work(cx);
                while let Some(action) = self.core.poll_action() {
                    match action {
                        Outgoing::Send { frame, .. } if is_response(&frame) => {
                            return Poll::Ready(Some(frame));
                        }
                        other => self.forward(other),
                    }
                }
                if self.core.serving() == 0 {
                    return Poll::Ready(None);
                }
                if !busy {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// Receives, handles and answers exactly one message, and says whether
    /// there was one within that time.
    ///
    /// # Errors
    /// When the session has no link.
    pub async fn process_one_message(&mut self, within: Duration) -> Result<bool, NoLink> {
        let link = self.link.as_mut().ok_or(NoLink)?;
        let message = poll_fn(|cx| link.poll_receive(cx));
        let Ok(incoming) = tokio::time::timeout(within, message).await else { return Ok(false) };
        if let Incoming::Closed(cause) = &incoming {
            self.ended = Some(cause.clone());
            return Ok(false);
        }
        self.timer.renew();
        let now = self.timer.now();
        self.core.receive(now, incoming);
        poll_fn(|cx| {
            while self.work(cx) {}
            self.give_out();
            match self.core.serving() {
                0 => self.poll_flush(cx),
                _ => Poll::Pending,
            }
        })
        .await;
        Ok(true)
    }

    /// Serves until the end of input, and says why it ended. What is in flight
    /// then is still answered.
    ///
    /// # Errors
    /// When the session has no link.
    pub async fn serve(mut self) -> Result<Cause, NoLink> {
        if self.link.is_none() {
            return Err(NoLink);
        }
        Ok(poll_fn(|cx| self.poll_serve(cx, None)).await)
    }

    /// Serves until so many requests have been answered, or the end of input.
    ///
    /// # Errors
    /// When the session has no link.
    pub async fn serve_requests(&mut self, count: u64) -> Result<(), NoLink> {
        if self.link.is_none() {
            return Err(NoLink);
        }
        let until = self.core.received() + count;
        poll_fn(|cx| self.poll_serve(cx, Some(until))).await;
        Ok(())
    }

    /// Ends in good order: subscriptions are told, then the link is closed.
    pub(super) async fn shut_down(&mut self) {
        self.core.end_subscriptions();
        self.give_out();
        if let Some(link) = &mut self.link {
            link.send(Outgoing::Close);
        }
        poll_fn(|cx| self.poll_flush(cx)).await;
    }

    pub(super) fn poll_serve(
        &mut self,
        cx: &mut TaskContext<'_>,
        until: Option<u64>,
    ) -> Poll<Cause> {
        for _ in 0..ROUNDS {
            self.timer.renew();
            let read = self.read(cx, until);
            let worked = self.work(cx);
            self.give_out();
            let flushed = self.poll_flush(cx).is_ready();
            if flushed && self.is_enough(until) && self.core.serving() == 0 {
                return Poll::Ready(Cause::ByUs);
            }
            if flushed && let Some(cause) = self.ended.clone().filter(|_| self.is_drained(cx)) {
                return Poll::Ready(cause);
            }
            if !read && !worked {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn is_enough(&self, until: Option<u64>) -> bool {
        until.is_some_and(|until| self.core.received() >= until)
    }

    /// Takes in what the link has; says whether it had anything.
    fn read(&mut self, cx: &mut TaskContext<'_>, until: Option<u64>) -> bool {
        let mut busy = false;
        while self.ended.is_none() && !self.is_enough(until) {
            let Some(link) = &mut self.link else { break };
            let Poll::Ready(incoming) = link.poll_receive(cx) else { break };
            if let Incoming::Closed(cause) = &incoming {
                self.ended = Some(cause.clone());
                self.drained_by = Some(self.timer.now() + DRAIN);
            }
            let now = self.timer.now();
            self.core.receive(now, incoming);
            busy = true;
        }
        busy
    }

    fn is_drained(&mut self, cx: &mut TaskContext<'_>) -> bool {
        self.core.serving() == 0 || self.timer.poll(self.drained_by, cx).is_ready()
    }

    /// Lets handlers go on, and passes on what they say; says whether anything
    /// happened.
    fn work(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let mut busy = false;
        while let Some(event) = self.core.poll_event() {
            self.event(event, cx);
            busy = true;
        }
        while let Poll::Ready(Some((id, outcome))) = Pin::new(&mut self.serving).poll_next(cx) {
            self.hear(cx);
            self.abort.remove(&id);
            if let Some(outcome) = outcome {
                self.core.finish(&id, outcome);
            }
            busy = true;
        }
        busy |= self.hear(cx);
        while let Poll::Ready(Some(change)) = self.changes.poll_recv(cx) {
            self.core.broadcast(&change.method, change.params.as_ref());
            busy = true;
        }
        if self.timer.poll(self.core.wake_at(), cx).is_ready() {
            let now = self.timer.now();
            self.core.tick(now);
            busy = true;
        }
        busy
    }

    fn event(&mut self, event: Event<oneshot::Sender<Outcome>>, cx: &mut TaskContext<'_>) {
        match event {
            Event::Call(call) => self.call(call, cx),
            Event::Cancelled(id) => {
                if let Some(abort) = self.abort.remove(&id) {
                    abort.abort();
                }
            }
            Event::Notification(frame) => {
                let handler = &self.shared.handler;
                handler.notified(frame.method().unwrap_or_default(), frame.params());
            }
            Event::Answered { waiter, outcome } => {
                // A handler that was cancelled does not wait any more.
                let _ = waiter.send(outcome);
            }
            Event::Closed(_) => {}
        }
    }

    /// Runs the handler. Most answer at once, and then need no place in the
    /// set of those being served.
    fn call(&mut self, call: Call, cx: &mut TaskContext<'_>) {
        let id = call.id.clone();
        let context = Context::new(call, self.outbox.clone());
        let shared = Arc::clone(&self.shared);
        let serve = async move {
            let serving = AssertUnwindSafe(dispatch(&shared.handler, &context)).catch_unwind();
            serving.await.unwrap_or_else(|panic| Err(panicked(&*panic)))
        };
        let mut serving: Serving = Box::pin(serve);
        match serving.as_mut().poll(cx) {
            Poll::Ready(outcome) => {
                self.hear(cx);
                self.core.finish(&id, outcome);
            }
            Poll::Pending => {
                let (handle, registration) = AbortHandle::new_pair();
                self.abort.insert(id.clone(), handle);
                self.serving.push(Job { id, serving: Abortable::new(serving, registration) });
            }
        }
    }

    /// Passes on what handlers have said up to now, before their answers.
    fn hear(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let mut busy = false;
        while let Poll::Ready(Some(said)) = self.said.poll_recv(cx) {
            busy = true;
            match said {
                Said::Progress(id, params) => {
                    self.core.notify_with(&id, "notifications/progress", Some(&params));
                }
                Said::Log(id, level, params) => self.core.log_with(&id, level, &params),
                Said::Notify(id, method, params) => {
                    self.core.notify_with(&id, &method, params.as_ref())
                }
                Said::Ask(id, method, params, waiter) if self.link.is_some() => {
                    let deadline = self.timer.now() + self.shared.ask_timeout;
                    self.core.ask(deadline, &id, method, &params, waiter);
                }
                Said::Ask(_, method, _, waiter) => {
                    let error =
                        ErrorObject::internal(format!("{method} needs a link to the client"));
                    let _ = waiter.send(Err(error));
                }
            }
        }
        busy
    }

    fn give_out(&mut self) {
        while let Some(action) = self.core.poll_action() {
            self.forward(action);
        }
    }

    fn forward(&mut self, action: Outgoing) {
        if let Some(link) = &mut self.link {
            link.send(action);
        }
    }

    fn poll_flush(&mut self, cx: &mut TaskContext<'_>) -> Poll<()> {
        self.link.as_mut().map_or(Poll::Ready(()), |link| link.poll_flush(cx))
    }
}

fn is_response(frame: &Frame) -> bool {
    frame.method().is_none()
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> ErrorObject {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    ErrorObject::internal(format!("the handler panicked: {text}"))
}

impl<H> std::fmt::Debug for Session<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("core", &self.core).finish_non_exhaustive()
    }
}

/// One request being served; gives no outcome when it was cancelled.
struct Job {
    id: Id,
    serving: Abortable<Serving>,
}

impl Future for Job {
    type Output = (Id, Option<Outcome>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let outcome = std::task::ready!(Pin::new(&mut self.serving).poll(cx));
        Poll::Ready((self.id.clone(), outcome.ok()))
    }
}

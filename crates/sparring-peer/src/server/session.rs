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
use sparring_wire::{ErrorObject, Frame, FrameKind, Id, RawJson, Side, Transcript};
use tokio::sync::{mpsc, oneshot};

use super::context::{Context, Said};
use super::core::{Call, Core, Event};
use super::dispatch::dispatch;
use super::handler::Handler;
use super::intake::{Intake, Wanted};
use super::{NoLink, Shared};
use crate::link::{AT_ONCE, Cause, FULL, Incoming, Link, LinkKind, Outgoing, Recorder};
use crate::panics;
use crate::timer::Timer;

/// How many rounds one poll makes before others get their turn.
const ROUNDS: usize = 16;

/// How long what is in flight may still take after the end of input.
const DRAIN: Duration = Duration::from_secs(5);

/// How long a client may take to answer a question.
const ASK: Duration = Duration::from_secs(60);

type Outcome = Result<RawJson, ErrorObject>;
type Serving = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// A server's end of one connection.
pub struct Session<H> {
    shared: Arc<Shared<H>>,
    core: Core<oneshot::Sender<Outcome>>,
    link: Option<Box<dyn Link>>,
    intake: Intake,
    /// Requests whose handler did not answer at once.
    serving: FuturesUnordered<Job>,
    abort: HashMap<u64, AbortHandle>,
    outbox: mpsc::UnboundedSender<Said>,
    said: mpsc::UnboundedReceiver<Said>,
    /// What all sessions are told, once this one's client may want to know.
    changes: Option<mpsc::Receiver<Change>>,
    timer: Timer,
    ended: Option<Cause>,
    /// Since the link is full: until when it may be, and how full it is.
    full: Option<(Duration, usize)>,
    /// When to stop waiting for what is in flight after the end of input.
    drained_by: Option<Duration>,
    ask_timeout: Duration,
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
        Session { link, ..Session::without_link(shared, kind) }
    }

    pub(super) fn without_link(shared: Arc<Shared<H>>, kind: LinkKind) -> Self {
        let core = Core::counting(
            Arc::clone(&shared.profile),
            Arc::clone(&shared.added),
            Arc::clone(&shared.counters),
            kind,
        );
        let (outbox, said) = mpsc::unbounded_channel();
        Session {
            shared,
            core,
            link: None,
            intake: Intake::default(),
            serving: FuturesUnordered::new(),
            abort: HashMap::new(),
            outbox,
            said,
            changes: None,
            timer: Timer::start(),
            ended: None,
            full: None,
            drained_by: None,
            ask_timeout: ASK,
        }
    }

    /// Gives the session a link. It is a fresh connection: what was agreed on
    /// or in flight before is forgotten.
    pub fn set_link(&mut self, link: impl Link) {
        let ask_timeout = self.ask_timeout;
        *self = Session::new(Arc::clone(&self.shared), Some(Box::new(link)));
        self.ask_timeout = ask_timeout;
    }

    /// Waits this long for a client to answer a question, instead of a minute.
    #[must_use]
    pub fn ask_timeout(mut self, timeout: Duration) -> Self {
        self.ask_timeout = timeout;
        self
    }

    /// Records what passes the link into a transcript, from now on.
    #[must_use]
    pub fn recorded_in(mut self, transcript: &Transcript) -> Self {
        if let Some(link) = &mut self.link {
            link.record_to(Recorder::new(transcript.clone(), Side::Server));
        }
        self
    }

    /// One request in, one response out, without any link; a notification has
    /// no response. What the handler says and asks meanwhile goes to the link,
    /// if there is one.
    pub async fn process_request(&mut self, frame: Frame) -> Option<Frame> {
        let asked = (frame.id().cloned(), frame.kind());
        let unanswered = frame.method().is_some() && frame.kind() == FrameKind::Notification
            || frame.result().is_some()
            || frame.error().is_some();
        self.core.receive(Incoming::on_shared_channel(frame));
        poll_fn(|cx| {
            for _ in 0..ROUNDS {
                self.timer.renew();
                let worked = self.work(cx);
                while let Some(action) = self.core.poll_action() {
                    match action {
                        Outgoing::Send { frame, .. } if answers(&frame, &asked) => {
                            return Poll::Ready(Some(frame));
                        }
                        other => self.forward(other),
                    }
                }
                let _ = self.poll_flush(cx);
                let read = self.read(cx, Wanted::NoRequests);
                if (self.core.is_idle() || unanswered) && !worked && !read {
                    return Poll::Ready(None);
                }
                if !worked && !read {
                    return Poll::Pending;
                }
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await
    }

    /// Receives, handles and answers exactly one message, and says whether
    /// there was one within that time.
    ///
    /// # Errors
    /// When the session has no link.
    pub async fn process_one_message(&mut self, within: Duration) -> Result<bool, NoLink> {
        let (link, intake) = (self.link.as_mut().ok_or(NoLink)?, &mut self.intake);
        let message = poll_fn(|cx| intake.poll(&mut **link, Wanted::All, cx));
        let Ok(incoming) = tokio::time::timeout(within, message).await else { return Ok(false) };
        if let Incoming::Closed(cause) = &incoming {
            self.ended = Some(cause.clone());
            return Ok(false);
        }
        self.core.receive(incoming);
        poll_fn(|cx| {
            for _ in 0..ROUNDS {
                self.timer.renew();
                let worked = self.work(cx);
                self.give_out();
                let flushed = self.poll_flush(cx).is_ready();
                if self.core.is_idle() && flushed {
                    return Poll::Ready(());
                }
                if !self.read(cx, Wanted::NoRequests) && !worked {
                    return Poll::Pending;
                }
            }
            cx.waker().wake_by_ref();
            Poll::Pending
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
        self.begin();
        Ok(poll_fn(|cx| self.poll_serve(cx, None)).await)
    }

    /// Serves until so many requests, the handshake's included, have been
    /// answered, or until the end of input, and says which it was.
    ///
    /// # Errors
    /// When the session has no link.
    pub async fn serve_requests(&mut self, count: u64) -> Result<Cause, NoLink> {
        if self.link.is_none() {
            return Err(NoLink);
        }
        self.begin();
        let until = self.core.received() + count;
        Ok(poll_fn(|cx| self.poll_serve(cx, Some(until))).await)
    }

    /// Serving begins anew: what the end of input left, gets its time.
    fn begin(&mut self) {
        self.timer.renew();
        if self.ended.is_some() {
            self.drained_by = Some(self.timer.now() + DRAIN);
        }
    }

    /// Ends in good order: subscriptions are told, then the link is closed.
    pub(super) async fn shut_down(&mut self) {
        self.core.end_subscriptions();
        self.give_out();
        let Some(link) = &mut self.link else { return };
        link.send(Outgoing::Close);
        // A client that does not read is not waited for.
        let within = link.closing_time();
        let _ = tokio::time::timeout(within, poll_fn(|cx| self.poll_flush(cx))).await;
    }

    pub(super) fn poll_serve(
        &mut self,
        cx: &mut TaskContext<'_>,
        until: Option<u64>,
    ) -> Poll<Cause> {
        for _ in 0..ROUNDS {
            self.timer.renew();
            let enough = until.is_some_and(|until| self.core.received() >= until);
            let wanted = if enough { Wanted::NoRequests } else { Wanted::All };
            let read = self.read_until(cx, wanted, until);
            self.take_events(cx);
            let worked = self.carry_on(cx) || self.core.has_events();
            self.give_out();
            let flushed = self.poll_flush(cx).is_ready();
            let done = flushed && self.core.is_idle();
            if enough && done {
                return Poll::Ready(Cause::ByUs);
            }
            if let Some(cause) = self.ended.clone()
                && (enough || !self.intake.holds())
                && (done || self.timer.poll(self.drained_by, cx).is_ready())
            {
                return Poll::Ready(cause);
            }
            if self.is_stuck(cx) {
                return Poll::Ready(Cause::Broken("the client does not read".to_owned()));
            }
            // Once more, since a link that was written to may have room again, or
            // say that it broke. All else that has nothing new by now has been
            // asked, and wakes this task when it has.
            let counted = read && until.is_some();
            if !self.read_until(cx, wanted, until) && !worked && !counted {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Whether the link has been full for long, and nothing of it was read.
    fn is_stuck(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let backlog = self.link.as_ref().map_or(0, |link| link.backlog());
        if backlog < FULL {
            self.full = None;
            return false;
        }
        let now = self.timer.now();
        let until = match self.full {
            Some((until, same)) if same == backlog => until,
            _ => now + DRAIN,
        };
        self.full = Some((until, backlog));
        self.timer.poll(Some(until), cx).is_ready()
    }

    /// Takes in what the link has, as long as its answers are read as well;
    /// says whether it had anything.
    fn read(&mut self, cx: &mut TaskContext<'_>, wanted: Wanted) -> bool {
        self.read_until(cx, wanted, None)
    }

    fn read_until(&mut self, cx: &mut TaskContext<'_>, wanted: Wanted, until: Option<u64>) -> bool {
        let mut busy = false;
        for _ in 0..AT_ONCE {
            let Some(link) = &mut self.link else { break };
            let over = self.ended.is_some() && !(wanted == Wanted::All && self.intake.holds());
            let enough =
                wanted == Wanted::All && until.is_some_and(|until| self.core.received() >= until);
            if over || enough || link.backlog() >= FULL {
                break;
            }
            if wanted == Wanted::NoRequests && self.intake.is_full() {
                self.core.fail_asks("too much came before the answer");
                break;
            }
            let Poll::Ready(incoming) = self.intake.poll(&mut **link, wanted, cx) else { break };
            if let Incoming::Closed(cause) = &incoming {
                self.ended = Some(cause.clone());
                self.drained_by = Some(self.timer.now() + DRAIN);
            }
            self.core.receive(incoming);
            busy = true;
        }
        busy
    }

    /// Starts handlers and lets them go on, and passes on what they say; says
    /// whether anything happened.
    fn work(&mut self, cx: &mut TaskContext<'_>) -> bool {
        self.take_events(cx) | self.carry_on(cx)
    }

    /// Starts handlers for what has come in; says whether anything has.
    fn take_events(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let mut busy = false;
        while let Some(event) = self.core.poll_event() {
            self.event(event, cx);
            busy = true;
        }
        busy
    }

    /// Lets what runs go on until it waits; says whether anything happened.
    fn carry_on(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let mut busy = false;
        while let Poll::Ready(Some(done)) = Pin::new(&mut self.serving).poll_next(cx) {
            self.hear_said();
            self.abort.remove(&done.key);
            if let Some(outcome) = done.outcome {
                self.core.finish(&done.id, done.key, outcome);
            }
            busy = true;
        }
        busy |= self.hear(cx);
        let is_full = self.link.as_ref().is_some_and(|link| link.backlog() >= FULL);
        if self.changes.is_none() && self.core.heeds_changes() {
            self.changes = Some(self.shared.sessions.join());
        }
        while !is_full
            && let Some(changes) = &mut self.changes
            && let Poll::Ready(Some(change)) = changes.poll_recv(cx)
        {
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

    /// Takes one thing in, as if it had come off a link.
    pub(super) fn take_in(&mut self, incoming: Incoming) {
        self.core.receive(incoming);
    }

    /// Lets handlers go on; says whether anything happened.
    pub(super) fn go_on(&mut self, cx: &mut TaskContext<'_>) -> bool {
        self.timer.renew();
        self.work(cx)
    }

    pub(super) fn poll_action(&mut self) -> Option<Outgoing> {
        self.core.poll_action()
    }

    pub(super) fn is_over(&self) -> bool {
        self.core.is_over()
    }

    pub(super) fn has_admitted(&self) -> bool {
        self.core.admitted() > 0
    }

    pub(super) fn end_subscriptions(&mut self) {
        self.core.end_subscriptions();
    }

    fn event(&mut self, event: Event<oneshot::Sender<Outcome>>, cx: &mut TaskContext<'_>) {
        match event {
            Event::Call(call) => self.call(call, cx),
            Event::Cancelled(key) => {
                if let Some(abort) = self.abort.remove(&key) {
                    abort.abort();
                }
            }
            Event::Notification(frame) => {
                let handler = &self.shared.handler;
                let (method, params) = (frame.method().unwrap_or_default(), frame.params());
                // There is no answer that could say so; the panic's own words did.
                let notify = AssertUnwindSafe(|| handler.notified(method, params));
                let _ = std::panic::catch_unwind(notify);
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
        let (id, key) = (call.id.clone(), call.key);
        let context = Context::new(call, self.outbox.clone());
        let shared = Arc::clone(&self.shared);
        let serve = async move {
            let serving = AssertUnwindSafe(dispatch(&shared.handler, &context)).catch_unwind();
            serving.await.unwrap_or_else(|panic| {
                let said = panics::said(&*panic);
                Err(ErrorObject::internal(format!("the handler panicked: {said}")))
            })
        };
        let mut serving: Serving = Box::pin(serve);
        match serving.as_mut().poll(cx) {
            Poll::Ready(outcome) => {
                self.hear_said();
                self.core.finish(&id, key, outcome);
            }
            Poll::Pending => {
                let (handle, registration) = AbortHandle::new_pair();
                self.abort.insert(key, handle);
                self.serving.push(Job { id, key, serving: Abortable::new(serving, registration) });
            }
        }
    }

    /// Passes on what handlers have said up to now, before their answers.
    fn hear_said(&mut self) -> bool {
        let mut busy = false;
        // Taken without tokio's budget, which may be used up: what was said
        // before an answer must go out before it.
        for _ in 0..self.said.len() {
            let Ok(said) = self.said.try_recv() else { break };
            self.pass_on(said);
            busy = true;
        }
        busy
    }

    /// Passes on what they say, and wakes this task when they say more.
    fn hear(&mut self, cx: &mut TaskContext<'_>) -> bool {
        let mut busy = self.hear_said();
        if let Poll::Ready(Some(said)) = self.said.poll_recv(cx) {
            self.pass_on(said);
            busy = true;
        }
        busy
    }

    fn pass_on(&mut self, said: Said) {
        match said {
            Said::Progress(id, params) => {
                self.core.notify_with(&id, "notifications/progress", Some(&params));
            }
            Said::Log(id, level, params) => self.core.log_with(&id, level, &params),
            Said::Notify(id, method, params) => {
                self.core.notify_with(&id, &method, params.as_ref());
            }
            Said::BreakOff(id) => self.core.break_off(&id),
            Said::Ask(id, method, params, waiter) if self.link.is_some() => {
                let deadline = self.timer.now() + self.ask_timeout;
                self.core.ask(deadline, &id, method, &params, waiter);
            }
            Said::Ask(_, method, _, waiter) => {
                let error = format!("{method} needs a link to the client");
                let _ = waiter.send(Err(ErrorObject::internal(error)));
            }
        }
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

/// Whether a frame is the response to what was asked: by its id, or where that
/// could not be read, by having none.
fn answers(frame: &Frame, asked: &(Option<Id>, FrameKind)) -> bool {
    let (id, kind) = asked;
    match kind {
        FrameKind::Batch => frame.kind() == FrameKind::Batch || frame.id().is_none(),
        FrameKind::Notification | FrameKind::Result | FrameKind::Error => false,
        _ => frame.method().is_none() && (frame.id() == id.as_ref() || frame.id().is_none()),
    }
}

impl<H> std::fmt::Debug for Session<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("core", &self.core).finish_non_exhaustive()
    }
}

/// One request being served.
struct Job {
    id: Id,
    key: u64,
    serving: Abortable<Serving>,
}

/// A request that was served; without an outcome, it was cancelled.
struct Done {
    id: Id,
    key: u64,
    outcome: Option<Outcome>,
}

impl Future for Job {
    type Output = Done;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Done> {
        let outcome = std::task::ready!(Pin::new(&mut self.serving).poll(cx)).ok();
        Poll::Ready(Done { id: self.id.clone(), key: self.key, outcome })
    }
}

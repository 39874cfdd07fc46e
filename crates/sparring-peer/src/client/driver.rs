//! Pumps a client's core: the one task that owns the core and the link.

use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Abortable, Aborted};
use futures_util::stream::{FuturesUnordered, Stream as _};
use sparring_wire::types::LogLevel;
use sparring_wire::{ErrorObject, Frame, Id, RawJson};
use tokio::sync::{mpsc, oneshot, watch};

use super::answers::{Answer, Answerer, Answers};
use super::core::{Ask, Core, Event, Request};
use super::request::Progress;
use super::{Error, Protocol, Response, Shared};
use crate::link::{AT_ONCE, Cause, Era, FULL, Incoming, Link, Stream};
use crate::panics;
use crate::timer::Timer;

/// How many rounds one poll makes before others get their turn.
const ROUNDS: usize = 16;

/// What a handle wants of the driver.
pub(super) enum Command {
    Request(Request, Waiter),
    RequestFrame(Frame, Option<Duration>, Waiter),
    Send(Frame),
    Cancel(u64, Option<String>),
    LogLevel(LogLevel),
    Close,
}

/// Who waits for a request.
pub(super) struct Waiter {
    pub(super) key: u64,
    pub(super) reply: oneshot::Sender<Result<Response, Error>>,
    /// What else the caller wants to hear of; rare.
    pub(super) listener: Option<Box<Listener>>,
    /// Who answers what the server asks for it.
    pub(super) answerer: Option<Answerer>,
}

/// Gets what comes before the answer.
pub(super) enum Listener {
    Progress(Box<dyn FnMut(Progress) + Send>),
    Subscription(mpsc::Sender<Frame>),
}

/// The task of one client.
pub(super) struct Driver<L> {
    core: Core<Waiter>,
    link: L,
    commands: mpsc::UnboundedReceiver<Command>,
    shared: Arc<Shared>,
    answers: Answers,
    answering: FuturesUnordered<Answering>,
    abort: HashMap<Ask, AbortHandle>,
    /// Whether an event has given something new to the link or to those who
    /// answer, so that they have to be asked again.
    stirred: bool,
    connected: watch::Sender<Option<Result<(), Error>>>,
    timer: Timer,
    closing: bool,
    /// When to stop waiting for the link to end.
    close_by: Option<Duration>,
    overdue: bool,
    ended: bool,
    /// Dropped with the driver, which tells whoever waits for its end.
    _done: watch::Sender<()>,
}

impl<L: Link> Driver<L> {
    pub(super) fn new(
        link: L,
        commands: mpsc::UnboundedReceiver<Command>,
        shared: Arc<Shared>,
        answers: Answers,
        connected: watch::Sender<Option<Result<(), Error>>>,
        done: watch::Sender<()>,
    ) -> Self {
        let mut core = Core::new(shared.options.clone(), link.kind());
        core.expect(link.known_era());
        core.start(Duration::ZERO);
        let mut driver = Driver {
            core,
            link,
            commands,
            shared,
            answers,
            answering: FuturesUnordered::new(),
            abort: HashMap::new(),
            stirred: false,
            connected,
            timer: Timer::start(),
            closing: false,
            close_by: None,
            overdue: false,
            ended: false,
            _done: done,
        };
        if driver.shared.options.protocol == Protocol::Raw {
            driver.tell_connected(Ok(()));
        }
        driver
    }

    /// Takes what has come from this side, commands and answers, until there is
    /// no more of it.
    fn take_in(&mut self, cx: &mut Context<'_>) {
        while !self.closing {
            match self.commands.poll_recv(cx) {
                Poll::Pending => break,
                Poll::Ready(Some(command)) => self.command(command),
                Poll::Ready(None) => self.close(),
            }
        }
        self.stirred = false;
        while let Poll::Ready(Some(answered)) = Pin::new(&mut self.answering).poll_next(cx) {
            if let Ok((ask, answer)) = answered {
                self.abort.remove(&ask);
                let now = self.timer.now();
                self.core.answer(now, ask, answer);
            }
        }
    }

    /// Lets the core know if its time has come; says whether it had.
    fn watch_clock(&mut self, cx: &mut Context<'_>) -> bool {
        let wake_at = self.core.wake_at().into_iter().chain(self.close_by).min();
        if self.timer.poll(wake_at, cx).is_pending() {
            return false;
        }
        let now = self.timer.now();
        self.core.tick(now);
        self.overdue = self.close_by.is_some_and(|close_by| close_by <= now);
        true
    }

    /// Takes what the link has; says whether it may have more.
    fn receive(&mut self, cx: &mut Context<'_>) -> bool {
        // A server that floods and does not read is not followed for ever.
        if self.link.backlog() >= 4 * FULL {
            return false;
        }
        for _ in 0..AT_ONCE {
            if self.ended {
                return false;
            }
            let Poll::Ready(incoming) = self.link.poll_receive(cx) else { return false };
            if let Incoming::Closed(cause) = &incoming {
                self.ended = true;
                // Known before anybody hears of it by a request that fails.
                let _ = self.shared.closed.set(cause.clone());
            }
            let now = self.timer.now();
            self.core.receive(now, incoming);
        }
        true
    }

    /// Passes on what the core has to say; says whether anything of it goes to
    /// the link.
    fn give_out(&mut self) -> bool {
        while let Some(event) = self.core.poll_event() {
            self.event(event);
        }
        let mut sent = false;
        while let Some(action) = self.core.poll_action() {
            self.link.send(action);
            sent = true;
        }
        sent
    }

    fn command(&mut self, command: Command) {
        let now = self.timer.now();
        match command {
            Command::Request(request, waiter) => {
                self.core.request(now, request, waiter);
            }
            Command::RequestFrame(frame, timeout, waiter) => {
                if let Err((waiter, reason)) = self.core.request_frame(now, frame, timeout, waiter)
                {
                    let error = Error::Unusable { method: "raw bytes".to_owned(), reason };
                    let _ = waiter.reply.send(Err(error));
                }
            }
            Command::Send(frame) => self.core.send(frame),
            Command::Cancel(key, reason) => {
                if let Some(id) = self.core.find(|waiter| waiter.key == key) {
                    self.core.cancel(&id, reason.as_deref());
                }
            }
            Command::LogLevel(level) => self.core.set_log_level(Some(level)),
            Command::Close => self.close(),
        }
    }

    fn close(&mut self) {
        self.closing = true;
        self.close_by = Some(self.timer.now() + self.link.closing_time());
        self.core.close();
    }

    fn event(&mut self, event: Event<Waiter>) {
        match event {
            Event::Settled { id, waiter, outcome } => {
                let outcome = outcome.map_err(|error| self.explain(error, &Stream::Request(id)));
                // The caller may have gone; then nobody wants the outcome.
                let _ = waiter.reply.send(outcome);
            }
            Event::Connected(Ok(session)) => {
                self.link.learn_era(match session.revision.is_modern() {
                    true => Era::Modern,
                    false => Era::Legacy,
                });
                self.stirred = true;
                let _ = self.shared.session.set(session);
                self.tell_connected(Ok(()));
            }
            Event::Connected(Err(error)) => {
                let error = self.explain(error, &Stream::Standing);
                self.tell_connected(Err(error));
            }
            Event::Progress { id, frame } => self.progress(&id, &frame),
            Event::Notification { frame, subscription } => {
                let waiter = subscription.and_then(|id| self.core.waiter(&id));
                match waiter.and_then(|waiter| waiter.listener.as_deref_mut()) {
                    // A subscriber that does not listen misses what is too much.
                    Some(Listener::Subscription(sender)) => {
                        let _ = sender.try_send(frame.clone());
                    }
                    _ => self.shared.watchers.tell(&frame),
                }
                self.shared.log.tell(&frame);
                let method = frame.method().unwrap_or_default().to_owned();
                self.shared.notifications.push(&method, frame);
            }
            Event::Asked { ask, method, params, with } => {
                self.asked(ask, &method, params, with.as_ref());
            }
            Event::Withdrawn(ask) => {
                if let Some(abort) = self.abort.remove(&ask) {
                    abort.abort();
                }
            }
            Event::Unclaimed { frame, why } => self.shared.unclaimed.push(why.name(), frame),
            Event::Mishap(cause) => self.shared.note(cause),
            Event::Closed(cause) => {
                let _ = self.shared.closed.set(cause);
            }
        }
    }

    /// Says how far an answer had come that did not come in time, if the link
    /// knows.
    fn explain(&self, error: Error, stream: &Stream) -> Error {
        match error {
            Error::Timeout { method, after } => match self.link.state_of(stream) {
                Some(state) => Error::Stalled { method, after, state },
                None => Error::Timeout { method, after },
            },
            other => other,
        }
    }

    /// Tells of progress. A callback that panics, as a test's assertion may,
    /// fails its request and nothing else.
    fn progress(&mut self, id: &Id, frame: &Frame) {
        let waiter = self.core.waiter(id);
        let Some(waiter) = waiter else { return };
        let (Some(Listener::Progress(tell)), Some(progress)) =
            (waiter.listener.as_deref_mut(), Progress::read(frame))
        else {
            return;
        };
        let told = std::panic::catch_unwind(AssertUnwindSafe(|| tell(progress)));
        if let Err(panic) = told {
            waiter.listener = None;
            self.core.callback_panicked(id, &panics::said(&*panic));
        }
    }

    fn asked(&mut self, ask: Ask, method: &str, params: Option<RawJson>, with: Option<&Id>) {
        let asked = match &ask {
            Ask::Request(id) => Frame::request(id, method, params.as_ref()),
            Ask::Input { key, .. } => Frame::request(&key.as_str().into(), method, params.as_ref()),
        };
        self.shared.requests.push(method, asked);
        let answer = match self.answerer(with) {
            Ok(Some(answerer)) => Ok(answerer.ask(method, params)),
            Ok(None) => self.answers.ask(method, params),
            Err(error) => Err(error),
        };
        match answer {
            Ok(answer) => {
                let (handle, registration) = AbortHandle::new_pair();
                self.abort.insert(ask.clone(), handle);
                let answer = AssertUnwindSafe(answer).catch_unwind();
                let answer: Answer = Box::pin(answer.map(|answer| {
                    answer.unwrap_or_else(|panic| {
                        let said = panics::said(&*panic);
                        Err(ErrorObject::internal(format!(
                            "the client's answerer panicked: {said}"
                        )))
                    })
                }));
                let answering = Answering { ask, answer: Abortable::new(answer, registration) };
                self.answering.push(answering);
                self.stirred = true;
            }
            Err(error) => {
                let now = self.timer.now();
                self.core.answer(now, ask, Err(error));
            }
        }
    }

    /// Who answers for the request that something is asked for, if somebody does.
    /// Where it is not said which that is, it can only be one of those in flight:
    /// the newest, if one party has made all of them.
    fn answerer(&mut self, with: Option<&Id>) -> Result<Option<Answerer>, ErrorObject> {
        if let Some(id) = with {
            return Ok(self.core.waiter(id).and_then(|waiter| waiter.answerer.clone()));
        }
        let answerers = self.core.waiters();
        let answerers = answerers.filter_map(|it| Some((it.key, it.answerer.as_ref()?)));
        let newest = answerers.clone().max_by_key(|(key, _)| *key);
        let Some((_, newest)) = newest else { return Ok(None) };
        match answerers.clone().all(|(_, answerer)| answerer.party == newest.party) {
            true => Ok(Some(newest.clone())),
            false => Err(ErrorObject::internal(
                "requests of several clients are in flight, and it is not said for which this \
                 is asked",
            )),
        }
    }

    fn tell_connected(&mut self, outcome: Result<(), Error>) {
        let _ = self.connected.send(Some(outcome));
    }
}

impl<L: Link> Future for Driver<L> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let driver = &mut *self;
        for _ in 0..ROUNDS {
            driver.timer.renew();
            driver.take_in(cx);
            driver.give_out();
            // Before reading: a link that ends by being written to says so there.
            let flushed = driver.link.poll_flush(cx).is_ready();
            let more = driver.receive(cx);
            let unflushed = driver.give_out();
            if driver.ended && (flushed || !driver.closing) || driver.overdue {
                return Poll::Ready(());
            }
            driver.timer.hold(driver.link.is_held());
            // Last, since everything before may have set it. What has nothing
            // new by now has been asked, and wakes this task when it has.
            let due = driver.watch_clock(cx);
            if !(due || more || unflushed || driver.stirred) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl<L> Drop for Driver<L> {
    fn drop(&mut self) {
        let cause = Cause::Broken("the client's task was stopped".to_owned());
        let _ = self.shared.closed.set(cause);
        self.shared.watchers.clear();
    }
}

/// One question being answered.
struct Answering {
    ask: Ask,
    answer: Abortable<Answer>,
}

impl Future for Answering {
    type Output = Result<(Ask, Result<RawJson, ErrorObject>), Aborted>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let ask = self.ask.clone();
        Pin::new(&mut self.answer).poll(cx).map(|answer| answer.map(|answer| (ask, answer)))
    }
}

//! Runs a client's core: the one task that owns the core and the link.

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

use super::core::{Core, Event, Request, ServerRequestId};
use super::request::Progress;
use super::server_requests::{AnswerFuture, ScopedHandler, ServerRequestHandlers};
use super::{Error, Protocol, Response, Shared};
use crate::link::{
    BACKLOG_LIMIT, Cause, Era, Incoming, Link, MAX_FRAMES_PER_POLL, Outgoing, Stream,
};
use crate::task;
use crate::timer::Timer;

/// The number of loop iterations of one poll before other tasks get their turn.
const MAX_ITERATIONS_PER_POLL: usize = 16;

/// A command from a handle to the driver.
pub(super) enum Command {
    Request(Request, Waiter),
    RequestFrame(Frame, Option<Duration>, Waiter),
    Send(Frame),
    Cancel(u64, Option<String>),
    LogLevel(LogLevel),
    Close,
}

/// The caller that waits for a response.
pub(super) struct Waiter {
    pub(super) key: u64,
    pub(super) reply: oneshot::Sender<Result<Response, Error>>,
    /// Receives messages that arrive before the response; rare.
    pub(super) listener: Option<Box<Listener>>,
    /// Answers requests that the server sends because of this one.
    pub(super) handler: Option<ScopedHandler>,
}

/// Receives messages that arrive before the response.
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
    handlers: ServerRequestHandlers,
    pending_answers: FuturesUnordered<PendingAnswer>,
    abort_handles: HashMap<ServerRequestId, AbortHandle>,
    /// True if an event has given new work to the link or to a pending answer, so
    /// that they must be polled again.
    has_new_work: bool,
    connected: watch::Sender<Option<Result<(), Error>>>,
    timer: Timer,
    closing: bool,
    /// The deadline for the end of the link.
    close_deadline: Option<Duration>,
    close_timed_out: bool,
    link_closed: bool,
    /// Dropped with the driver, which wakes the tasks that wait for its end.
    _done: watch::Sender<()>,
}

impl<L: Link> Driver<L> {
    pub(super) fn new(
        link: L,
        commands: mpsc::UnboundedReceiver<Command>,
        shared: Arc<Shared>,
        handlers: ServerRequestHandlers,
        connected: watch::Sender<Option<Result<(), Error>>>,
        done: watch::Sender<()>,
    ) -> Self {
        let info = link.info();
        let mut core = Core::new(shared.options.clone(), info.kind);
        core.set_known_era(info.known_era);
        core.start(Duration::ZERO);
        let mut driver = Driver {
            core,
            link,
            commands,
            shared,
            handlers,
            pending_answers: FuturesUnordered::new(),
            abort_handles: HashMap::new(),
            has_new_work: false,
            connected,
            timer: Timer::start(),
            closing: false,
            close_deadline: None,
            close_timed_out: false,
            link_closed: false,
            _done: done,
        };
        if driver.shared.options.protocol == Protocol::Raw {
            driver.set_connect_result(Ok(()));
        }
        driver
    }

    /// Takes all commands of handles and all finished answers.
    fn take_commands(&mut self, cx: &mut Context<'_>) {
        while !self.closing {
            match self.commands.poll_recv(cx) {
                Poll::Pending => break,
                Poll::Ready(Some(command)) => self.handle_command(command),
                Poll::Ready(None) => self.close(),
            }
        }
        self.has_new_work = false;
        while let Poll::Ready(Some(answered)) = Pin::new(&mut self.pending_answers).poll_next(cx) {
            if let Ok((request, answer)) = answered {
                self.abort_handles.remove(&request);
                let now = self.timer.now();
                self.core.answer(now, request, answer);
            }
        }
    }

    /// Calls the core's `tick` if its deadline has passed, and returns true if it
    /// has.
    fn poll_timer(&mut self, cx: &mut Context<'_>) -> bool {
        let wake_at = self.core.wake_at().into_iter().chain(self.close_deadline).min();
        if self.timer.poll(wake_at, cx).is_pending() {
            return false;
        }
        let now = self.timer.now();
        self.core.tick(now);
        self.close_timed_out = self.close_deadline.is_some_and(|deadline| deadline <= now);
        true
    }

    /// Receives from the link, and returns true if the link may have more.
    fn receive(&mut self, cx: &mut Context<'_>) -> bool {
        // Stops receiving from a server that floods the client and does not read.
        if self.link.backlog() >= 4 * BACKLOG_LIMIT {
            return false;
        }
        for _ in 0..MAX_FRAMES_PER_POLL {
            if self.link_closed {
                return false;
            }
            let Poll::Ready(incoming) = self.link.poll_receive(cx) else { return false };
            if let Incoming::Closed(cause) = &incoming {
                self.link_closed = true;
                let _ = self.shared.link_end.set(cause.clone());
                // Set before any request fails because of it.
                let _ = self.shared.closed.set(cause.clone());
            }
            let now = self.timer.now();
            self.core.receive(now, incoming);
        }
        true
    }

    /// Handles the core's events and sends its actions. Returns true if it sent
    /// any.
    fn drain_core(&mut self) -> bool {
        while let Some(event) = self.core.poll_event() {
            self.handle_event(event);
        }
        let mut sent = false;
        while let Some(action) = self.core.poll_action() {
            self.link.send(action);
            sent = true;
        }
        sent
    }

    fn handle_command(&mut self, command: Command) {
        let now = self.timer.now();
        match command {
            Command::Request(request, waiter) => {
                self.core.request(now, request, waiter);
            }
            Command::RequestFrame(frame, timeout, waiter) => {
                if let Err((waiter, reason)) = self.core.request_frame(now, frame, timeout, waiter)
                {
                    let error = Error::InvalidResult { method: "raw bytes".to_owned(), reason };
                    let _ = waiter.reply.send(Err(error));
                }
            }
            Command::Send(frame) => self.core.send(frame),
            Command::Cancel(key, reason) => {
                if let Some(id) = self.core.find_request(|waiter| waiter.key == key) {
                    self.core.cancel(&id, reason.as_deref());
                }
            }
            Command::LogLevel(level) => self.core.set_log_level(Some(level)),
            Command::Close => self.close(),
        }
    }

    fn close(&mut self) {
        self.closing = true;
        self.close_deadline = Some(self.timer.now() + self.link.info().close_timeout);
        self.core.close();
    }

    fn handle_event(&mut self, event: Event<Waiter>) {
        match event {
            Event::Completed { id, waiter, outcome } => {
                let outcome =
                    outcome.map_err(|error| self.add_stall_state(error, &Stream::Request(id)));
                // The caller may be gone and not need the outcome.
                let _ = waiter.reply.send(outcome);
            }
            Event::Connected(Ok(session)) => {
                let era = if session.revision.is_modern() { Era::Modern } else { Era::Legacy };
                self.link.send(Outgoing::EraDetected(era));
                self.has_new_work = true;
                let _ = self.shared.session.set(session);
                self.set_connect_result(Ok(()));
            }
            Event::Connected(Err(error)) => {
                let error = self.add_stall_state(error, &Stream::Connection);
                self.set_connect_result(Err(error));
            }
            Event::Progress { id, frame } => self.report_progress(&id, &frame),
            Event::Notification { frame, subscription } => {
                let waiter = subscription.and_then(|id| self.core.waiter(&id));
                match waiter.and_then(|waiter| waiter.listener.as_deref_mut()) {
                    // If a subscriber does not read, frames beyond its queue are
                    // dropped.
                    Some(Listener::Subscription(sender)) => {
                        let _ = sender.try_send(frame.clone());
                    }
                    _ => self.shared.subscribers.deliver(&frame),
                }
                self.shared.log_callback.call(&frame);
                let method = frame.method().unwrap_or_default().to_owned();
                self.shared.notifications.push(&method, frame);
            }
            Event::ServerRequest { request, method, params, caused_by } => {
                self.start_answer(request, &method, params, caused_by.as_ref());
            }
            Event::ServerRequestCancelled(request) => {
                if let Some(abort) = self.abort_handles.remove(&request) {
                    abort.abort();
                }
            }
            Event::Unclaimed { frame, reason } => {
                self.shared.unclaimed.push(reason.name(), frame);
            }
            Event::BackgroundError(cause) => self.shared.add_background_error(cause),
            Event::Closed(cause) => {
                let _ = self.shared.closed.set(cause);
            }
        }
    }

    /// Adds the progress of the response to a timeout, if the link knows it.
    fn add_stall_state(&self, error: Error, stream: &Stream) -> Error {
        match error {
            Error::Timeout { method, after } => match self.link.describe_progress(stream) {
                Some(state) => Error::Stalled { method, after, state },
                None => Error::Timeout { method, after },
            },
            other => other,
        }
    }

    /// Calls the progress callback. A callback that panics, such as a failed
    /// assertion of a test, fails only its own request.
    fn report_progress(&mut self, id: &Id, frame: &Frame) {
        let waiter = self.core.waiter(id);
        let Some(waiter) = waiter else { return };
        let (Some(Listener::Progress(callback)), Some(progress)) =
            (waiter.listener.as_deref_mut(), Progress::parse(frame))
        else {
            return;
        };
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| callback(progress)));
        if let Err(panic) = outcome {
            waiter.listener = None;
            self.core.callback_panicked(id, &task::panic_message(&*panic));
        }
    }

    fn start_answer(
        &mut self,
        request: ServerRequestId,
        method: &str,
        params: Option<RawJson>,
        caused_by: Option<&Id>,
    ) {
        let frame = match &request {
            ServerRequestId::Request(id) => Frame::request(id, method, params.as_ref()),
            ServerRequestId::Input { key, .. } => {
                Frame::request(&key.as_str().into(), method, params.as_ref())
            }
        };
        self.shared.requests.push(method, frame);
        let answer = match self.find_handler(caused_by) {
            Ok(Some(handler)) => Ok(handler.start(method, params)),
            Ok(None) => self.handlers.start(method, params),
            Err(error) => Err(error),
        };
        match answer {
            Ok(answer) => {
                let (handle, registration) = AbortHandle::new_pair();
                self.abort_handles.insert(request.clone(), handle);
                let answer = AssertUnwindSafe(answer).catch_unwind();
                let answer: AnswerFuture = Box::pin(answer.map(|answer| {
                    answer.unwrap_or_else(|panic| {
                        let message = task::panic_message(&*panic);
                        Err(ErrorObject::internal(format!(
                            "the client's handler panicked: {message}"
                        )))
                    })
                }));
                let answer = Abortable::new(answer, registration);
                self.pending_answers.push(PendingAnswer { request, answer });
                self.has_new_work = true;
            }
            Err(error) => {
                let now = self.timer.now();
                self.core.answer(now, request, Err(error));
            }
        }
    }

    /// Returns the handler of the request that caused a server request, if it has
    /// one. Without a known cause it is the handler of the newest request in
    /// flight, provided that one party has made all of them.
    fn find_handler(
        &mut self,
        caused_by: Option<&Id>,
    ) -> Result<Option<ScopedHandler>, ErrorObject> {
        if let Some(id) = caused_by {
            return Ok(self.core.waiter(id).and_then(|waiter| waiter.handler.clone()));
        }
        let waiters = self.core.waiters();
        let handlers = waiters.filter_map(|it| Some((it.key, it.handler.as_ref()?)));
        let newest = handlers.clone().max_by_key(|(key, _)| *key);
        let Some((_, newest)) = newest else { return Ok(None) };
        match handlers.clone().all(|(_, handler)| handler.party == newest.party) {
            true => Ok(Some(newest.clone())),
            false => Err(ErrorObject::internal(
                "cannot tell which of several clients this request is for: all have requests in flight",
            )),
        }
    }

    fn set_connect_result(&mut self, outcome: Result<(), Error>) {
        let _ = self.connected.send(Some(outcome));
    }
}

impl<L: Link> Future for Driver<L> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let driver = &mut *self;
        for _ in 0..MAX_ITERATIONS_PER_POLL {
            driver.timer.refresh();
            driver.take_commands(cx);
            driver.drain_core();
            // Flushed before receiving, because a link reports there that a write
            // ended it.
            let flushed = driver.link.poll_flush(cx).is_ready();
            let more = driver.receive(cx);
            let unflushed = driver.drain_core();
            if driver.link_closed && (flushed || !driver.closing) || driver.close_timed_out {
                return Poll::Ready(());
            }
            driver.timer.set_paused(driver.link.pauses_timeouts());
            // Last, because everything above may set a deadline. All other
            // sources have been polled by now and wake this task.
            let due = driver.poll_timer(cx);
            if !(due || more || unflushed || driver.has_new_work) {
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
        self.shared.subscribers.clear();
    }
}

/// The answer to one server request, in progress.
struct PendingAnswer {
    request: ServerRequestId,
    answer: Abortable<AnswerFuture>,
}

impl Future for PendingAnswer {
    type Output = Result<(ServerRequestId, Result<RawJson, ErrorObject>), Aborted>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let request = self.request.clone();
        Pin::new(&mut self.answer).poll(cx).map(|answer| answer.map(|answer| (request, answer)))
    }
}

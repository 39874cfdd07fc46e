//! The HTTP link: sends the peer's frames as exchanges and delivers the frames of their
//! responses.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::{FuturesUnordered, Stream as _};
use sparring_peer::link::Recorder;
use sparring_peer::{Cause, Era, Incoming, Link, LinkKind, Outgoing, Stream};
use sparring_wire::Frame;

use super::endpoint::Origin;
use super::exchange::{self, ExchangeResult};
use super::exchange_recorder::ExchangeProgress;
use super::post::{self, OrderGuard};
use super::session::{ClientSession, Message};
use super::{HttpError, HttpTarget, HttpTransport, http_sse, standing_stream};

/// The maximum number of concurrent requests; further ones wait.
const MAX_CONCURRENT_REQUESTS: usize = 256;

/// The timeout of ending a session.
const END_SESSION_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum number of origins whose eras are remembered, for as long as the process runs
/// (2026-07-28, basic/versioning: the era is a property of the origin).
const MAX_REMEMBERED_ORIGINS: usize = 10_000;

static ERAS: LazyLock<Mutex<HashMap<Origin, Era>>> = LazyLock::new(Mutex::default);

type RunningExchange = Abortable<Pin<Box<dyn Future<Output = ExchangeResult> + Send>>>;

/// A link to a server over HTTP.
#[derive(Debug)]
pub struct HttpLink {
    session: Arc<ClientSession>,
    origin: Origin,
    mode: TransportMode,
    /// Messages that wait to be sent.
    outbox: VecDeque<Outgoing>,
    /// Requests that wait for others to end. Other messages do not wait for them, since a
    /// running request may depend on a later message.
    waiting_requests: VecDeque<Message>,
    backlog: usize,
    running: FuturesUnordered<RunningExchange>,
    /// The running requests.
    requests: HashMap<Stream, (AbortHandle, ExchangeProgress), foldhash::fast::RandomState>,
    /// The open standing streams.
    listeners: Vec<AbortHandle>,
    /// Held by a posted message without an answer: later messages must not overtake it.
    post_order: OrderGuard,
    closing: Closing,
    closed: Option<Cause>,
}

/// The transport in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TransportMode {
    /// Streamable HTTP, until the response to `initialize` shows that it is not supported.
    Auto,
    Streamable,
    /// HTTP+SSE; nothing is sent before the stream names the post URL.
    HttpSse,
}

/// The progress of closing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closing {
    Open,
    /// Queued messages are sent first.
    Requested,
    /// The session is being ended on the server.
    EndingSession,
}

impl HttpLink {
    /// Creates a link to a target. Connections are made when something is sent.
    ///
    /// # Errors
    /// When the target is invalid; the error gives the reason.
    pub fn new(target: &HttpTarget) -> Result<Self, HttpError> {
        let mut link = HttpLink::with_session(
            ClientSession::new(target)?,
            match target.transport {
                HttpTransport::Auto => TransportMode::Auto,
                HttpTransport::Streamable => TransportMode::Streamable,
                HttpTransport::Sse => TransportMode::HttpSse,
            },
        );
        if link.mode == TransportMode::HttpSse {
            link.start_http_sse_stream(None);
        }
        Ok(link)
    }

    fn with_session(session: ClientSession, mode: TransportMode) -> Self {
        HttpLink {
            origin: session.client.address().endpoint.origin.clone(),
            session: Arc::new(session),
            mode,
            outbox: VecDeque::new(),
            waiting_requests: VecDeque::new(),
            backlog: 0,
            running: FuturesUnordered::new(),
            requests: HashMap::default(),
            listeners: Vec::new(),
            post_order: OrderGuard::released(),
            closing: Closing::Open,
            closed: None,
        }
    }

    fn start_exchange(
        &mut self,
        work: impl Future<Output = ExchangeResult> + Send + 'static,
    ) -> AbortHandle {
        let (handle, registration) = AbortHandle::new_pair();
        self.running.push(Abortable::new(work.boxed(), registration));
        handle
    }

    fn start_http_sse_stream(&mut self, refused_message: Option<(Message, Cause)>) {
        let handle =
            self.start_exchange(http_sse::listen(Arc::clone(&self.session), refused_message));
        self.listeners.push(handle);
    }

    /// Starts the waiting messages that may be sent now.
    fn start_queued(&mut self) {
        if let Some(message) = self.session.take_retry() {
            self.send(message);
        }
        while self.post_order.is_released()
            && (self.mode != TransportMode::HttpSse || self.session.is_ready())
        {
            let is_full = self.requests.len() >= MAX_CONCURRENT_REQUESTS;
            if !is_full && let Some(message) = self.waiting_requests.pop_front() {
                self.backlog -= message.frame.bytes().len();
                self.send(message);
                continue;
            }
            match self.outbox.pop_front() {
                None => break,
                Some(Outgoing::Send { frame, stream, headers, .. }) => {
                    let message = Message { frame, stream, headers, is_retry: false };
                    if is_full && message.stream != Stream::Connection {
                        self.waiting_requests.push_back(message);
                        continue;
                    }
                    self.backlog -= message.frame.bytes().len();
                    self.send(message);
                }
                Some(Outgoing::Open(_)) if self.mode != TransportMode::HttpSse => {
                    let handle =
                        self.start_exchange(standing_stream::listen(Arc::clone(&self.session)));
                    self.listeners.push(handle);
                }
                Some(_) => {}
            }
        }
        self.continue_closing();
    }

    fn send(&mut self, message: Message) {
        let (session, progress) = (Arc::clone(&self.session), ExchangeProgress::default());
        let (stream, auto) = (message.stream.clone(), self.mode == TransportMode::Auto);
        let handle = match (self.mode, &stream) {
            (TransportMode::HttpSse, Stream::Request(_)) => {
                self.start_exchange(http_sse::send_request(session, message, progress.clone()))
            }
            (_, Stream::Request(_)) => self.start_exchange(exchange::send_request(
                session,
                message,
                progress.clone(),
                auto,
            )),
            (mode, Stream::Connection) => {
                self.post_order = OrderGuard::default();
                let order = self.post_order.clone();
                match mode {
                    TransportMode::HttpSse => {
                        self.start_exchange(http_sse::post_message(session, message, order))
                    }
                    _ => self.start_exchange(post::post_message(session, message, order)),
                }
            }
        };
        if stream != Stream::Connection {
            self.requests.insert(stream, (handle, progress));
        }
    }

    fn handle_result(&mut self, done: ExchangeResult) {
        match done {
            ExchangeResult::RequestDone(stream) => drop(self.requests.remove(&stream)),
            ExchangeResult::NotStreamable(message, cause) => {
                self.requests.remove(&message.stream);
                self.mode = TransportMode::HttpSse;
                self.start_http_sse_stream(Some((message, cause)));
            }
            ExchangeResult::NoHttpSse => self.mode = TransportMode::Auto,
            ExchangeResult::Posted | ExchangeResult::StreamDone => {}
            ExchangeResult::SessionEnded => self.closed = Some(Cause::ClosedLocally),
        }
    }

    fn continue_closing(&mut self) {
        let goes_on = !self.post_order.is_released() || !self.outbox.is_empty();
        if self.closing != Closing::Requested || goes_on {
            return;
        }
        self.listeners.drain(..).for_each(|handle| handle.abort());
        match self.mode != TransportMode::HttpSse && self.session.has_session() {
            true => {
                self.closing = Closing::EndingSession;
                let session = Arc::clone(&self.session);
                self.start_exchange(session.end_session().map(|()| ExchangeResult::SessionEnded));
            }
            false => self.closed = Some(Cause::ClosedLocally),
        }
    }

    /// Polls the exchanges; returns true if one ended or began.
    fn poll_exchanges(&mut self, cx: &mut Context<'_>) -> bool {
        if let Poll::Ready(Some(ended)) = Pin::new(&mut self.running).poll_next(cx) {
            if let Ok(done) = ended {
                self.handle_result(done);
            }
            self.start_queued();
            return true;
        }
        // A polled exchange may have allowed others to start.
        let before = self.running.len();
        self.start_queued();
        self.running.len() != before
    }

    fn is_flushed(&self) -> bool {
        self.outbox.is_empty() && self.waiting_requests.is_empty() || self.closed.is_some()
    }

    /// Removes the waiting messages whose stream matches.
    fn remove_queued(&mut self, mut fits: impl FnMut(&Stream) -> bool) {
        let backlog = &mut self.backlog;
        let mut stays = |stream: &Stream, frame: &Frame| {
            let stays = !fits(stream);
            *backlog -= if stays { 0 } else { frame.bytes().len() };
            stays
        };
        self.waiting_requests.retain(|message| stays(&message.stream, &message.frame));
        self.outbox.retain(|queued| match queued {
            Outgoing::Send { frame, stream, .. } => stays(stream, frame),
            _ => true,
        });
    }
}

impl Link for HttpLink {
    fn kind(&self) -> LinkKind {
        LinkKind::Streams
    }

    fn transport_name(&self) -> &'static str {
        if self.mode == TransportMode::HttpSse { "sse" } else { "http" }
    }

    fn set_recorder(&mut self, recorder: Recorder) {
        self.session.record_to(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        if self.closing != Closing::Open {
            return;
        }
        match outgoing {
            Outgoing::Abort(stream) => {
                self.remove_queued(|queued| *queued == stream);
                if let Some((handle, _)) = self.requests.remove(&stream) {
                    handle.abort();
                }
            }
            Outgoing::Close => {
                self.closing = Closing::Requested;
                // Their answers are not needed any more.
                self.remove_queued(|queued| *queued != Stream::Connection);
                for (_, (handle, _)) in self.requests.drain() {
                    handle.abort();
                }
            }
            outgoing => {
                if let Outgoing::Send { frame, .. } = &outgoing {
                    self.backlog += frame.bytes().len();
                }
                self.outbox.push_back(outgoing);
            }
        }
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.start_queued();
        // An owner with a full queue receives nothing until the queue shrinks, so exchanges
        // must progress here too.
        while !self.is_flushed() && self.poll_exchanges(cx) {}
        match self.is_flushed() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    fn backlog(&self) -> usize {
        self.backlog
    }

    fn close_timeout(&self) -> Duration {
        END_SESSION_TIMEOUT
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        loop {
            if let Some(incoming) = self.session.take() {
                if let Incoming::Closed(cause) = &incoming {
                    self.closed = Some(cause.clone());
                }
                return Poll::Ready(incoming);
            }
            if let Some(cause) = &self.closed {
                return Poll::Ready(Incoming::Closed(cause.clone()));
            }
            if !self.poll_exchanges(cx) && self.session.is_empty() && self.closed.is_none() {
                return Poll::Pending;
            }
        }
    }

    fn describe_progress(&self, stream: &Stream) -> Option<String> {
        if self.mode == TransportMode::HttpSse && !self.session.is_ready() {
            return Some("the server has not sent the event \"endpoint\" yet".to_owned());
        }
        let known = match stream {
            Stream::Connection => self.requests.values().next(),
            request => self.requests.get(request),
        };
        if let Some((_, progress)) = known {
            return Some(progress.describe());
        }
        if self.waiting_requests.iter().any(|message| message.stream == *stream) {
            return Some(format!(
                "it was waiting for one of {MAX_CONCURRENT_REQUESTS} other requests to end"
            ));
        }
        let is_it = |queued: &Outgoing| matches!(queued, Outgoing::Send { stream: other_request, .. } if other_request == stream);
        let queued = self.outbox.iter().any(is_it);
        queued.then(|| "it was waiting for the server to accept an earlier message".to_owned())
    }

    fn pauses_timeouts(&self) -> bool {
        // A closing link does not wait for a token.
        self.closing == Closing::Open && self.session.is_waiting_for_token()
    }

    fn known_era(&self) -> Option<Era> {
        match self.mode {
            TransportMode::HttpSse => Some(Era::Legacy),
            _ => remembered_era(&self.origin),
        }
    }

    fn learn_era(&mut self, era: Era) {
        remember_era(&self.origin, era);
    }

    fn new_session_link(&self) -> Option<Box<dyn Link>> {
        // Over HTTP+SSE each stream names its own post URL, and a session ends with its stream.
        let mode = Some(self.mode).filter(|mode| *mode != TransportMode::HttpSse)?;
        Some(Box::new(HttpLink::with_session(self.session.for_new_session(), mode)))
    }
}

fn remembered_era(origin: &Origin) -> Option<Era> {
    eras().get(origin).copied()
}

fn remember_era(origin: &Origin, era: Era) {
    let mut eras = eras();
    if eras.len() < MAX_REMEMBERED_ORIGINS || eras.contains_key(origin) {
        eras.insert(origin.clone(), era);
    }
}

fn eras() -> MutexGuard<'static, HashMap<Origin, Era>> {
    ERAS.lock().unwrap_or_else(PoisonError::into_inner)
}

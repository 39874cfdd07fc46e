//! The link itself: what the peer gives goes out as exchanges, what those bring
//! comes in.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::{FuturesUnordered, Stream as _};
use sparring_peer::link::Recorder;
use sparring_peer::{Cause, Era, Incoming, Link, LinkKind, Outgoing, Stream};

use super::answer::{self, Done};
use super::endpoint::Origin;
use super::note::Progress;
use super::wire::{Message, Wire};
use super::{HttpError, HttpTarget, HttpTransport, eras, old, standing};

/// How many requests are on their way at once; more wait for their turn.
const AT_ONCE: usize = 512;

/// How long the end of a session may take to be told.
const ENDING: Duration = Duration::from_secs(2);

type Running = Abortable<Pin<Box<dyn Future<Output = Done> + Send>>>;

/// A link to a server over HTTP.
#[derive(Debug)]
pub struct HttpLink {
    wire: Arc<Wire>,
    origin: Origin,
    way: Way,
    /// What waits to go out.
    outbox: VecDeque<Outgoing>,
    backlog: usize,
    running: FuturesUnordered<Running>,
    /// The requests on their way.
    requests: HashMap<Stream, (AbortHandle, Progress), foldhash::fast::RandomState>,
    /// The streams that stand.
    listening: Vec<AbortHandle>,
    /// Whether something without an answer is on its way: what follows it must
    /// not overtake it.
    posting: bool,
    closing: Closing,
    closed: Option<Cause>,
}

/// Which of the two ways over HTTP is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Streamable HTTP, unless the handshake shows that it is not there.
    Auto,
    Streamable,
    /// HTTP+SSE; nothing is sent before the stream tells where to.
    Old,
}

/// How far closing has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Closing {
    No,
    /// What is queued goes out first.
    Asked,
    /// The server is told that the session is over.
    EndingSession,
}

impl HttpLink {
    /// A link to a target. Connections are made when there is something to
    /// send.
    ///
    /// # Errors
    /// When the target cannot even be tried; the error says why.
    pub fn new(target: &HttpTarget) -> Result<Self, HttpError> {
        let wire = Arc::new(Wire::new(target)?);
        let origin = wire.caller.place().endpoint.origin.clone();
        let mut link = HttpLink {
            wire,
            origin,
            way: match target.transport {
                HttpTransport::Auto => Way::Auto,
                HttpTransport::Streamable => Way::Streamable,
                HttpTransport::Sse => Way::Old,
            },
            outbox: VecDeque::new(),
            backlog: 0,
            running: FuturesUnordered::new(),
            requests: HashMap::default(),
            listening: Vec::new(),
            posting: false,
            closing: Closing::No,
            closed: None,
        };
        if link.way == Way::Old {
            link.listen_in_the_old_way(None);
        }
        Ok(link)
    }

    fn start(&mut self, work: impl Future<Output = Done> + Send + 'static) -> AbortHandle {
        let (handle, registration) = AbortHandle::new_pair();
        self.running.push(Abortable::new(work.boxed(), registration));
        handle
    }

    fn listen_in_the_old_way(&mut self, instead: Option<(Message, Cause)>) {
        let handle = self.start(old::listen(Arc::clone(&self.wire), instead));
        self.listening.push(handle);
    }

    /// Starts what waits to go out, as far as it may now.
    fn start_queued(&mut self) {
        if let Some(again) = self.wire.to_retry() {
            self.send(again);
        }
        while !self.posting && (self.way != Way::Old || self.wire.is_ready()) {
            let is_full = self.requests.len() >= AT_ONCE;
            let next = match self.outbox.front() {
                Some(Outgoing::Send { stream: Stream::Request(_), .. }) if is_full => None,
                _ => self.outbox.pop_front(),
            };
            match next {
                None => break,
                Some(Outgoing::Send { frame, stream, headers }) => {
                    self.backlog -= frame.bytes().len();
                    self.send(Message { frame, stream, headers, again: false });
                }
                Some(Outgoing::Open(_)) if self.way != Way::Old => {
                    let handle = self.start(standing::listen(Arc::clone(&self.wire)));
                    self.listening.push(handle);
                }
                Some(_) => {}
            }
        }
        self.go_on_closing();
    }

    fn send(&mut self, message: Message) {
        let (wire, progress) = (Arc::clone(&self.wire), Progress::default());
        let stream = message.stream.clone();
        let handle = match (self.way, &stream) {
            (Way::Old, _) => self.start(old::post(wire, message, progress.clone())),
            (way, Stream::Request(_)) => {
                self.start(answer::ask(wire, message, progress.clone(), way == Way::Auto))
            }
            (_, Stream::Standing) => self.start(answer::post(wire, message, progress.clone())),
        };
        match stream {
            Stream::Standing => self.posting = true,
            stream => drop(self.requests.insert(stream, (handle, progress))),
        }
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Asked(stream) => drop(self.requests.remove(&stream)),
            Done::Posted => self.posting = false,
            Done::NotStreamable(message, cause) => {
                self.requests.remove(&message.stream);
                self.way = Way::Old;
                self.listen_in_the_old_way(Some((message, cause)));
            }
            Done::NotOld => self.way = Way::Auto,
            Done::Standing => {}
            Done::SessionEnded => self.closed = Some(Cause::ByUs),
        }
    }

    fn go_on_closing(&mut self) {
        if self.closing != Closing::Asked || self.posting || !self.outbox.is_empty() {
            return;
        }
        self.listening.drain(..).for_each(|handle| handle.abort());
        match self.way != Way::Old && self.wire.has_session() {
            true => {
                self.closing = Closing::EndingSession;
                let wire = Arc::clone(&self.wire);
                self.start(wire.end_session().map(|()| Done::SessionEnded));
            }
            false => self.closed = Some(Cause::ByUs),
        }
    }
}

impl Link for HttpLink {
    fn kind(&self) -> LinkKind {
        LinkKind::Streams
    }

    fn record_to(&mut self, recorder: Recorder) {
        self.wire.record_to(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        if self.closing != Closing::No {
            return;
        }
        match outgoing {
            Outgoing::Abort(stream) => {
                self.outbox.retain(|queued| match queued {
                    Outgoing::Send { frame, stream: other, .. } if *other == stream => {
                        self.backlog -= frame.bytes().len();
                        false
                    }
                    _ => true,
                });
                if let Some((handle, _)) = self.requests.remove(&stream) {
                    handle.abort();
                }
            }
            Outgoing::Close => {
                self.closing = Closing::Asked;
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

    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<()> {
        self.start_queued();
        match self.outbox.is_empty() || self.closed.is_some() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    fn backlog(&self) -> usize {
        self.backlog
    }

    fn closing_time(&self) -> Duration {
        ENDING
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        loop {
            if let Some(incoming) = self.wire.take() {
                if let Incoming::Closed(cause) = &incoming {
                    self.closed = Some(cause.clone());
                }
                return Poll::Ready(incoming);
            }
            if let Some(cause) = &self.closed {
                return Poll::Ready(Incoming::Closed(cause.clone()));
            }
            match Pin::new(&mut self.running).poll_next(cx) {
                Poll::Ready(Some(ended)) => {
                    if let Ok(done) = ended {
                        self.done(done);
                    }
                    self.start_queued();
                }
                Poll::Ready(None) | Poll::Pending => {
                    // An exchange that goes on may have let others begin, or
                    // brought something.
                    let before = self.running.len();
                    self.start_queued();
                    let idle = self.running.len() == before && self.wire.is_empty();
                    if idle && self.closed.is_none() {
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    fn state_of(&self, stream: &Stream) -> Option<String> {
        if self.way == Way::Old && !self.wire.is_ready() {
            return Some("no event has said yet where to post to".to_owned());
        }
        match stream {
            Stream::Standing => self.requests.values().next(),
            request => self.requests.get(request),
        }
        .map(|(_, progress)| progress.describe())
    }

    fn known_era(&self) -> Option<Era> {
        match self.way {
            Way::Old => Some(Era::Legacy),
            _ => eras::of(&self.origin),
        }
    }

    fn learn_era(&mut self, era: Era) {
        eras::learn(&self.origin, era);
    }
}

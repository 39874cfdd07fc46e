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
use sparring_wire::Frame;

use super::answer::{self, Done};
use super::endpoint::Origin;
use super::note::Progress;
use super::post::{self, Turn};
use super::wire::{Message, Wire};
use super::{HttpError, HttpTarget, HttpTransport, eras, old, standing};

/// How many requests are on their way at once; more wait for their turn.
const AT_ONCE: usize = 256;

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
    /// Requests that wait for others to end. Nothing has to wait for these:
    /// what those others wait for may come after them.
    held: VecDeque<Message>,
    backlog: usize,
    running: FuturesUnordered<Running>,
    /// The requests on their way.
    requests: HashMap<Stream, (AbortHandle, Progress), foldhash::fast::RandomState>,
    /// The streams that stand.
    listening: Vec<AbortHandle>,
    /// The turn of something without an answer that is on its way: what follows
    /// must not overtake it.
    posting: Turn,
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
        let mut link = HttpLink::over(
            Wire::new(target)?,
            match target.transport {
                HttpTransport::Auto => Way::Auto,
                HttpTransport::Streamable => Way::Streamable,
                HttpTransport::Sse => Way::Old,
            },
        );
        if link.way == Way::Old {
            link.listen_in_the_old_way(None);
        }
        Ok(link)
    }

    fn over(wire: Wire, way: Way) -> Self {
        HttpLink {
            origin: wire.caller.place().endpoint.origin.clone(),
            wire: Arc::new(wire),
            way,
            outbox: VecDeque::new(),
            held: VecDeque::new(),
            backlog: 0,
            running: FuturesUnordered::new(),
            requests: HashMap::default(),
            listening: Vec::new(),
            posting: Turn::over(),
            closing: Closing::No,
            closed: None,
        }
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
        while self.posting.is_over() && (self.way != Way::Old || self.wire.is_ready()) {
            let is_full = self.requests.len() >= AT_ONCE;
            if !is_full && let Some(message) = self.held.pop_front() {
                self.backlog -= message.frame.bytes().len();
                self.send(message);
                continue;
            }
            match self.outbox.pop_front() {
                None => break,
                Some(Outgoing::Send { frame, stream, headers, .. }) => {
                    let message = Message { frame, stream, headers, again: false };
                    if is_full && message.stream != Stream::Standing {
                        self.held.push_back(message);
                        continue;
                    }
                    self.backlog -= message.frame.bytes().len();
                    self.send(message);
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
        let (stream, auto) = (message.stream.clone(), self.way == Way::Auto);
        let handle = match (self.way, &stream) {
            (Way::Old, Stream::Request(_)) => self.start(old::ask(wire, message, progress.clone())),
            (_, Stream::Request(_)) => {
                self.start(answer::ask(wire, message, progress.clone(), auto))
            }
            (way, Stream::Standing) => {
                self.posting = Turn::default();
                let turn = self.posting.clone();
                match way {
                    Way::Old => self.start(old::post(wire, message, turn)),
                    _ => self.start(post::post(wire, message, turn)),
                }
            }
        };
        if stream != Stream::Standing {
            self.requests.insert(stream, (handle, progress));
        }
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Asked(stream) => drop(self.requests.remove(&stream)),
            Done::NotStreamable(message, cause) => {
                self.requests.remove(&message.stream);
                self.way = Way::Old;
                self.listen_in_the_old_way(Some((message, cause)));
            }
            Done::NotOld => self.way = Way::Auto,
            Done::Posted | Done::Standing => {}
            Done::SessionEnded => self.closed = Some(Cause::ByUs),
        }
    }

    fn go_on_closing(&mut self) {
        let goes_on = !self.posting.is_over() || !self.outbox.is_empty();
        if self.closing != Closing::Asked || goes_on {
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

    /// Lets the exchanges go on; says whether one of them ended or began.
    fn go_on(&mut self, cx: &mut Context<'_>) -> bool {
        if let Poll::Ready(Some(ended)) = Pin::new(&mut self.running).poll_next(cx) {
            if let Ok(done) = ended {
                self.done(done);
            }
            self.start_queued();
            return true;
        }
        // One that goes on may have let others begin.
        let before = self.running.len();
        self.start_queued();
        self.running.len() != before
    }

    fn is_flushed(&self) -> bool {
        self.outbox.is_empty() && self.held.is_empty() || self.closed.is_some()
    }

    /// Takes what fits out of what waits to go out.
    fn unqueue(&mut self, mut fits: impl FnMut(&Stream) -> bool) {
        let backlog = &mut self.backlog;
        let mut stays = |stream: &Stream, frame: &Frame| {
            let stays = !fits(stream);
            *backlog -= if stays { 0 } else { frame.bytes().len() };
            stays
        };
        self.held.retain(|message| stays(&message.stream, &message.frame));
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

    fn transport(&self) -> &'static str {
        if self.way == Way::Old { "sse" } else { "http" }
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
                self.unqueue(|queued| *queued == stream);
                if let Some((handle, _)) = self.requests.remove(&stream) {
                    handle.abort();
                }
            }
            Outgoing::Close => {
                self.closing = Closing::Asked;
                // Nobody waits for their answers any more.
                self.unqueue(|queued| *queued != Stream::Standing);
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
        // An owner that has too much queued receives nothing until there is
        // less, so it must become less here as well.
        while !self.is_flushed() && self.go_on(cx) {}
        match self.is_flushed() {
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
            if !self.go_on(cx) && self.wire.is_empty() && self.closed.is_none() {
                return Poll::Pending;
            }
        }
    }

    fn state_of(&self, stream: &Stream) -> Option<String> {
        if self.way == Way::Old && !self.wire.is_ready() {
            return Some("no event has said yet where to post to".to_owned());
        }
        let known = match stream {
            Stream::Standing => self.requests.values().next(),
            request => self.requests.get(request),
        };
        if let Some((_, progress)) = known {
            return Some(progress.describe());
        }
        if self.held.iter().any(|message| message.stream == *stream) {
            return Some(format!("it was waiting for one of {AT_ONCE} other requests to end"));
        }
        let is_it = |queued: &Outgoing| matches!(queued, Outgoing::Send { stream: other, .. } if other == stream);
        let queued = self.outbox.iter().any(is_it);
        queued.then(|| "it was waiting for an earlier message to be taken".to_owned())
    }

    fn is_held(&self) -> bool {
        // Whoever closes it waits for nobody any more.
        self.closing == Closing::No && self.wire.is_held()
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

    fn again(&self) -> Option<Box<dyn Link>> {
        // Over HTTP+SSE it is told anew by each stream where messages go to, and
        // a session that ends does so with its stream.
        let way = Some(self.way).filter(|way| *way != Way::Old)?;
        Some(Box::new(HttpLink::over(self.wire.again(), way)))
    }
}

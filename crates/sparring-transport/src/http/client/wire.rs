//! What all exchanges of one link share: how to call the server, the session,
//! and where what they bring is collected.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Poll, Waker};

use bytes::Bytes;
use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, Entry, HOST, HeaderName, USER_AGENT,
};
use http::{HeaderMap, HeaderValue, Method};
use sparring_peer::link::Recorder;
use sparring_peer::{Cause, Envelope, Incoming, Stream};
use sparring_wire::{Frame, FrameKind, Headers, mirror};

use super::answer::READ;
use super::call::{Caller, Head, SESSION, hidden};
use super::connect::Connector;
use super::endpoint::Endpoint;
use super::note::{Note, Progress, shown};
use super::oauth::{Authorizer, Effort, Tries};
use super::opened::Opened;
use super::secrets::Secrets;
use super::{Credentials, HttpError, HttpTarget};

/// How much is collected before exchanges wait until some of it was taken.
const MOST: usize = 1_000;
const MOST_BYTES: usize = 4 * 1024 * 1024;

const EITHER: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// What all exchanges of one link share.
pub(super) struct Wire {
    pub(super) caller: Arc<Caller>,
    /// The longest answer or event.
    pub(super) limit: usize,
    /// What every request has.
    own: HeaderMap,
    authorizer: Option<Arc<Authorizer>>,
    /// How many requests wait for a token.
    held: AtomicUsize,
    recorder: OnceLock<Recorder>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    session: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// What requests have, by their purpose.
    heads: [Option<Head>; 3],
    /// What the last message had before it, and why.
    last: Option<(Headers, Head)>,
    /// Whether the address to post to is known, over HTTP+SSE.
    ready: bool,
    /// What is to be sent again, now in the old way.
    again: Option<Message>,
    inbox: VecDeque<Incoming>,
    /// How much stands in it.
    bytes: usize,
    /// Who waits for room in the inbox.
    waiting: Vec<Waker>,
}

impl State {
    fn has_room(&self) -> bool {
        self.inbox.len() < MOST && self.bytes < MOST_BYTES
    }
}

/// What a request is for.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Post,
    Listen,
    End,
}

/// Something to send.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) frame: Frame,
    pub(super) stream: Stream,
    pub(super) headers: Headers,
    /// Whether it went out before, to another address.
    pub(super) again: bool,
}

impl Message {
    /// That something was said to it, where it has no answer.
    pub(super) fn described(&self) -> String {
        match (self.frame.kind(), self.frame.id()) {
            (FrameKind::Notification, _) => {
                format!("to {}", self.frame.method().unwrap_or_default())
            }
            (FrameKind::Result | FrameKind::Error, Some(id)) => {
                format!("to our answer to its request {id}")
            }
            _ => String::new(),
        }
    }
}

impl Wire {
    pub(super) fn new(target: &HttpTarget) -> Result<Wire, HttpError> {
        let (endpoint, in_url) = Endpoint::parse(&target.url)?;
        let mut own = HeaderMap::new();
        let agent = concat!("sparring/", env!("CARGO_PKG_VERSION"));
        own.insert(USER_AGENT, HeaderValue::from_static(agent));
        let secrets = Secrets::default();
        let credentials = match &target.credentials {
            Some(given) => given.header(),
            None => in_url,
        };
        if let Some(credentials) = credentials {
            let bad = |_| HttpError::Header("Authorization".to_owned());
            let (_, secret) = credentials.split_once(' ').unwrap_or_default();
            secrets.add(secret);
            let value = HeaderValue::try_from(credentials).map_err(bad)?;
            own.insert(AUTHORIZATION, hidden(value));
        }
        let mut given = HeaderMap::new();
        for (name, value) in &target.headers {
            let bad = || HttpError::Header(name.clone());
            secrets.add(value);
            let value = HeaderValue::from_str(value).map_err(|_| bad())?;
            given.append(HeaderName::try_from(name).map_err(|_| bad())?, hidden(value));
        }
        // What the user says stands instead of what we would say.
        own.extend(given);
        let connector = Connector::new(&endpoint.origin, target)?;
        let authorizer = match &target.credentials {
            Some(Credentials::OAuth(oauth)) => {
                let secrets = secrets.clone();
                Some(Arc::new(Authorizer::new(target, oauth, endpoint.clone(), secrets)?))
            }
            _ => None,
        };
        Ok(Wire {
            caller: Arc::new(Caller::new(connector, endpoint, target.idle_timeout, secrets)),
            limit: target.max_message,
            own,
            authorizer,
            held: AtomicUsize::new(0),
            recorder: OnceLock::new(),
            state: Mutex::default(),
        })
    }

    /// Makes a request, as somebody whom the server lets in.
    async fn call(
        &self,
        method: &Method,
        effort: Effort,
        content: impl Fn() -> (Head, Bytes),
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        match &self.authorizer {
            None => self.caller.call(method, content, note).await,
            // Apart, so that requests without it stay small.
            Some(authorizer) => {
                Box::pin(self.call_with_pass(authorizer, method, effort, content, note)).await
            }
        }
    }

    async fn call_with_pass(
        &self,
        authorizer: &Authorizer,
        method: &Method,
        effort: Effort,
        content: impl Fn() -> (Head, Bytes),
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        let mut tries = Tries::new(effort);
        let mut pass = {
            let _held = Held::by(&self.held);
            authorizer.pass(self.recorder()).await?
        };
        loop {
            let with_pass = || {
                let (mut head, body) = content();
                if let Some(pass) = &pass {
                    head.shown.push(AUTHORIZATION.as_str(), "(hidden)");
                    head.headers.insert(AUTHORIZATION, pass.header().clone());
                }
                (head, body)
            };
            let mut opened = self.caller.call(method, with_pass, note).await?;
            let refusal = authorizer.refusal(opened.status, &opened.headers, pass.as_ref());
            let Some(refusal) = refusal else { return Ok(opened) };
            // Nothing else will be the answer.
            if effort == Effort::Full {
                self.finish(&mut opened, note).await;
            }
            let got = {
                let _held = Held::by(&self.held);
                let got = authorizer.another(&refusal, pass.as_ref(), &mut tries, self.recorder());
                got.await?
            };
            // If there is none, what the server said is the answer.
            let Some(got) = got else { return Ok(opened) };
            pass = Some(got);
            self.finish(&mut opened, note).await;
            self.caller.keep(*opened);
        }
    }

    /// Reads what is left of a response that nobody wants.
    async fn finish(&self, opened: &mut Opened, note: &mut Note) {
        if !opened.ended && opened.body(READ, note).await.is_ok() {
            note.complete();
        }
    }

    /// Whether a request waits for a token, which has deadlines of its own.
    pub(super) fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed) > 0
    }

    /// One for another session, over the same connections.
    pub(super) fn again(&self) -> Wire {
        Wire {
            caller: Arc::clone(&self.caller),
            limit: self.limit,
            own: self.own.clone(),
            authorizer: self.authorizer.clone(),
            held: AtomicUsize::new(0),
            recorder: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    /// Sends a message.
    pub(super) async fn post(
        &self,
        message: &Message,
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        let content = || {
            let (mut head, body) = (self.head_of(message), message.frame.bytes());
            if !self.own.contains_key(CONTENT_LENGTH) {
                head.headers.insert(CONTENT_LENGTH, body.len().into());
            }
            (head, Bytes::copy_from_slice(body))
        };
        // What is only told is told again, or is not worth a login.
        let effort = match message.frame.kind() {
            FrameKind::Notification => Effort::Quiet,
            _ => Effort::Full,
        };
        self.call(&Method::POST, effort, content, note).await
    }

    /// What a message has before it. One like the last has the same.
    fn head_of(&self, message: &Message) -> Head {
        if let Some((headers, head)) = &self.state().last
            && *headers == message.headers
        {
            return head.clone();
        }
        let head = self.new_head_of(message);
        self.state().last = Some((message.headers.clone(), head.clone()));
        head
    }

    fn new_head_of(&self, message: &Message) -> Head {
        let mut head = self.head(Purpose::Post);
        for (name, value) in message.headers.iter() {
            let name = HeaderName::from_bytes(name.as_bytes());
            let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) else { continue };
            if name == mirror::PROTOCOL_VERSION {
                self.set_version(&value);
            }
            // What the user says stands instead of what we would say.
            if let Entry::Vacant(vacant) = head.headers.entry(&name) {
                head.shown.push(name.as_str(), value.to_str().unwrap_or_default());
                vacant.insert(value);
            }
        }
        // Its place is taken here, so that no copy has to grow for it.
        head.headers.entry(CONTENT_LENGTH).or_insert(HeaderValue::from(0));
        head
    }

    /// Asks for events in the way of 2024-11-05, which has no headers of its own.
    pub(super) async fn listen_in_the_old_way(
        &self,
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        let content = || (self.head(Purpose::Listen), Bytes::new());
        self.call(&Method::GET, Effort::Full, content, note).await
    }

    /// Asks for events, from after the last one that came.
    pub(super) async fn listen(
        &self,
        after: Option<&HeaderValue>,
        effort: Effort,
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        let head = || {
            let mut head = self.head(Purpose::Listen);
            self.add_version(&mut head);
            if let Some(after) = after {
                let text = String::from_utf8_lossy(after.as_bytes());
                head.shown.push("last-event-id", &text);
                let after = after.clone();
                head.headers.insert(HeaderName::from_static("last-event-id"), after);
            }
            (head, Bytes::new())
        };
        self.call(&Method::GET, effort, head, note).await
    }

    /// Ends the session, if there is one.
    pub(super) async fn end_session(self: Arc<Self>) {
        let head = || {
            let mut head = self.head(Purpose::End);
            self.add_version(&mut head);
            (head, Bytes::new())
        };
        let mut note = Note::begin(self.recorder(), Progress::default());
        let ended = self.call(&Method::DELETE, Effort::None, head, &mut note).await;
        // A server need not let its sessions be ended.
        if let Ok(mut opened) = ended
            && opened.body(self.limit, &note).await.is_ok()
        {
            note.complete();
        }
    }

    /// What every request of that purpose has, written once for a session.
    fn head(&self, purpose: Purpose) -> Head {
        let mut state = self.state();
        let session = state.session.clone();
        let made = &mut state.heads[purpose as usize];
        made.get_or_insert_with(|| {
            let mut headers = self.own.clone();
            let (accept, content) = match purpose {
                Purpose::Post => (EITHER, Some(JSON)),
                Purpose::Listen => (EVENTS, None),
                Purpose::End => (EITHER, None),
            };
            if let Some(host) = &self.caller.place().host {
                headers.entry(HOST).or_insert_with(|| host.clone());
            }
            headers.entry(ACCEPT).or_insert(accept);
            if let Some(content) = content {
                headers.entry(CONTENT_TYPE).or_insert(content);
            }
            if let Some(session) = session {
                headers.entry(HeaderName::from_static(SESSION)).or_insert(session);
            }
            Head { shown: shown(&headers, &Secrets::default()), headers }
        })
        .clone()
    }

    fn set_version(&self, value: &HeaderValue) {
        let mut state = self.state();
        if state.version.as_ref() != Some(value) {
            state.version = Some(value.clone());
        }
    }

    fn add_version(&self, head: &mut Head) {
        if let (Some(version), Ok(name)) =
            (&self.state().version, HeaderName::try_from(mirror::PROTOCOL_VERSION))
        {
            head.shown.push(name.as_str(), version.to_str().unwrap_or_default());
            head.headers.entry(name).or_insert_with(|| version.clone());
        }
    }

    /// Takes over the session that the answer to a handshake names.
    pub(super) fn begin_session(&self, opened: &Opened) {
        if let Some(session) = opened.headers.get(SESSION).filter(|id| !id.is_empty()) {
            let mut state = self.state();
            state.session = Some(session.clone());
            state.heads = [const { None }; 3];
            state.last = None;
        }
    }

    pub(super) fn has_session(&self) -> bool {
        self.state().session.is_some()
    }

    pub(super) fn forget_session(&self) {
        let mut state = self.state();
        state.session = None;
        state.heads = [const { None }; 3];
        state.last = None;
    }

    /// The address to post to is known.
    pub(super) fn ready(&self) {
        self.state().ready = true;
    }

    pub(super) fn is_ready(&self) -> bool {
        self.state().ready
    }

    /// Has a message sent again, which the server refused at its first address.
    pub(super) fn retry(&self, message: Message) {
        self.state().again = Some(Message { again: true, ..message });
    }

    pub(super) fn to_retry(&self) -> Option<Message> {
        self.state().again.take()
    }

    pub(super) fn record_to(&self, recorder: Recorder) {
        // A link has one owner, who says so once.
        let _ = self.recorder.set(recorder);
    }

    pub(super) fn recorder(&self) -> Option<Recorder> {
        self.recorder.get().cloned()
    }

    /// Notes that a message goes out.
    pub(super) fn sent(&self, message: &Message) {
        if let Some(recorder) = self.recorder.get().filter(|_| !message.again) {
            recorder.sent(&message.frame);
        }
    }

    /// Something came that may be a frame; it is given to the peer.
    pub(super) fn received(&self, frame: Frame, stream: &Stream, envelope: &Envelope) {
        self.record(&frame);
        self.push(Incoming::on(stream.clone(), frame, Some(envelope.clone())));
    }

    /// Something came that is for nobody but the transcript.
    pub(super) fn record(&self, frame: &Frame) {
        if let Some(recorder) = self.recorder.get() {
            recorder.received(frame);
        }
    }

    pub(super) fn push(&self, incoming: Incoming) {
        let mut state = self.state();
        state.bytes += size(&incoming);
        state.inbox.push_back(incoming);
    }

    pub(super) fn take(&self) -> Option<Incoming> {
        let mut state = self.state();
        let taken = state.inbox.pop_front();
        state.bytes -= taken.as_ref().map_or(0, size);
        if state.has_room() && !state.waiting.is_empty() {
            state.waiting.drain(..).for_each(Waker::wake);
        }
        taken
    }

    pub(super) fn is_empty(&self) -> bool {
        self.state().inbox.is_empty()
    }

    /// Waits until there is room for more.
    pub(super) async fn room(&self) {
        poll_fn(|cx| {
            let mut state = self.state();
            if state.has_room() {
                return Poll::Ready(());
            }
            state.waiting.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One more that waits, for as long as this lives.
struct Held<'a>(&'a AtomicUsize);

impl<'a> Held<'a> {
    fn by(held: &'a AtomicUsize) -> Self {
        held.fetch_add(1, Ordering::Relaxed);
        Held(held)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn size(incoming: &Incoming) -> usize {
    match incoming {
        Incoming::Frame { frame, .. } | Incoming::Noise { frame, .. } => frame.bytes().len(),
        _ => 0,
    }
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Wire").field(&self.caller).finish()
    }
}

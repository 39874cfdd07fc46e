//! The state that all exchanges of one link share: the HTTP client, the session id, and the
//! queue of received frames.

#[cfg(feature = "oauth")]
mod authorization;
#[cfg(not(feature = "oauth"))]
#[path = "no_authorization.rs"]
mod authorization;
mod inbox;
mod requests;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use http::{HeaderMap, HeaderValue};
use sparring_peer::link::Recorder;
use sparring_peer::{Envelope, Incoming, Stream};
use sparring_wire::{Frame, FrameKind, Headers, HttpObservation};

use self::authorization::Authorization;
use self::inbox::Inbox;
use super::connector::Connector;
use super::http_client::RequestDefaults;
use super::http_client::{HttpClient, RequestHead, SESSION_HEADER};
use super::locality::PeerLocality;
use super::response::HttpResponse;
use super::{HttpError, HttpTarget};

/// The state that all exchanges of one link share.
pub(super) struct ClientSession {
    pub(super) client: Arc<HttpClient>,
    /// The longest response or event, in bytes.
    pub(super) limit: usize,
    /// Headers of every request.
    default_headers: HeaderMap,
    authorization: Authorization,
    recorder: OnceLock<Recorder>,
    state: Mutex<SessionState>,
}

#[derive(Default)]
struct SessionState {
    session_id: Option<HeaderValue>,
    version: Option<HeaderValue>,
    /// The head of each kind of request.
    heads: [Option<RequestHead>; 3],
    /// The head of the last message, with the headers that it was built for.
    last: Option<(Headers, RequestHead)>,
    /// True if the post URL is known, over HTTP+SSE.
    ready: bool,
    /// A message to send again, over HTTP+SSE.
    retry: Option<Message>,
    inbox: Inbox,
}

/// A message to send.
#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) frame: Frame,
    pub(super) stream: Stream,
    pub(super) headers: Headers,
    /// True if it was sent before, to another URL.
    pub(super) is_retry: bool,
}

/// The permitted actions to authorize a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AuthPolicy {
    /// The user may have to log in.
    Interactive,
    /// No login, unless the server never accepted a request.
    NonInteractive,
    /// No other token after a refusal.
    Never,
}

impl Message {
    /// Names the message, for an error about its response.
    pub(super) fn describe_recipient(&self) -> String {
        match (self.frame.kind(), self.frame.id()) {
            (FrameKind::Notification, _) => {
                format!("to {}", self.frame.method().unwrap_or_default())
            }
            (FrameKind::Result | FrameKind::Error, Some(id)) => {
                format!("to our response to its request {id}")
            }
            _ => String::new(),
        }
    }
}

impl ClientSession {
    pub(super) fn new(target: &HttpTarget) -> Result<ClientSession, HttpError> {
        let RequestDefaults { endpoint, headers: default_headers, secrets } =
            RequestDefaults::from_target(target)?;
        let reached = PeerLocality::default();
        let connector = Connector::new(&endpoint.origin, target)?.recording(reached.clone());
        let authorization = Authorization::new(target, &endpoint, &secrets, reached)?;
        Ok(ClientSession {
            client: Arc::new(HttpClient::new(connector, endpoint, target.idle_timeout, secrets)),
            limit: target.max_message,
            default_headers,
            authorization,
            recorder: OnceLock::new(),
            state: Mutex::default(),
        })
    }

    /// Creates the state for another session over the same connections.
    pub(super) fn for_new_session(&self) -> ClientSession {
        ClientSession {
            client: Arc::clone(&self.client),
            limit: self.limit,
            default_headers: self.default_headers.clone(),
            authorization: self.authorization.for_new_session(),
            recorder: OnceLock::new(),
            state: Mutex::default(),
        }
    }

    /// Takes the session id from the response to `initialize`.
    pub(super) fn begin_session(&self, response: &HttpResponse) {
        if let Some(session) = response.headers.get(SESSION_HEADER).filter(|id| !id.is_empty()) {
            self.observe(HttpObservation::SessionId(session.as_bytes()));
            let mut state = self.state();
            state.session_id = Some(session.clone());
            state.heads = [const { None }; 3];
            state.last = None;
        }
    }

    pub(super) fn has_session(&self) -> bool {
        self.state().session_id.is_some()
    }

    pub(super) fn forget_session(&self) {
        let mut state = self.state();
        state.session_id = None;
        state.heads = [const { None }; 3];
        state.last = None;
    }

    /// The post URL is known now.
    pub(super) fn mark_ready(&self) {
        self.state().ready = true;
    }

    pub(super) fn is_ready(&self) -> bool {
        self.state().ready
    }

    /// Sends a message again that the server refused at its first URL.
    pub(super) fn retry(&self, message: Message) {
        self.state().retry = Some(Message { is_retry: true, ..message });
    }

    pub(super) fn take_retry(&self) -> Option<Message> {
        self.state().retry.take()
    }

    pub(super) fn record_to(&self, recorder: Recorder) {
        // A link has one owner, which sets this once.
        let _ = self.recorder.set(recorder);
    }

    pub(super) fn recorder(&self) -> Option<Recorder> {
        self.recorder.get().cloned()
    }

    /// Records a sent message.
    pub(super) fn record_sent(&self, message: &Message) {
        if let Some(recorder) = self.recorder.get().filter(|_| !message.is_retry) {
            recorder.record_sent(&message.frame);
        }
    }

    /// Records a received frame and queues it for the peer.
    pub(super) fn deliver(&self, frame: Frame, stream: &Stream, envelope: &Envelope) {
        self.record_received(&frame, envelope.status);
        self.push(Incoming::from_frame(stream.clone(), frame, Some(envelope.clone())));
    }

    /// Records a frame that is not for the peer.
    pub(super) fn record_received(&self, frame: &Frame, status: Option<u16>) {
        if let Some(recorder) = self.recorder.get() {
            recorder.record_response(frame, status);
        }
    }

    /// Records a frame in the response to a notification or a response.
    pub(super) fn record_posted(&self, frame: &Frame, status: u16) {
        if let Some(recorder) = self.recorder.get() {
            recorder.record_posted(frame, status);
        }
    }

    /// Checks what only HTTP shows.
    pub(super) fn observe(&self, observation: HttpObservation<'_>) {
        if let Some(recorder) = self.recorder.get() {
            recorder.record_http(observation);
        }
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for ClientSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ClientSession").field(&self.client).finish()
    }
}

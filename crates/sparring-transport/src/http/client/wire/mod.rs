//! What all exchanges of one link share: how to call the server, the session,
//! and where what they bring is collected.

#[cfg(feature = "oauth")]
mod admission;
#[cfg(not(feature = "oauth"))]
#[path = "no_admission.rs"]
mod admission;
mod inbox;
mod requests;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use http::{HeaderMap, HeaderValue};
use sparring_peer::link::Recorder;
use sparring_peer::{Envelope, Incoming, Stream};
use sparring_wire::{Frame, FrameKind, Headers};

use self::admission::Admission;
use self::inbox::Inbox;
use super::call::{Caller, Head, SESSION};
use super::connect::Connector;
use super::given::Given;
use super::opened::Opened;
use super::{HttpError, HttpTarget};

/// What all exchanges of one link share.
pub(super) struct Wire {
    pub(super) caller: Arc<Caller>,
    /// The longest answer or event.
    pub(super) limit: usize,
    /// What every request has.
    own: HeaderMap,
    admission: Admission,
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
    inbox: Inbox,
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
        let Given { endpoint, headers: own, secrets } = Given::of(target)?;
        let connector = Connector::new(&endpoint.origin, target)?;
        let admission = Admission::of(target, &endpoint, &secrets)?;
        Ok(Wire {
            caller: Arc::new(Caller::new(connector, endpoint, target.idle_timeout, secrets)),
            limit: target.max_message,
            own,
            admission,
            recorder: OnceLock::new(),
            state: Mutex::default(),
        })
    }

    /// One for another session, over the same connections.
    pub(super) fn again(&self) -> Wire {
        Wire {
            caller: Arc::clone(&self.caller),
            limit: self.limit,
            own: self.own.clone(),
            admission: self.admission.again(),
            recorder: OnceLock::new(),
            state: Mutex::default(),
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
        self.record(&frame, envelope.status);
        self.push(Incoming::on(stream.clone(), frame, Some(envelope.clone())));
    }

    /// Something came that is for nobody but the transcript.
    pub(super) fn record(&self, frame: &Frame, status: Option<u16>) {
        if let Some(recorder) = self.recorder.get() {
            recorder.answered(frame, status);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Wire").field(&self.caller).finish()
    }
}

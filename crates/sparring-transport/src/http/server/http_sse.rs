//! HTTP+SSE (2024-11-05, basic/transports#http-with-sse): the client posts messages, the server
//! answers on one stream, and the session ends with the stream.

use std::sync::Arc;
use std::task::{Context, Poll};

use http::{HeaderMap, Response, StatusCode};
use sparring_peer::link::{Envelope, Incoming, LinkKind, Stream};
use sparring_wire::{Frame, FrameKind};

use super::auth::Owner;
use super::body::{Body, EventSource, StreamStatus};
use super::legacy::{invalid_message, post_refusal, start_session};
use super::reply::{self, Refusal};
use super::session::{PostError, Reader, Registry, Session, SessionEntry, SessionId};
use super::{Shared, negotiation};
use crate::http::sse::Event;

/// The URL parameter with the session id.
const SESSION_PARAMETER: &str = "sessionId";

/// Opens the stream; its first event names the post URL.
pub(super) fn open_stream(
    shared: &Shared,
    headers: &HeaderMap,
    owner: Owner,
) -> Result<Response<Body>, Refusal> {
    negotiation::check_accepts_events(headers)?;
    let (id, session, running) = start_session(shared, LinkKind::Shared)?;
    let reader =
        session.read(Session::STANDING, None).map_err(|_| post_refusal(PostError::Ended))?;
    let entry = SessionEntry { session, running, revision: None, owner };
    let inserted = shared.registry.insert(id.clone(), entry);
    inserted.map_err(|_| Refusal::unavailable("too many sessions"))?;
    let url = format!("{}?{SESSION_PARAMETER}={}", shared.options.message_path, id.as_str());
    let mut preface = Vec::new();
    Event { name: Some("endpoint".to_owned()), ..Event::data(url) }.write(&mut preface);
    let reader = reader.for_http_sse(preface);
    let source = SseSource { reader, id, registry: Arc::clone(&shared.registry) };
    Ok(reply::events(Body::events(source, shared.options.keep_alive)))
}

/// Accepts a message; its answer is sent on the stream.
pub(super) fn post(
    shared: &Shared,
    query: &str,
    owner: &Owner,
    frame: Frame,
    envelope: Envelope,
) -> Result<Response<Body>, Refusal> {
    let session = find_session(shared, query, owner)?;
    if frame.kind() == FrameKind::Other && frame.result().is_none() && frame.error().is_none() {
        return Err(invalid_message(&frame));
    }
    session
        .post(Incoming::from_frame(Stream::Connection, frame, Some(envelope)))
        .map_err(post_refusal)?;
    Ok(reply::empty(StatusCode::ACCEPTED))
}

/// Finds the session of a message.
pub(super) fn find_session(
    shared: &Shared,
    query: &str,
    owner: &Owner,
) -> Result<Arc<Session>, Refusal> {
    let Some(id) = session_id(query) else {
        return Err(Refusal::bad_request(format!("missing parameter {SESSION_PARAMETER}")));
    };
    match shared.registry.find(id, owner) {
        Some((session, None)) => Ok(session),
        _ => Err(post_refusal(PostError::Ended)),
    }
}

/// Returns true if a message names an existing session.
pub(super) fn names_session(shared: &Shared, query: &str) -> bool {
    session_id(query).is_some_and(|id| shared.registry.contains(id))
}

fn session_id(query: &str) -> Option<&str> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == SESSION_PARAMETER).map(|(_, id)| id)
}

/// The stream; dropping it ends the session.
struct SseSource {
    reader: Reader,
    id: SessionId,
    registry: Arc<Registry>,
}

impl EventSource for SseSource {
    fn poll_write(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<StreamStatus> {
        self.reader.poll_write(cx, out)
    }

    fn bytes_per_second(&mut self) -> Option<u64> {
        self.reader.bytes_per_second()
    }
}

impl Drop for SseSource {
    fn drop(&mut self) {
        drop(self.registry.remove(&self.id));
    }
}

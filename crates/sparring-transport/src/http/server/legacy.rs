//! Sessions over Streamable HTTP (2025-03-26 to 2025-11-25, basic/transports): started by
//! `initialize`, identified by an id, used with POST and GET, ended by DELETE.

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use http::{HeaderMap, HeaderValue, Response, StatusCode};
use sparring_peer::link::{Envelope, Incoming, Link as _, LinkKind, Recorder, Stream};
use sparring_peer::server::core::MAX_BATCH_FRAMES;
use sparring_wire::{Frame, FrameKind, Id, Json, Revision};

use super::auth::Owner;
use super::body::{Body, EventSource, StreamStatus};
use super::reply::{self, Refusal};
use super::session::{
    Limits, PostError, Reader, ResumeError, Session, SessionEntry, SessionId, SessionLink,
    StreamStart,
};
use super::{Shared, modern, negotiation, version_in};

/// The header with a session's id.
pub(super) const SESSION_HEADER: &str = "mcp-session-id";
/// The header with the id of the last event that a client received.
const LAST_EVENT_ID: &str = "last-event-id";

/// Handles a posted frame that names no modern revision.
pub(super) async fn post(
    shared: &Shared,
    headers: &HeaderMap,
    owner: &Owner,
    frame: Frame,
    envelope: Envelope,
) -> Result<Response<Body>, Refusal> {
    let begins = frame.kind() == FrameKind::Request && frame.method() == Some("initialize");
    if begins && !headers.contains_key(SESSION_HEADER) {
        return open_session(shared, owner.clone(), frame, envelope).await;
    }
    let (session, revision) = find_session(shared, headers, owner)?;
    match frame.kind() {
        FrameKind::Batch => post_batch(shared, &session, revision, frame, envelope).await,
        FrameKind::Request => {
            let Some(id) = frame.id().cloned() else { return Err(invalid_message(&frame)) };
            let incoming = Incoming::from_frame(Stream::Request(id.clone()), frame, Some(envelope));
            let reader = session.request(vec![id.clone()], incoming);
            let reader = reader.map_err(|full| post_refusal(full).with_id(Some(&id)))?;
            respond(shared, reader, revision).await
        }
        FrameKind::Notification | FrameKind::Result | FrameKind::Error => {
            accept_message(&session, frame, envelope)
        }
        // A response is never answered, even if it is invalid.
        FrameKind::Other if frame.result().is_some() || frame.error().is_some() => {
            accept_message(&session, frame, envelope)
        }
        FrameKind::Other => Err(invalid_message(&frame)),
    }
}

/// Opens a stream: the standing stream, or the rest of one that broke
/// (basic/transports#resumability-and-redelivery).
pub(super) fn get(
    shared: &Shared,
    headers: &HeaderMap,
    owner: &Owner,
) -> Result<Response<Body>, Refusal> {
    negotiation::check_accepts_events(headers)?;
    let (session, revision) = find_session(shared, headers, owner)?;
    let reader = match headers.get(LAST_EVENT_ID) {
        None => {
            let reader = session
                .read(Session::STANDING, None)
                .map_err(|_| post_refusal(PostError::Ended))?;
            reader.with_priming(priming(shared, revision))
        }
        Some(last) => {
            let position = last.to_str().ok().and_then(|last| last.split_once('-'));
            let number = position.and_then(|(number, _)| number.parse().ok());
            let after = position.and_then(|(_, after)| after.parse::<u64>().ok());
            let read = match number.zip(after) {
                Some((number, after)) => session.read(number, Some(after)),
                None => Err(ResumeError::UnknownStream),
            };
            read.map_err(resume_refusal)?
        }
    };
    Ok(reply::events(Body::events(reader, shared.options.keep_alive)))
}

/// Ends a session.
pub(super) async fn delete(
    shared: &Shared,
    headers: &HeaderMap,
    owner: &Owner,
) -> Result<Response<Body>, Refusal> {
    find_session(shared, headers, owner)?;
    let id = session_id(headers).unwrap_or_default();
    let entry = shared.registry.take(id).ok_or_else(|| post_refusal(PostError::Ended))?;
    entry.running.stop().await;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// Starts a session, and registers it when `initialize` has succeeded.
async fn open_session(
    shared: &Shared,
    owner: Owner,
    frame: Frame,
    envelope: Envelope,
) -> Result<Response<Body>, Refusal> {
    if !shared.registry.can_make_room() {
        return Err(Refusal::unavailable("too many sessions"));
    }
    let Some(id) = frame.id().cloned() else { return Err(invalid_message(&frame)) };
    let (session_id, session, running) = start_session(shared, LinkKind::Streams)?;
    let incoming = Incoming::from_frame(Stream::Request(id.clone()), frame, Some(envelope));
    let mut reader = session.request(vec![id], incoming).map_err(post_refusal)?;
    let StreamStart::Answer(answer, _) = poll_fn(|cx| reader.poll_first(cx)).await else {
        return Err(Refusal::unavailable("the session ended during initialize").after_recording());
    };
    let agreed = answer.result().and_then(|result| result.get("protocolVersion"));
    let agreed = agreed.and_then(Json::as_str).and_then(|name| Revision::from_name(&name));
    let mut response = reply::json(StatusCode::OK, answer);
    if let Some(revision) = agreed {
        let value = HeaderValue::from_str(session_id.as_str());
        let entry = SessionEntry { session, running, revision: Some(revision), owner };
        let inserted = shared.registry.insert(session_id, entry);
        inserted.map_err(|_| Refusal::unavailable("too many sessions").after_recording())?;
        response.headers_mut().extend(value.ok().map(|value| (SESSION_HEADER_NAME, value)));
    }
    Ok(response)
}

const SESSION_HEADER_NAME: http::HeaderName = http::HeaderName::from_static(SESSION_HEADER);

/// Starts a peer for a new session.
pub(super) fn start_session(
    shared: &Shared,
    kind: LinkKind,
) -> Result<(SessionId, Arc<Session>, sparring_peer::server::ServerTask), Refusal> {
    let Some(id) = SessionId::random() else {
        return Err(Refusal::unavailable("no random bytes for a session id"));
    };
    let limits = Limits {
        replay: shared.options.replay_bytes,
        idle: shared.options.session_idle,
        kept_bytes: shared.registry.kept_bytes(),
    };
    let session = Session::new(kind, limits);
    let mut link = SessionLink::new(Arc::clone(&session), id.clone(), &shared.registry);
    if let Some(recorder) = &shared.recorder {
        link.set_recorder(recorder.for_another_connection());
    }
    Ok((id, session, shared.server.spawn_legacy_only(Box::new(link))))
}

/// Returns the recorder for frames that no peer receives: that of the session that the request
/// names, or a separate one.
pub(super) fn recorder_for(
    shared: &Shared,
    headers: &HeaderMap,
    owner: &Owner,
) -> Option<Recorder> {
    let all = shared.recorder.as_ref()?;
    let session = named_session(shared, headers, owner).and_then(|(session, _)| session.recorder());
    session.or_else(|| Some(all.for_another_connection()))
}

/// Returns true if a request names an existing session.
pub(super) fn names_session(shared: &Shared, headers: &HeaderMap) -> bool {
    session_id(headers).is_some_and(|id| shared.registry.contains(id))
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_HEADER)?.to_str().ok()
}

fn named_session(
    shared: &Shared,
    headers: &HeaderMap,
    owner: &Owner,
) -> Option<(Arc<Session>, Option<Revision>)> {
    shared.registry.find(session_id(headers)?, owner)
}

/// Finds the session that a request names, and checks the protocol version. The session of
/// another owner is refused like one that does not exist.
fn find_session(
    shared: &Shared,
    headers: &HeaderMap,
    owner: &Owner,
) -> Result<(Arc<Session>, Revision), Refusal> {
    if let Some(version) = version_in(headers) {
        let spoken = Revision::from_name(version).filter(|revision| !revision.is_modern());
        let known = spoken.is_some_and(|it| shared.server.revisions().contains(&it));
        if !known {
            return Err(modern::unsupported_version(version, shared.server.revisions()));
        }
    }
    if !headers.contains_key(SESSION_HEADER) {
        return Err(Refusal::bad_request("missing header Mcp-Session-Id"));
    }
    match named_session(shared, headers, owner) {
        Some((session, Some(revision))) => Ok((session, revision)),
        _ => Err(post_refusal(PostError::Ended)),
    }
}

/// Handles a batch, if the session's revision has batches (2025-03-26,
/// basic/transports#sending-messages-to-the-server).
async fn post_batch(
    shared: &Shared,
    session: &Arc<Session>,
    revision: Revision,
    frame: Frame,
    envelope: Envelope,
) -> Result<Response<Body>, Refusal> {
    // A batch of many small messages would need much more memory than its bytes.
    let frames: Vec<Frame> = frame.batch_items().take(MAX_BATCH_FRAMES + 1).collect();
    if frames.len() > MAX_BATCH_FRAMES {
        let message = format!("the batch has more than {MAX_BATCH_FRAMES} messages");
        return Err(Refusal::bad_request(message));
    }
    if frames.is_empty() || !revision.has_batches() {
        return Err(Refusal::bad_request("batches are not supported in this revision"));
    }
    let asks = |frame: &Frame| match frame.kind() {
        FrameKind::Request | FrameKind::Batch => true,
        FrameKind::Other => frame.result().is_none() && frame.error().is_none(),
        _ => false,
    };
    if !frames.iter().any(asks) {
        return accept_message(session, frame, envelope);
    }
    let mut seen = HashSet::new();
    let ids = frames.iter().filter(|frame| asks(frame)).filter_map(Frame::id);
    let ids: Vec<Id> = ids.filter(|id| seen.insert(*id)).cloned().collect();
    // Without an id there is no stream for an answer.
    let Some(first) = ids.first().cloned() else { return Err(invalid_message(&frames[0])) };
    let incoming = Incoming::from_frame(Stream::Request(first), frame, Some(envelope));
    let reader = session.request(ids, incoming).map_err(post_refusal)?;
    session.end_cancelled(&frames);
    respond(shared, reader, revision).await
}

fn accept_message(
    session: &Session,
    frame: Frame,
    envelope: Envelope,
) -> Result<Response<Body>, Refusal> {
    session
        .post(Incoming::from_frame(Stream::Connection, frame, Some(envelope)))
        .map_err(post_refusal)?;
    Ok(reply::empty(StatusCode::ACCEPTED))
}

/// Waits for the answer. An immediate answer is sent as JSON; after another frame or a long
/// silence the response is a stream.
async fn respond(
    shared: &Shared,
    mut reader: Reader,
    revision: Revision,
) -> Result<Response<Body>, Refusal> {
    let mut timer = None;
    let mut waited = false;
    let first = poll_fn(|cx| match reader.poll_first(cx) {
        Poll::Ready(first) => Poll::Ready(Some(first)),
        // Most answers are ready after the peer was polled once, and a timer would cost more
        // than they do.
        Poll::Pending if !std::mem::replace(&mut waited, true) => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        Poll::Pending => {
            let sleep = || Box::pin(tokio::time::sleep(shared.options.keep_alive));
            timer.get_or_insert_with(sleep).as_mut().poll(cx).map(|()| None)
        }
    });
    match first.await {
        Some(StreamStart::Answer(frame, faults)) => {
            return Ok(reply::answer(StatusCode::OK, frame, &faults));
        }
        Some(StreamStart::Ended) => return Err(post_refusal(PostError::Ended).after_recording()),
        Some(StreamStart::Nothing) => {
            return Ok(reply::events(Body::events(EmptySource, shared.options.keep_alive)));
        }
        Some(StreamStart::Events) => {}
        None => reader.start_events(),
    }
    let reader = reader.with_priming(priming(shared, revision));
    Ok(reply::events(Body::events(reader, shared.options.keep_alive)))
}

/// Returns the retry time for a priming event, if the client can read one. Clients before
/// 2025-11-25 treat an event without data as an invalid frame.
fn priming(shared: &Shared, revision: Revision) -> Option<std::time::Duration> {
    revision.starts_streams_with_id_event().then_some(shared.options.retry)
}

pub(super) fn post_refusal(error: PostError) -> Refusal {
    match error {
        PostError::Ended => Refusal::new(StatusCode::NOT_FOUND, "no such session"),
        PostError::Busy => Refusal::unavailable("the session is busy"),
        PostError::IdInUse => Refusal::bad_request("a request with this id is already running"),
    }
}

/// Refuses to resume a stream. Redelivery is optional (2025-11-25,
/// basic/transports#resumability-and-redelivery), but a client that named a position would
/// assume that nothing is missing. The status is not 404, which would mean that the session is
/// gone.
fn resume_refusal(error: ResumeError) -> Refusal {
    Refusal::bad_request(match error {
        ResumeError::UnknownStream => "unknown stream in Last-Event-ID",
        ResumeError::FramesDropped => "events after Last-Event-ID are not available any more",
    })
}

pub(super) fn invalid_message(frame: &Frame) -> Refusal {
    let first = frame.violations().first().map(|violation| violation.message.clone());
    Refusal::bad_request(first.unwrap_or_else(|| "not a message".to_owned())).with_id(frame.id())
}

/// A stream without events, for a cancelled request.
struct EmptySource;

impl EventSource for EmptySource {
    fn poll_write(
        &mut self,
        _: &mut std::task::Context<'_>,
        _: &mut Vec<u8>,
    ) -> Poll<StreamStatus> {
        Poll::Ready(StreamStatus::Done)
    }
}

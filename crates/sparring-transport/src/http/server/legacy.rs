//! Sessions over Streamable HTTP (2025-03-26 to 2025-11-25, basic/transports):
//! begun by `initialize`, known by an id, used by POST and GET, ended by DELETE.

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use http::{HeaderMap, HeaderValue, Response, StatusCode};
use sparring_peer::link::{Envelope, Incoming, Link as _, LinkKind, Recorder, Stream};
use sparring_wire::{Frame, FrameKind, Id, Json, Revision};

use super::body::{Body, Further, Source};
use super::reply::{self, Refusal};
use super::session::{Entry, First, Full, Hub, Limits, Reader, SessionId, SessionLink, Unkept};
use super::{Shared, modern, negotiation, version_in};

/// Where a session's id stands.
pub(super) const SESSION: &str = "mcp-session-id";
/// Where a client says what it has seen last of a stream.
const LAST_EVENT: &str = "last-event-id";

/// A frame was posted that names no modern revision.
pub(super) async fn post(
    shared: &Shared,
    headers: &HeaderMap,
    frame: Frame,
    envelope: Envelope,
) -> Result<Response<Body>, Refusal> {
    let begins = frame.kind() == FrameKind::Request && frame.method() == Some("initialize");
    if begins && !headers.contains_key(SESSION) {
        return open(shared, frame, envelope).await;
    }
    let (hub, revision) = find(shared, headers)?;
    match frame.kind() {
        FrameKind::Batch => batch(shared, &hub, revision, frame, envelope).await,
        FrameKind::Request => {
            let Some(id) = frame.id().cloned() else { return Err(no_message(&frame)) };
            let incoming = Incoming::on(Stream::Request(id.clone()), frame, Some(envelope));
            let reader = hub.request(vec![id.clone()], incoming);
            let reader = reader.map_err(|full| refused(full).to(Some(&id)))?;
            respond(shared, reader, revision).await
        }
        FrameKind::Notification | FrameKind::Result | FrameKind::Error => {
            accept(&hub, frame, envelope)
        }
        // Nobody answers an answer, not even a bad one.
        FrameKind::Other if frame.result().is_some() || frame.error().is_some() => {
            accept(&hub, frame, envelope)
        }
        FrameKind::Other => Err(no_message(&frame)),
    }
}

/// A client listens: for what belongs to no request, or for the rest of a
/// stream that broke off (basic/transports#resumability-and-redelivery).
pub(super) fn get(shared: &Shared, headers: &HeaderMap) -> Result<Response<Body>, Refusal> {
    negotiation::takes_events(headers)?;
    let (hub, revision) = find(shared, headers)?;
    let reader = match headers.get(LAST_EVENT) {
        None => {
            let reader = hub.read(Hub::STANDING, None).map_err(|_| refused(Full::Ended))?;
            reader.primed(priming(shared, revision))
        }
        Some(last) => {
            let place = last.to_str().ok().and_then(|last| last.split_once('-'));
            let number = place.and_then(|(number, _)| number.parse().ok());
            let after = place.and_then(|(_, after)| after.parse::<u64>().ok());
            let read = match number.zip(after) {
                Some((number, after)) => hub.read(number, Some(after)),
                None => Err(Unkept::Stream),
            };
            read.map_err(not_resumed)?
        }
    };
    Ok(reply::events(Body::events(reader, shared.options.keep_alive)))
}

/// A client ends its session.
pub(super) async fn delete(
    shared: &Shared,
    headers: &HeaderMap,
) -> Result<Response<Body>, Refusal> {
    find(shared, headers)?;
    let id = headers.get(SESSION).and_then(|id| id.to_str().ok()).unwrap_or_default();
    let entry = shared.registry.take(id).ok_or_else(|| refused(Full::Ended))?;
    entry.running.stop().await;
    Ok(reply::empty(StatusCode::NO_CONTENT))
}

/// Begins a session. It is kept once the handshake has succeeded.
async fn open(
    shared: &Shared,
    frame: Frame,
    envelope: Envelope,
) -> Result<Response<Body>, Refusal> {
    if !shared.registry.has_room() {
        return Err(Refusal::unavailable("too many sessions"));
    }
    let Some(id) = frame.id().cloned() else { return Err(no_message(&frame)) };
    let (session, hub, running) = begin(shared, LinkKind::Streams)?;
    let incoming = Incoming::on(Stream::Request(id.clone()), frame, Some(envelope));
    let mut reader = hub.request(vec![id], incoming).map_err(refused)?;
    let First::Answer(answer, _) = poll_fn(|cx| reader.poll_first(cx)).await else {
        return Err(Refusal::unavailable("the session ended as it began").after_all());
    };
    let agreed = answer.result().and_then(|result| result.get("protocolVersion"));
    let agreed = agreed.and_then(Json::as_str).and_then(|name| Revision::from_name(&name));
    let mut response = reply::json(StatusCode::OK, answer);
    if let Some(revision) = agreed {
        let value = HeaderValue::from_str(session.as_str());
        let entry = Entry { hub, running, revision: Some(revision) };
        let kept = shared.registry.keep(session, entry);
        kept.map_err(|_| Refusal::unavailable("too many sessions").after_all())?;
        response.headers_mut().extend(value.ok().map(|value| (SESSION_NAME, value)));
    }
    Ok(response)
}

const SESSION_NAME: http::HeaderName = http::HeaderName::from_static(SESSION);

/// Puts a peer to work on a session of its own.
pub(super) fn begin(
    shared: &Shared,
    kind: LinkKind,
) -> Result<(SessionId, Arc<Hub>, sparring_peer::server::Running), Refusal> {
    let Some(id) = SessionId::random() else {
        return Err(Refusal::unavailable("no randomness for a session"));
    };
    let limits = Limits { replay: shared.options.replay_bytes, idle: shared.options.session_idle };
    let hub = Hub::new(kind, limits);
    let mut link = SessionLink::new(Arc::clone(&hub), id.clone(), &shared.registry);
    if let Some(recorder) = &shared.recorder {
        link.record_to(recorder.another());
    }
    Ok((id, hub, shared.server.spawn_handshakes_only(Box::new(link))))
}

/// Where the frames of a request are recorded that no peer gets to see: with
/// those of the session that it names, or apart.
pub(super) fn recorder(shared: &Shared, headers: &HeaderMap) -> Option<Recorder> {
    let all = shared.recorder.as_ref()?;
    let session = named(shared, headers).and_then(|(hub, _)| hub.recorder());
    session.or_else(|| Some(all.another()))
}

/// Whether a request names a session that is there.
pub(super) fn is_in_session(shared: &Shared, headers: &HeaderMap) -> bool {
    named(shared, headers).is_some()
}

fn named(shared: &Shared, headers: &HeaderMap) -> Option<(Arc<Hub>, Option<Revision>)> {
    let id = headers.get(SESSION)?.to_str().ok()?;
    shared.registry.find(id)
}

/// The session that a request names, with a version that is spoken.
fn find(shared: &Shared, headers: &HeaderMap) -> Result<(Arc<Hub>, Revision), Refusal> {
    if let Some(version) = version_in(headers) {
        let spoken = Revision::from_name(version).filter(|revision| !revision.is_modern());
        let known = spoken.is_some_and(|it| shared.server.revisions().contains(&it));
        if !known {
            return Err(modern::unsupported(version, shared.server.revisions()));
        }
    }
    if !headers.contains_key(SESSION) {
        return Err(Refusal::bad_request("the header Mcp-Session-Id is missing"));
    }
    match named(shared, headers) {
        Some((hub, Some(revision))) => Ok((hub, revision)),
        _ => Err(refused(Full::Ended)),
    }
}

/// Several frames at once, where the session's revision has that (2025-03-26,
/// basic/transports#sending-messages-to-the-server).
async fn batch(
    shared: &Shared,
    hub: &Arc<Hub>,
    revision: Revision,
    frame: Frame,
    envelope: Envelope,
) -> Result<Response<Body>, Refusal> {
    let frames: Vec<Frame> = frame.batch().collect();
    if frames.is_empty() || !revision.has_batches() {
        return Err(Refusal::bad_request("a batch, which is not part of this revision"));
    }
    let asks = |frame: &Frame| match frame.kind() {
        FrameKind::Request | FrameKind::Batch => true,
        FrameKind::Other => frame.result().is_none() && frame.error().is_none(),
        _ => false,
    };
    if !frames.iter().any(asks) {
        return accept(hub, frame, envelope);
    }
    // There may be very many of them.
    let mut seen = HashSet::new();
    let ids = frames.iter().filter(|frame| asks(frame)).filter_map(Frame::id);
    let ids: Vec<Id> = ids.filter(|id| seen.insert(*id)).cloned().collect();
    // Without any id there is no stream that an answer could come on.
    let Some(first) = ids.first().cloned() else { return Err(no_message(&frames[0])) };
    let incoming = Incoming::on(Stream::Request(first), frame, Some(envelope));
    let reader = hub.request(ids, incoming).map_err(refused)?;
    respond(shared, reader, revision).await
}

fn accept(hub: &Hub, frame: Frame, envelope: Envelope) -> Result<Response<Body>, Refusal> {
    hub.post(Incoming::on(Stream::Standing, frame, Some(envelope))).map_err(refused)?;
    Ok(reply::empty(StatusCode::ACCEPTED))
}

/// Waits for the answer: by itself it is JSON, after something else or after
/// too long a silence it is a stream.
async fn respond(
    shared: &Shared,
    mut reader: Reader,
    revision: Revision,
) -> Result<Response<Body>, Refusal> {
    let mut alarm = None;
    let mut waited = false;
    let first = poll_fn(|cx| match reader.poll_first(cx) {
        Poll::Ready(first) => Poll::Ready(Some(first)),
        // Most answers are there once the peer had its turn, and setting an
        // alarm would cost more than they do.
        Poll::Pending if !std::mem::replace(&mut waited, true) => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        Poll::Pending => {
            let sleep = || Box::pin(tokio::time::sleep(shared.options.keep_alive));
            alarm.get_or_insert_with(sleep).as_mut().poll(cx).map(|()| None)
        }
    });
    match first.await {
        Some(First::Answer(frame, faults)) => {
            return Ok(reply::answer(StatusCode::OK, frame, &faults));
        }
        Some(First::Ended) => return Err(refused(Full::Ended).after_all()),
        Some(First::Nothing) => {
            return Ok(reply::events(Body::events(Silence, shared.options.keep_alive)));
        }
        Some(First::Events) => {}
        None => reader.begin(),
    }
    let reader = reader.primed(priming(shared, revision));
    Ok(reply::events(Body::events(reader, shared.options.keep_alive)))
}

/// Clients before 2025-11-25 take an event without data for a broken frame.
fn priming(shared: &Shared, revision: Revision) -> Option<std::time::Duration> {
    revision.has_primed_streams().then_some(shared.options.retry)
}

pub(super) fn refused(full: Full) -> Refusal {
    match full {
        Full::Ended => Refusal::new(StatusCode::NOT_FOUND, "there is no such session"),
        Full::Busy => Refusal::unavailable("the session has too much to do"),
        Full::InUse => Refusal::bad_request("a request of that id is being served"),
    }
}

/// Redelivery is what a server may do (2025-11-25,
/// basic/transports#resumability-and-redelivery), but a client that named its
/// place would take what comes for all that followed. Not 404, which would say
/// that the session is gone.
fn not_resumed(unkept: Unkept) -> Refusal {
    Refusal::bad_request(match unkept {
        Unkept::Stream => "the Last-Event-ID is of no stream that is kept",
        Unkept::Frames => "some of what followed the Last-Event-ID is not kept any more",
    })
}

pub(super) fn no_message(frame: &Frame) -> Refusal {
    let first = frame.violations().first().map(|violation| violation.message.clone());
    Refusal::bad_request(first.unwrap_or_else(|| "not a message".to_owned())).to(frame.id())
}

/// A stream on which nothing is said: the request was cancelled.
struct Silence;

impl Source for Silence {
    fn poll_write(&mut self, _: &mut std::task::Context<'_>, _: &mut Vec<u8>) -> Poll<Further> {
        Poll::Ready(Further::Nothing)
    }
}

//! HTTP+SSE (2024-11-05, basic/transports#http-with-sse): one stream down, posted
//! messages up, and a session that ends with its stream.

use std::sync::Arc;
use std::task::{Context, Poll};

use http::{HeaderMap, Response, StatusCode};
use sparring_peer::link::{Envelope, Incoming, LinkKind, Stream};
use sparring_wire::{Frame, FrameKind};

use super::body::{Body, Further, Source};
use super::legacy::{begin, no_message, refused};
use super::reply::{self, Refusal};
use super::session::{Entry, Full, Hub, Reader, Registry, SessionId};
use super::{Shared, negotiation};
use crate::http::sse::Event;

/// The parameter of a message's URL that names the session.
const SESSION: &str = "sessionId";

/// Opens the stream, which begins by saying where to post.
pub(super) fn open(shared: &Shared, headers: &HeaderMap) -> Result<Response<Body>, Refusal> {
    negotiation::takes_events(headers)?;
    let (id, hub, running) = begin(shared, LinkKind::Shared)?;
    let reader = hub.read(Hub::STANDING, None).map_err(|_| refused(Full::Ended))?;
    let entry = Entry { hub, running, revision: None };
    let kept = shared.registry.keep(id.clone(), entry);
    kept.map_err(|_| Refusal::unavailable("too many sessions"))?;
    let url = format!("{}?{SESSION}={}", shared.options.message_path, id.as_str());
    let mut preface = Vec::new();
    Event { name: Some("endpoint".to_owned()), ..Event::data(url) }.write(&mut preface);
    let reader = reader.old_style(preface);
    let source = Down { reader, id, registry: Arc::clone(&shared.registry) };
    Ok(reply::events(Body::events(source, shared.options.keep_alive)))
}

/// Takes a message in; its answer comes on the stream.
pub(super) fn post(
    shared: &Shared,
    query: &str,
    frame: Frame,
    envelope: Envelope,
) -> Result<Response<Body>, Refusal> {
    let hub = find(shared, query)?;
    if frame.kind() == FrameKind::Other && frame.result().is_none() && frame.error().is_none() {
        return Err(no_message(&frame));
    }
    hub.post(Incoming::on(Stream::Standing, frame, Some(envelope))).map_err(refused)?;
    Ok(reply::empty(StatusCode::ACCEPTED))
}

/// The session that a message is for.
pub(super) fn find(shared: &Shared, query: &str) -> Result<Arc<Hub>, Refusal> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let Some((_, id)) = pairs.find(|(name, _)| *name == SESSION) else {
        return Err(Refusal::bad_request(format!("the parameter {SESSION} is missing")));
    };
    match shared.registry.find(id) {
        Some((hub, None)) => Ok(hub),
        _ => Err(refused(Full::Ended)),
    }
}

/// The stream, with which the session goes.
struct Down {
    reader: Reader,
    id: SessionId,
    registry: Arc<Registry>,
}

impl Source for Down {
    fn poll_write(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<Further> {
        self.reader.poll_write(cx, out)
    }

    fn pace(&mut self) -> Option<u64> {
        self.reader.pace()
    }
}

impl Drop for Down {
    fn drop(&mut self) {
        drop(self.registry.remove(&self.id));
    }
}

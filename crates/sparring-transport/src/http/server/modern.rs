//! Requests that say everything themselves (since 2026-07-28): each is served
//! alone, within its own response, and ends with it.

use std::future::poll_fn;
use std::task::{Context, Poll};

use http::{Response, StatusCode};
use sparring_peer::link::{Envelope, Recorder};
use sparring_peer::server::Lone;
use sparring_wire::{ErrorObject, Frame, FrameKind, Json, Revision, code, mirror};

use super::body::{Body, Further, Source};
use super::drain::Ear;
use super::reply::{self, Refusal};
use super::{Shared, event};

/// Where a request says which revision it is of.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// How many frames are written before others get their turn.
const AT_ONCE: usize = 64;

/// Whether a frame says itself which revision it is of.
pub(super) fn names_its_revision(frame: &Frame) -> bool {
    frame.params().and_then(|params| params.at(&["_meta", VERSION])).is_some()
}

/// Whether the headers say that a request is of a modern revision.
pub(super) fn is_modern(version: Option<&str>) -> bool {
    version.and_then(Revision::from_name).is_some_and(Revision::is_modern)
}

/// Serves one frame and nothing else.
pub(super) async fn serve(
    shared: &Shared,
    frame: Frame,
    envelope: Envelope,
) -> Result<Response<Body>, Refusal> {
    let (options, recorder) = (&shared.options, shared.recorder.as_ref().map(Recorder::another));
    if let Some(recorder) = &recorder {
        recorder.received(&frame);
    }
    let mut alone = shared.server.answer(frame, Some(envelope)).over("http");
    let mut alarm = None;
    // An answer that takes long becomes a stream, for comments to flow in.
    let first = poll_fn(|cx| match alone.poll_next(cx) {
        Poll::Ready(frame) => Poll::Ready(Some(frame)),
        Poll::Pending => {
            let sleep = || Box::pin(tokio::time::sleep(options.keep_alive));
            alarm.get_or_insert_with(sleep).as_mut().poll(cx).map(|()| None)
        }
    });
    let first = match first.await {
        Some(Some(frame)) if is_final(&frame) => {
            let faults = alone.faults();
            if let Some(recorder) = &recorder {
                faults.applied_to(&frame).iter().for_each(|frame| recorder.sent(frame));
            }
            let status = status_of(&frame, alone.was_admitted());
            return Ok(reply::answer(status, frame, faults));
        }
        Some(None) => return Ok(reply::empty(StatusCode::ACCEPTED)),
        Some(first) => first,
        None => None,
    };
    let source = Frames { alone, first, ear: shared.drain.ear(), recorder, pace: None };
    Ok(reply::events(Body::events(source, options.keep_alive)))
}

/// What does not say its revision and is taken for modern all the same: no
/// request may do so, whether its headers do (basic#_meta) or do not either
/// (basic/transports/streamable-http#server-validation), and responses are not to
/// be sent at all.
pub(super) fn check_nameless(frame: &Frame, version: Option<&str>) -> Result<(), Refusal> {
    match frame.kind() {
        FrameKind::Request => {
            let error = match version {
                Some(_) => ErrorObject::invalid_params(format!("_meta: {VERSION} is missing")),
                None => ErrorObject::new(
                    code::HEADER_MISMATCH,
                    format!("the header {} is missing", mirror::PROTOCOL_VERSION),
                ),
            };
            Err(Refusal::with(StatusCode::BAD_REQUEST, error).to(frame.id()))
        }
        FrameKind::Result | FrameKind::Error => {
            Err(Refusal::bad_request("a client sends no responses in this revision"))
        }
        _ => Ok(()),
    }
}

/// The status of an answer that comes alone (2026-07-28,
/// basic/transports/streamable-http#protocol-version-header, #server-validation,
/// basic#_meta): what was refused before any work began is a bad request.
fn status_of(frame: &Frame, admitted: bool) -> StatusCode {
    let code = frame.error().and_then(|error| error.get("code")).and_then(Json::as_i64);
    match code {
        None => StatusCode::OK,
        Some(code::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(
            code::HEADER_MISMATCH
            | code::MISSING_REQUIRED_CLIENT_CAPABILITY
            | code::UNSUPPORTED_PROTOCOL_VERSION,
        ) => StatusCode::BAD_REQUEST,
        Some(_) if !admitted => StatusCode::BAD_REQUEST,
        Some(_) => StatusCode::OK,
    }
}

/// A version that is not spoken at all, in the words of the revisions that have
/// words for it.
pub(super) fn unsupported(requested: &str, spoken: &[Revision]) -> Refusal {
    let mut supported = spoken.to_vec();
    supported.sort_unstable_by(|one, other| other.cmp(one));
    let supported: Vec<_> = supported.into_iter().map(Revision::name).collect();
    let message = format!(
        "the header {} names {requested:?}; supported: {}",
        mirror::PROTOCOL_VERSION,
        supported.join(", ")
    );
    let error = match spoken.iter().any(|revision| revision.is_modern()) {
        true => ErrorObject::new(code::UNSUPPORTED_PROTOCOL_VERSION, message)
            .with_data(serde_json::json!({"supported": supported, "requested": requested})),
        false => ErrorObject::invalid_request(message),
    };
    Refusal::with(StatusCode::BAD_REQUEST, error)
}

pub(super) fn is_final(frame: &Frame) -> bool {
    matches!(frame.kind(), FrameKind::Result | FrameKind::Error)
}

/// The frames of one request as they come. Dropped, as when the client closes
/// the stream, the request is given up (2026-07-28,
/// basic/transports/streamable-http#cancellation).
struct Frames {
    alone: Lone,
    first: Option<Frame>,
    ear: Ear,
    recorder: Option<Recorder>,
    /// How slowly what was written last is to go out.
    pace: Option<u64>,
}

impl Source for Frames {
    fn poll_write(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<Further> {
        if self.ear.poll(cx).is_ready() {
            self.alone.end();
        }
        for _ in 0..AT_ONCE {
            let next = match self.first.take() {
                Some(first) => Poll::Ready(Some(first)),
                None => self.alone.poll_next(cx),
            };
            match next {
                Poll::Ready(Some(frame)) => {
                    let faults = self.alone.faults();
                    if let Some(recorder) = &self.recorder {
                        faults.applied_to(&frame).iter().for_each(|frame| recorder.sent(frame));
                    }
                    event::write_with(&frame, faults, (None, None), out);
                    if let Some(fault) = faults.get() {
                        self.pace = fault.slow;
                        return Poll::Ready(Further::More.with(fault));
                    }
                }
                Poll::Ready(None) => return Poll::Ready(Further::Nothing),
                Poll::Pending if out.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(Further::More)
    }

    fn pace(&mut self) -> Option<u64> {
        self.pace.take()
    }
}

//! Requests without a session (since 2026-07-28): each one is complete, is answered in its own
//! response, and ends with it.

use std::future::poll_fn;
use std::task::{Context, Poll};

use http::{Response, StatusCode};
use sparring_peer::link::{Envelope, Recorder};
use sparring_peer::server::AnySingleRequest;
use sparring_wire::{ErrorObject, Frame, FrameKind, Json, Revision, code, mirrored_headers};

use super::body::{Body, EventSource, StreamStatus};
use super::reply::{self, Refusal};
use super::shutdown_signal::ShutdownWaiter;
use super::{Shared, body};

/// The key in `_meta` with the request's revision.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The maximum number of frames that are written before other tasks run.
const MAX_FRAMES_PER_WRITE: usize = 64;

/// The number of bytes that are written at once, unless one event is larger.
const MAX_WRITE_BYTES: usize = 256 * 1024;

/// Returns true if a frame names its revision.
pub(super) fn names_revision(frame: &Frame) -> bool {
    frame.params().and_then(|params| params.get_path(&["_meta", VERSION_KEY])).is_some()
}

/// Returns true if the version in the headers is a modern revision.
pub(super) fn is_modern(version: Option<&str>) -> bool {
    version.and_then(Revision::from_name).is_some_and(Revision::is_modern)
}

/// Answers one frame.
pub(super) async fn serve(
    shared: &Shared,
    frame: Frame,
    envelope: Envelope,
) -> Result<Response<Body>, Refusal> {
    let (options, recorder) =
        (&shared.options, shared.recorder.as_ref().map(Recorder::for_another_connection));
    if let Some(recorder) = &recorder {
        recorder.record_received(&frame);
    }
    let mut request =
        shared.server.serve_request(frame, Some(envelope)).with_transport_name("http");
    let mut timer = None;
    // A slow answer becomes a stream, which can carry comments.
    let first = poll_fn(|cx| match request.poll_next(cx) {
        Poll::Ready(frame) => Poll::Ready(Some(frame)),
        Poll::Pending => {
            let sleep = || Box::pin(tokio::time::sleep(options.keep_alive));
            timer.get_or_insert_with(sleep).as_mut().poll(cx).map(|()| None)
        }
    });
    let first = match first.await {
        Some(Some(frame)) if is_final(&frame) => {
            let faults = request.faults();
            if let Some(recorder) = &recorder {
                faults.apply(&frame).iter().for_each(|frame| recorder.record_sent(frame));
            }
            let status = status_of(&frame, request.was_admitted());
            return Ok(reply::answer(status, frame, faults));
        }
        Some(None) => return Ok(reply::empty(StatusCode::ACCEPTED)),
        Some(first) => first,
        None => None,
    };
    let source = FrameSource {
        request,
        first,
        shutdown: shared.shutdown.subscribe(),
        recorder,
        bytes_per_second: None,
    };
    Ok(reply::events(Body::events(source, options.keep_alive)))
}

/// Checks a frame that is treated as modern and does not name its revision. A request is
/// refused: its metadata lacks the revision (basic#_meta), or its headers lack it too
/// (basic/transports/streamable-http#server-validation). Responses must not be sent at all.
pub(super) fn check_without_revision(
    frame: &Frame,
    version: Option<&str>,
    spoken: &[Revision],
) -> Result<(), Refusal> {
    match frame.kind() {
        FrameKind::Request => {
            let error = match version {
                Some(_) => ErrorObject::invalid_params(format!("_meta: {VERSION_KEY} is missing")),
                None => missing_version(frame, spoken),
            };
            Err(Refusal::with_error(StatusCode::BAD_REQUEST, error).with_id(frame.id()))
        }
        FrameKind::Result | FrameKind::Error => {
            Err(Refusal::bad_request("responses from clients are not supported in this revision"))
        }
        _ => Ok(()),
    }
}

/// Returns the error for a request without the header. A client of earlier revisions gets the
/// supported versions, because it may show nothing else to its user (basic/versioning).
fn missing_version(frame: &Frame, spoken: &[Revision]) -> ErrorObject {
    let header = mirrored_headers::PROTOCOL_VERSION_HEADER;
    let message = match frame.method() {
        Some("initialize") => {
            let names: Vec<_> = spoken.iter().map(|it| it.name()).collect();
            format!("missing header {header}; supported protocol versions: {}", names.join(", "))
        }
        _ => format!("missing header {header}"),
    };
    ErrorObject::new(code::HEADER_MISMATCH, message)
}

/// Returns the status of a single answer (2026-07-28,
/// basic/transports/streamable-http#protocol-version-header, #server-validation, basic#_meta):
/// a request that was refused before any work began is a bad request.
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

/// Refuses an unsupported version, with the error code of the modern revisions if one is
/// supported.
pub(super) fn unsupported_version(requested: &str, spoken: &[Revision]) -> Refusal {
    let mut supported = spoken.to_vec();
    supported.sort_unstable_by(|one, other| other.cmp(one));
    let supported: Vec<_> = supported.into_iter().map(Revision::name).collect();
    let message = format!(
        "unsupported protocol version in header {}: {requested:?}; supported: {}",
        mirrored_headers::PROTOCOL_VERSION_HEADER,
        supported.join(", ")
    );
    let error = match spoken.iter().any(|revision| revision.is_modern()) {
        true => ErrorObject::new(code::UNSUPPORTED_PROTOCOL_VERSION, message)
            .with_data(serde_json::json!({"supported": supported, "requested": requested})),
        false => ErrorObject::invalid_request(message),
    };
    Refusal::with_error(StatusCode::BAD_REQUEST, error)
}

pub(super) fn is_final(frame: &Frame) -> bool {
    matches!(frame.kind(), FrameKind::Result | FrameKind::Error)
}

/// The frames of one request as they arrive. Dropping it, for example when the client closes
/// the stream, cancels the request (2026-07-28, basic/transports/streamable-http#cancellation).
struct FrameSource {
    request: AnySingleRequest,
    first: Option<Frame>,
    shutdown: ShutdownWaiter,
    recorder: Option<Recorder>,
    /// The speed limit of the last written bytes.
    bytes_per_second: Option<u64>,
}

impl EventSource for FrameSource {
    fn poll_write(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<StreamStatus> {
        if self.shutdown.poll(cx).is_ready() {
            self.request.end_subscription();
        }
        for _ in 0..MAX_FRAMES_PER_WRITE {
            if out.len() >= MAX_WRITE_BYTES {
                break;
            }
            let next = match self.first.take() {
                Some(first) => Poll::Ready(Some(first)),
                None => self.request.poll_next(cx),
            };
            match next {
                Poll::Ready(Some(frame)) => {
                    let faults = self.request.faults();
                    if let Some(recorder) = &self.recorder {
                        faults.apply(&frame).iter().for_each(|frame| recorder.record_sent(frame));
                    }
                    body::write_event_with_faults(&frame, faults, (None, None), out);
                    if let Some(fault) = faults.get() {
                        self.bytes_per_second = fault.bytes_per_second;
                        return Poll::Ready(StreamStatus::More.with_fault(fault));
                    }
                }
                Poll::Ready(None) => return Poll::Ready(StreamStatus::Done),
                Poll::Pending if out.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(StreamStatus::More)
    }

    fn bytes_per_second(&mut self) -> Option<u64> {
        self.bytes_per_second.take()
    }
}

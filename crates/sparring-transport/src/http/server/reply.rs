//! Responses that are whole from the start: answers in JSON, acknowledgements,
//! and refusals in words.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use sparring_peer::link::{Cut, Fault, Faults};
use sparring_wire::{ErrorObject, Frame, Id, code};

use super::body::Body;
use super::event;
use super::negotiation::{EVENTS, JSON};

/// Why a request is not served.
#[derive(Debug)]
pub(super) struct Refusal(Box<Inner>);

#[derive(Debug)]
struct Inner {
    status: StatusCode,
    error: ErrorObject,
    id: Option<Id>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Whether a session had taken the frame in before, and recorded it.
    seen: bool,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Refusal::with(status, ErrorObject::new(code::INVALID_REQUEST, message))
    }

    pub(super) fn with(status: StatusCode, error: ErrorObject) -> Self {
        Refusal(Box::new(Inner { status, error, id: None, headers: Vec::new(), seen: false }))
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::FORBIDDEN, message)
    }

    /// The way to a path that is there is another; `Allow` says which.
    pub(super) fn method_not_allowed(allow: &'static str) -> Self {
        Refusal::new(StatusCode::METHOD_NOT_ALLOWED, format!("only {allow} are served here"))
            .header(http::header::ALLOW, HeaderValue::from_static(allow))
    }

    /// Not now; a little later perhaps.
    pub(super) fn unavailable(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, message)
            .header(http::header::RETRY_AFTER, HeaderValue::from_static("1"))
    }

    /// Whether it did not come in time, or comes when the end has begun: then
    /// what is missing of it is not waited for.
    pub(super) fn is_for_lateness(&self) -> bool {
        let late = [StatusCode::REQUEST_TIMEOUT, StatusCode::SERVICE_UNAVAILABLE];
        late.contains(&self.0.status)
    }

    #[must_use]
    pub(super) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.push((name, value));
        self
    }

    /// Answers the request of that id.
    #[must_use]
    pub(super) fn to(mut self, id: Option<&Id>) -> Self {
        self.0.id = id.cloned();
        self
    }

    /// The session ended after it had taken the frame in.
    #[must_use]
    pub(super) fn after_all(mut self) -> Self {
        self.0.seen = true;
        self
    }

    /// Whether nobody has recorded the frame that it refuses.
    pub(super) fn is_of_the_unseen(&self) -> bool {
        !self.0.seen
    }

    /// The refusal as a JSON-RPC error; without an id where it answers no request
    /// (2025-11-25, basic/transports#sending-messages-to-the-server).
    pub(super) fn frame(&self) -> Frame {
        Frame::error_of(self.0.id.as_ref(), false, &self.0.error)
    }

    /// The refusal as a response.
    pub(super) fn response(self) -> Response<Body> {
        let mut response = json(self.0.status, self.frame());
        // There may be more than one challenge.
        for (name, value) in self.0.headers {
            response.headers_mut().append(name, value);
        }
        response
    }
}

/// One frame, whole.
pub(super) fn json(status: StatusCode, frame: Frame) -> Response<Body> {
    let mut response = Response::new(Body::whole(Bytes::from_owner(Spelled(frame))));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// One frame, whole, with what is to go wrong with it.
pub(super) fn answer(status: StatusCode, frame: Frame, faults: &Faults) -> Response<Body> {
    let Some(fault) = faults.get() else { return json(status, frame) };
    let mut response = if fault.drop_stream {
        let cut = Fault { cut: Some(Cut::Before), ..fault.clone() };
        events(Body::spoilt(Bytes::new(), None, &cut))
    } else if fault.twice {
        // Only a stream can bring two.
        let mut bytes = Vec::new();
        event::write_with(&frame, faults, (None, None), &mut bytes);
        events(Body::spoilt(bytes.into(), None, fault))
    } else {
        let frames = faults.applied_to(&frame);
        let bytes: Vec<u8> = frames.iter().flat_map(|frame| frame.bytes()).copied().collect();
        let ends = fault.cut == Some(Cut::After);
        // What breaks off was said to be longer.
        let breaks = fault.cut.is_some() && !ends;
        let length = if breaks { frame.bytes().len() + 1 } else { bytes.len() };
        let mut response = json(status, frame);
        let fault = Fault { cut: fault.cut.filter(|_| breaks), ..fault.clone() };
        *response.body_mut() = Body::spoilt(bytes.into(), Some(length), &fault);
        if ends {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    };
    if let Some(status) = fault.status.and_then(|status| StatusCode::from_u16(status).ok()) {
        *response.status_mut() = status;
    }
    let content_type = fault.content_type.as_deref().map(HeaderValue::from_str);
    if let Some(Ok(content_type)) = content_type {
        response.headers_mut().insert(CONTENT_TYPE, content_type);
    }
    response
}

/// A document of our own, in JSON.
pub(super) fn document(text: String) -> Response<Body> {
    let mut response = Response::new(Body::whole(text.into()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// A stream of events, which nobody on the way shall keep or hold back
/// (2026-07-28, basic/transports/streamable-http#receiving-messages).
pub(super) fn events(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// No body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A frame's bytes, kept by the frame.
struct Spelled(Frame);

impl AsRef<[u8]> for Spelled {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

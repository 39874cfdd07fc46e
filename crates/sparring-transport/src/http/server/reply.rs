//! Complete responses: answers in JSON, acknowledgements, refusals and CORS headers.
//!
//! The guard against DNS rebinding decides which pages may send requests.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, ALLOW, CACHE_CONTROL,
    CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue, VARY,
};
use http::{HeaderMap, Response, StatusCode};
use sparring_peer::link::{Disconnect, Fault, Faults};
use sparring_wire::{ErrorObject, Frame, Id, code};

use super::body::{self, Body};
use super::negotiation::{EVENTS, JSON};

/// The reason why a request is refused.
#[derive(Debug)]
pub(super) struct Refusal(Box<RefusalParts>);

#[derive(Debug)]
struct RefusalParts {
    status: StatusCode,
    error: ErrorObject,
    id: Option<Id>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// True if a session received the frame before, and recorded it.
    recorded: bool,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Refusal::with_error(status, ErrorObject::new(code::INVALID_REQUEST, message))
    }

    pub(super) fn with_error(status: StatusCode, error: ErrorObject) -> Self {
        Refusal(Box::new(RefusalParts {
            status,
            error,
            id: None,
            headers: Vec::new(),
            recorded: false,
        }))
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::BAD_REQUEST, message)
    }

    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::FORBIDDEN, message)
    }

    /// Refuses a method; `Allow` names the supported ones.
    pub(super) fn method_not_allowed(allow: &'static str) -> Self {
        Refusal::new(StatusCode::METHOD_NOT_ALLOWED, format!("allowed methods: {allow}"))
            .with_header(ALLOW, HeaderValue::from_static(allow))
    }

    /// Refuses for now; the client may retry.
    pub(super) fn unavailable(message: impl Into<String>) -> Self {
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, message)
            .with_header(http::header::RETRY_AFTER, HeaderValue::from_static("1"))
    }

    /// Returns true if the request was late or arrived during the shutdown; the rest of its
    /// body is not read.
    pub(super) fn is_timeout_or_shutdown(&self) -> bool {
        let late = [StatusCode::REQUEST_TIMEOUT, StatusCode::SERVICE_UNAVAILABLE];
        late.contains(&self.0.status)
    }

    #[must_use]
    pub(super) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.push((name, value));
        self
    }

    /// Sets the id of the refused request.
    #[must_use]
    pub(super) fn with_id(mut self, id: Option<&Id>) -> Self {
        self.0.id = id.cloned();
        self
    }

    /// Marks that a session received the frame before it ended.
    #[must_use]
    pub(super) fn after_recording(mut self) -> Self {
        self.0.recorded = true;
        self
    }

    /// Returns true if the refused frame is not recorded yet.
    pub(super) fn needs_recording(&self) -> bool {
        !self.0.recorded
    }

    /// Returns the refusal as a JSON-RPC error; without an id if it answers no request
    /// (2025-11-25, basic/transports#sending-messages-to-the-server).
    pub(super) fn frame(&self) -> Frame {
        Frame::error_response(self.0.id.as_ref(), false, &self.0.error)
    }

    /// Returns the refusal as a response.
    pub(super) fn response(self) -> Response<Body> {
        let mut response = json(self.0.status, self.frame());
        // Several challenges may have the same name.
        for (name, value) in self.0.headers {
            response.headers_mut().append(name, value);
        }
        response
    }
}

/// Creates a response with one frame.
pub(super) fn json(status: StatusCode, frame: Frame) -> Response<Body> {
    let mut response = Response::new(Body::whole(Bytes::from_owner(FrameBytes(frame))));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// Creates a response with one frame and applies the faults.
pub(super) fn answer(status: StatusCode, frame: Frame, faults: &Faults) -> Response<Body> {
    let Some(fault) = faults.get() else { return json(status, frame) };
    let mut response = if fault.drop_stream {
        let cut = Fault { disconnect: Some(Disconnect::Before), ..fault.clone() };
        events(Body::faulty(Bytes::new(), None, &cut))
    } else if fault.duplicate {
        // Only a stream can carry two frames.
        let mut bytes = Vec::new();
        body::write_event_with_faults(&frame, faults, (None, None), &mut bytes);
        events(Body::faulty(bytes.into(), None, fault))
    } else {
        let frames = faults.apply(&frame);
        let bytes: Vec<u8> = frames.iter().flat_map(|frame| frame.bytes()).copied().collect();
        let ends = fault.disconnect == Some(Disconnect::After);
        // A cut body was announced as longer.
        let breaks = fault.disconnect.is_some() && !ends;
        let length = if breaks { frame.bytes().len() + 1 } else { bytes.len() };
        let mut response = json(status, frame);
        let fault = Fault { disconnect: fault.disconnect.filter(|_| breaks), ..fault.clone() };
        *response.body_mut() = Body::faulty(bytes.into(), Some(length), &fault);
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

/// Creates a response with a JSON document.
pub(super) fn document(text: String) -> Response<Body> {
    let mut response = Response::new(Body::whole(text.into()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

/// Creates a response with an event stream, which proxies must not cache or buffer (2026-07-28,
/// basic/transports/streamable-http#receiving-messages).
pub(super) fn events(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// Creates a response without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// Allows pages of an origin to read the response.
pub(super) fn expose_to_origin(response: &mut Response<Body>, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    let exposed = HeaderValue::from_static("mcp-session-id, www-authenticate");
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    headers.append(VARY, HeaderValue::from_static("origin"));
}

/// Names the supported methods and, for a preflight request, the allowed headers.
pub(super) fn options_response(asked: &HeaderMap, allow: &'static str) -> Response<Body> {
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(ALLOW, HeaderValue::from_static(allow));
    if let Some(wanted) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(allow));
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    response
}

/// The bytes of a frame, owned by the frame.
struct FrameBytes(Frame);

impl AsRef<[u8]> for FrameBytes {
    fn as_ref(&self) -> &[u8] {
        self.0.bytes()
    }
}

//! Routes a request by its path and method, after the checks that protect the server.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use sparring_peer::ReservedBytes;
use sparring_peer::link::Envelope;
use sparring_wire::{ErrorObject, Frame, FrameKind, Headers, Rule, code};

use super::auth::{Access, Owner};
use super::body::Body;
use super::exchange_recorder::ExchangeRecorder;
use super::metadata::WELL_KNOWN;
use super::options::{ExtraRequest, ExtraRoutes};
use super::read_body::ReceivedBody;
use super::rebinding_guard::{self, Reachability};
use super::reply::{self, Refusal};
use super::{Shared, http_sse, legacy, modern, negotiation, read_body, version_in};

/// The timeout of the body of a client's answer during the shutdown.
const GRACE: Duration = Duration::from_secs(1);

/// The routes of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    Mcp,
    Sse,
    Messages,
    Metadata,
}

/// Answers one request.
pub(super) async fn handle<B>(
    shared: Arc<Shared>,
    request: Request<B>,
    reach: Reachability,
) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    let (parts, body) = request.into_parts();
    let Some(recorder) = shared.recorder.clone() else {
        return answer_request(&shared, &parts, body, reach).await;
    };
    let mut exchange = ExchangeRecorder::new(recorder, &parts);
    let response = answer_request(&shared, &parts, body, reach).await;
    exchange.record_head(&response);
    response.map(|body| body.recorded_by(exchange))
}

async fn answer_request<B>(
    shared: &Shared,
    parts: &Parts,
    body: B,
    reach: Reachability,
) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send,
{
    let body = pin!(body);
    let mut body = body.fuse();
    if let Err(refusal) = rebinding_guard::check(parts, &shared.options, reach) {
        read_body::discard_body(Pin::new(&mut body), &parts.headers).await;
        return refusal.response();
    }
    let answered = match shared.extra_routes_for(parts.uri.path()) {
        Some(beside) => answer_extra_route(shared, beside, parts, Pin::new(&mut body), reach).await,
        None => dispatch(shared, parts, Pin::new(&mut body)).await,
    };
    if answered.as_ref().is_err_and(|refusal| !refusal.is_timeout_or_shutdown()) {
        read_body::discard_body(Pin::new(&mut body), &parts.headers).await;
    }
    let mut response = answered.unwrap_or_else(Refusal::response);
    // Pages of an allowed origin may read the response.
    if let Some(origin) = parts.headers.get(ORIGIN) {
        reply::expose_to_origin(&mut response, origin.clone());
    }
    response
}

/// Answers a request on a path outside of the protocol.
async fn answer_extra_route<B>(
    shared: &Shared,
    beside: &dyn ExtraRoutes,
    parts: &Parts,
    body: Pin<&mut B>,
    reach: Reachability,
) -> Result<Response<Body>, Refusal>
where
    B: http_body::Body<Data = Bytes>,
{
    if beside.needs_authorization(parts.uri.path()) {
        shared.authorize(Route::Mcp, &parts.headers)?;
    }
    let ReceivedBody { bytes, reserved: _reserved } =
        read_body::read_body(body, shared, Duration::ZERO).await?;
    let visit = ExtraRequest {
        method: &parts.method,
        path: parts.uri.path(),
        query: parts.uri.query(),
        headers: &parts.headers,
        body: bytes,
        is_local: reach == Reachability::Loopback,
    };
    Ok(beside.answer(visit).map(Body::whole))
}

async fn dispatch<B>(
    shared: &Shared,
    parts: &Parts,
    body: Pin<&mut B>,
) -> Result<Response<Body>, Refusal>
where
    B: http_body::Body<Data = Bytes> + Send,
{
    let Some(route) = shared.find(parts.uri.path()) else {
        return Err(Refusal::new(StatusCode::NOT_FOUND, "no such path"));
    };
    let allow = shared.allowed_methods(route);
    if parts.method == Method::OPTIONS {
        return Ok(reply::options_response(&parts.headers, allow));
    }
    if shared.shutdown.has_started() && !shared.may_answer(route, parts) {
        return Err(shutdown_refusal());
    }
    let access = match route {
        Route::Metadata => Access::full(Owner::Anyone),
        _ => shared.authorize(route, &parts.headers)?,
    };
    match (route, &parts.method) {
        (Route::Mcp, &Method::POST) => {
            negotiation::check_accepts_both(&parts.headers)?;
            let (frame, reserved) = read_frame(shared, route, parts, body).await?;
            // A frame that is refused here reaches no peer, so no link records it.
            let recorder = legacy::recorder_for(shared, &parts.headers, &access.owner)
                .map(|it| (it, frame.clone()));
            let envelope = to_envelope(&parts.headers, reserved);
            post_mcp(shared, &parts.headers, frame, envelope, &access).await.inspect_err(
                |refusal| {
                    if let Some((recorder, frame)) = recorder {
                        if refusal.needs_recording() {
                            recorder.record_received(&frame);
                        }
                        recorder.record_sent(&refusal.frame());
                    }
                },
            )
        }
        // Since 2026-07-28 only POST is allowed (basic/transports/streamable-http).
        (Route::Mcp, &(Method::GET | Method::DELETE))
            if shared.modern && modern::is_modern(version_in(&parts.headers)) =>
        {
            Err(Refusal::method_not_allowed("POST, OPTIONS"))
        }
        (Route::Mcp, &Method::GET) if shared.legacy => {
            legacy::get(shared, &parts.headers, &access.owner)
        }
        (Route::Mcp, &Method::DELETE) if shared.legacy => {
            legacy::delete(shared, &parts.headers, &access.owner).await
        }
        (Route::Sse, &Method::GET) => http_sse::open_stream(shared, &parts.headers, access.owner),
        (Route::Messages, &Method::POST) => {
            let query = parts.uri.query().unwrap_or_default();
            http_sse::find_session(shared, query, &access.owner)?;
            let (frame, reserved) = read_frame(shared, route, parts, body).await?;
            check_readable(&frame)?;
            shared.check_not_shutting_down(&frame)?;
            shared.check_access(route, &parts.headers, &access, &frame)?;
            let envelope = to_envelope(&parts.headers, reserved);
            http_sse::post(shared, query, &access.owner, frame, envelope)
        }
        (Route::Metadata, &(Method::GET | Method::HEAD)) => {
            let metadata = shared.options.metadata.as_ref();
            // The path selects the metadata of HTTP+SSE.
            let suffix = parts.uri.path().strip_prefix(WELL_KNOWN);
            let of = shared.sse_path().filter(|path| suffix == Some(path));
            let of = of.unwrap_or(&shared.options.path);
            let text = metadata.map(|it| it.document(&parts.headers, of));
            Ok(reply::document(text.unwrap_or_default()))
        }
        _ => Err(Refusal::method_not_allowed(allow)),
    }
}

/// Handles both eras on one path: a frame is modern if it or its headers name a modern
/// revision (2026-07-28,
/// basic/versioning#backward-compatibility-with-initialization-based-versions).
async fn post_mcp(
    shared: &Shared,
    headers: &HeaderMap,
    frame: Frame,
    envelope: Envelope,
    access: &Access,
) -> Result<Response<Body>, Refusal> {
    check_readable(&frame)?;
    shared.check_not_shutting_down(&frame)?;
    shared.check_access(Route::Mcp, headers, access, &frame)?;
    let version = version_in(headers);
    let names = shared.modern && modern::names_revision(&frame);
    if names || shared.modern && (modern::is_modern(version) || !shared.legacy) {
        if !names {
            modern::check_without_revision(&frame, version, shared.server.revisions())?;
        }
        return modern::serve(shared, frame, envelope).await;
    }
    legacy::post(shared, headers, &access.owner, frame, envelope).await
}

async fn read_frame<B>(
    shared: &Shared,
    route: Route,
    parts: &Parts,
    body: Pin<&mut B>,
) -> Result<(Frame, ReservedBytes), Refusal>
where
    B: http_body::Body<Data = Bytes>,
{
    negotiation::check_sends_json(&parts.headers)?;
    let grace = if shared.may_answer(route, parts) { GRACE } else { Duration::ZERO };
    let ReceivedBody { bytes, reserved } = read_body::read_body(body, shared, grace).await?;
    Ok((Frame::parse(bytes), reserved))
}

fn shutdown_refusal() -> Refusal {
    Refusal::unavailable("the server is shutting down")
}

/// Returns true if a frame is or contains a request.
fn has_request(frame: &Frame) -> bool {
    match frame.kind() {
        FrameKind::Batch => frame.batch_items().any(|frame| has_request(&frame)),
        kind => kind == FrameKind::Request,
    }
}

/// Refuses a frame that is not JSON; an invalid message is handled later.
fn check_readable(frame: &Frame) -> Result<(), Refusal> {
    let unreadable = |rule| matches!(rule, Rule::NotJson | Rule::InvalidUtf8 | Rule::TooDeep);
    match frame.violations().iter().find(|violation| unreadable(violation.rule)) {
        None => Ok(()),
        Some(violation) => {
            let error = ErrorObject::new(code::PARSE_ERROR, violation.message.clone());
            Err(Refusal::with_error(StatusCode::BAD_REQUEST, error))
        }
    }
}

/// Creates the envelope of a request, which the peer keeps until it has answered.
fn to_envelope(headers: &HeaderMap, reserved: ReservedBytes) -> Envelope {
    // Most bodies are so small that they do not count.
    let reserved = (reserved.bytes() > 0).then(|| Arc::new(reserved));
    Envelope { status: None, headers: to_wire_headers(headers), reserved }
}

/// Converts the headers for the peer. Headers of the same name are joined (RFC 9110, 5.3), so
/// that none can hide behind another.
fn to_wire_headers(headers: &HeaderMap) -> Headers {
    let size = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len();
    let mut all = Headers::with_capacity(headers.len(), headers.iter().map(size).sum());
    if headers.len() == headers.keys_len() {
        for (name, value) in headers {
            match std::str::from_utf8(value.as_bytes()) {
                Ok(value) => all.push(name.as_str(), value),
                Err(_) => all.push(name.as_str(), &String::from_utf8_lossy(value.as_bytes())),
            }
        }
        return all;
    }
    for name in headers.keys() {
        let values: Vec<_> = headers.get_all(name).iter().collect();
        let values = values.iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        all.push(name.as_str(), &values.collect::<Vec<_>>().join(", "));
    }
    all
}

impl Shared {
    /// Returns the additional routes, if they serve this path.
    fn extra_routes_for(&self, path: &str) -> Option<&dyn ExtraRoutes> {
        let beside = self.options.extra_routes.as_deref()?;
        (self.find(path).is_none() && beside.matches(path)).then_some(beside)
    }

    fn find(&self, path: &str) -> Option<Route> {
        let options = &self.options;
        if path == options.path {
            return Some(Route::Mcp);
        }
        if let Some(sse) = self.sse_path() {
            if path == sse {
                return Some(Route::Sse);
            }
            if path == options.message_path {
                return Some(Route::Messages);
            }
        }
        let metadata = options.metadata.as_ref()?;
        let suffix = path.strip_prefix(WELL_KNOWN)?;
        let paths = [Some(&*options.path), self.sse_path()];
        let paths: Vec<_> = paths.into_iter().flatten().collect();
        metadata.is_served_at(suffix, &paths).then_some(Route::Metadata)
    }

    /// Returns the path of HTTP+SSE, if it is supported.
    pub(super) fn sse_path(&self) -> Option<&str> {
        self.options.sse_path.as_deref().filter(|_| self.legacy)
    }

    /// Returns true if a request may carry the answer that a running request waits for. Such
    /// answers are accepted until the end.
    fn may_answer(&self, route: Route, parts: &Parts) -> bool {
        parts.method == Method::POST
            && match route {
                Route::Mcp => legacy::names_session(self, &parts.headers),
                Route::Messages => {
                    http_sse::names_session(self, parts.uri.query().unwrap_or_default())
                }
                Route::Sse | Route::Metadata => false,
            }
    }

    /// Refuses new requests during the shutdown.
    fn check_not_shutting_down(&self, frame: &Frame) -> Result<(), Refusal> {
        match self.shutdown.has_started() && has_request(frame) {
            true => Err(shutdown_refusal().with_id(frame.id())),
            false => Ok(()),
        }
    }

    fn allowed_methods(&self, route: Route) -> &'static str {
        match route {
            Route::Mcp if self.legacy => "GET, POST, DELETE, OPTIONS",
            Route::Mcp | Route::Messages => "POST, OPTIONS",
            Route::Sse => "GET, OPTIONS",
            Route::Metadata => "GET, HEAD, OPTIONS",
        }
    }
}

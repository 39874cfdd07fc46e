//! From a request to whoever answers it, by its path and method, after
//! everything that keeps strangers out.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use sparring_peer::link::Envelope;
use sparring_wire::{ErrorObject, Frame, FrameKind, Headers, Rule, code};

use super::auth::Pass;
use super::beside::{Beside, Visit};
use super::body::Body;
use super::guard::{self, Reach};
use super::metadata::WELL_KNOWN;
use super::note::Note;
use super::options::HttpOptions;
use super::reply::{self, Refusal};
use super::{Shared, cors, http_sse, legacy, modern, negotiation, reading, version_in};

/// How long an answer that comes when the end has begun may take to arrive.
const GRACE: Duration = Duration::from_secs(1);

/// What can be asked for.
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
    reach: Reach,
) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
{
    let (parts, body) = request.into_parts();
    let Some(recorder) = shared.recorder.clone() else {
        return answer(&shared, &parts, body, reach).await;
    };
    let mut note = Note::begin(recorder, &parts);
    let response = answer(&shared, &parts, body, reach).await;
    note.head(&response);
    response.map(|body| body.noted(note))
}

async fn answer<B>(shared: &Shared, parts: &Parts, body: B, reach: Reach) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send,
{
    let body = pin!(body);
    let mut body = body.fuse();
    if let Err(refusal) = guard::check(parts, &shared.options, reach) {
        reading::discard(Pin::new(&mut body), &parts.headers).await;
        return refusal.response();
    }
    let answered = match shared.beside(parts.uri.path()) {
        Some(beside) => aside(shared, beside, parts, Pin::new(&mut body), reach).await,
        None => route(shared, parts, Pin::new(&mut body)).await,
    };
    if answered.as_ref().is_err_and(|refusal| !refusal.is_for_lateness()) {
        reading::discard(Pin::new(&mut body), &parts.headers).await;
    }
    let mut response = answered.unwrap_or_else(Refusal::response);
    // Who comes from a page that may ask, is also told what happened.
    if let Some(origin) = parts.headers.get(ORIGIN) {
        cors::expose(&mut response, origin.clone());
    }
    response
}

/// Answers on a path that is not the protocol's.
async fn aside<B>(
    shared: &Shared,
    beside: &dyn Beside,
    parts: &Parts,
    body: Pin<&mut B>,
    reach: Reach,
) -> Result<Response<Body>, Refusal>
where
    B: http_body::Body<Data = Bytes>,
{
    let HttpOptions { body_limit, body_timeout, .. } = shared.options;
    let drain = &shared.drain;
    let body = reading::read(body, body_limit, body_timeout, drain, Duration::ZERO).await?;
    let visit = Visit {
        method: &parts.method,
        path: parts.uri.path(),
        query: parts.uri.query(),
        headers: &parts.headers,
        body,
        is_local: reach == Reach::Loopback,
    };
    Ok(beside.answer(visit).map(Body::whole))
}

async fn route<B>(
    shared: &Shared,
    parts: &Parts,
    body: Pin<&mut B>,
) -> Result<Response<Body>, Refusal>
where
    B: http_body::Body<Data = Bytes> + Send,
{
    let Some(route) = shared.find(parts.uri.path()) else {
        return Err(Refusal::new(StatusCode::NOT_FOUND, "there is nothing at this path"));
    };
    let allow = shared.methods(route);
    if parts.method == Method::OPTIONS {
        return Ok(cors::options(&parts.headers, allow));
    }
    if shared.drain.has_begun() && !shared.may_answer(route, parts) {
        return Err(ending());
    }
    let pass = match route {
        Route::Metadata => Pass::Full,
        _ => shared.authorize(route, &parts.headers)?,
    };
    match (route, &parts.method) {
        (Route::Mcp, &Method::POST) => {
            negotiation::takes_both(&parts.headers)?;
            let frame = read(shared, route, parts, body).await?;
            // What is refused here is seen by no peer, and so by no link.
            let recorder = legacy::recorder(shared, &parts.headers).map(|it| (it, frame.clone()));
            mcp(shared, &parts.headers, frame, &pass).await.inspect_err(|refusal| {
                if let Some((recorder, frame)) = recorder {
                    if refusal.is_of_the_unseen() {
                        recorder.received(&frame);
                    }
                    recorder.sent(&refusal.frame());
                }
            })
        }
        // Since 2026-07-28 there is nothing but POST (basic/transports/streamable-http).
        (Route::Mcp, &(Method::GET | Method::DELETE))
            if shared.modern && modern::is_modern(version_in(&parts.headers)) =>
        {
            Err(Refusal::method_not_allowed("POST, OPTIONS"))
        }
        (Route::Mcp, &Method::GET) if shared.legacy => legacy::get(shared, &parts.headers),
        (Route::Mcp, &Method::DELETE) if shared.legacy => {
            legacy::delete(shared, &parts.headers).await
        }
        (Route::Sse, &Method::GET) => http_sse::open(shared, &parts.headers),
        (Route::Messages, &Method::POST) => {
            let query = parts.uri.query().unwrap_or_default();
            http_sse::find(shared, query)?;
            let frame = read(shared, route, parts, body).await?;
            check_readable(&frame)?;
            shared.check_begins(&frame)?;
            shared.check_pass(route, &parts.headers, &pass, &frame)?;
            let envelope = Envelope { status: None, headers: spelled(&parts.headers) };
            http_sse::post(shared, query, frame, envelope)
        }
        (Route::Metadata, &(Method::GET | Method::HEAD)) => {
            let metadata = shared.options.metadata.as_ref();
            // The one of HTTP+SSE is asked for by its path.
            let suffix = parts.uri.path().strip_prefix(WELL_KNOWN);
            let of = shared.sse_path().filter(|path| suffix == Some(path));
            let of = of.unwrap_or(&shared.options.path);
            let text = metadata.map(|it| it.document(&parts.headers, of));
            Ok(reply::document(text.unwrap_or_default()))
        }
        _ => Err(Refusal::method_not_allowed(allow)),
    }
}

/// Both eras on one path: a frame is modern when it says so itself or when its
/// headers do (2026-07-28, basic/versioning#backward-compatibility-with-initialization-based-versions).
async fn mcp(
    shared: &Shared,
    headers: &HeaderMap,
    frame: Frame,
    pass: &Pass,
) -> Result<Response<Body>, Refusal> {
    check_readable(&frame)?;
    shared.check_begins(&frame)?;
    shared.check_pass(Route::Mcp, headers, pass, &frame)?;
    let version = version_in(headers);
    let names = shared.modern && modern::names_its_revision(&frame);
    let envelope = Envelope { status: None, headers: spelled(headers) };
    if names || shared.modern && (modern::is_modern(version) || !shared.legacy) {
        if !names {
            modern::check_nameless(&frame, version)?;
        }
        return modern::serve(shared, frame, envelope).await;
    }
    legacy::post(shared, headers, frame, envelope).await
}

async fn read<B>(
    shared: &Shared,
    route: Route,
    parts: &Parts,
    body: Pin<&mut B>,
) -> Result<Frame, Refusal>
where
    B: http_body::Body<Data = Bytes>,
{
    negotiation::sends_json(&parts.headers)?;
    let HttpOptions { body_limit, body_timeout, .. } = shared.options;
    let grace = if shared.may_answer(route, parts) { GRACE } else { Duration::ZERO };
    let bytes = reading::read(body, body_limit, body_timeout, &shared.drain, grace).await?;
    Ok(Frame::parse(bytes))
}

fn ending() -> Refusal {
    Refusal::unavailable("the server is shutting down")
}

/// Whether a frame asks for something.
fn asks(frame: &Frame) -> bool {
    match frame.kind() {
        FrameKind::Batch => frame.batch().any(|frame| asks(&frame)),
        kind => kind == FrameKind::Request,
    }
}

/// What is no JSON is told apart from what is only no message.
fn check_readable(frame: &Frame) -> Result<(), Refusal> {
    let unreadable = |rule| matches!(rule, Rule::NotJson | Rule::InvalidUtf8 | Rule::TooDeep);
    match frame.violations().iter().find(|violation| unreadable(violation.rule)) {
        None => Ok(()),
        Some(violation) => {
            let error = ErrorObject::new(code::PARSE_ERROR, violation.message.clone());
            Err(Refusal::with(StatusCode::BAD_REQUEST, error))
        }
    }
}

/// The headers as a peer sees them. Those of one name are one, as RFC 9110 has
/// it (5.3), so that none can hide behind another.
fn spelled(headers: &HeaderMap) -> Headers {
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
    /// Who answers on this path, where it is not the protocol's.
    fn beside(&self, path: &str) -> Option<&dyn Beside> {
        let beside = self.options.beside.as_deref()?;
        (self.find(path).is_none() && beside.serves(path)).then_some(beside)
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
        metadata.is_at(suffix, &paths).then_some(Route::Metadata)
    }

    /// Where HTTP+SSE begins, if it is spoken.
    pub(super) fn sse_path(&self) -> Option<&str> {
        self.options.sse_path.as_deref().filter(|_| self.legacy)
    }

    /// Whether that may be what a request in flight waits for: an answer to what
    /// it has asked its client, which is taken in until the end.
    fn may_answer(&self, route: Route, parts: &Parts) -> bool
where {
        parts.method == Method::POST
            && match route {
                Route::Mcp => legacy::is_in_session(self, &parts.headers),
                Route::Messages => {
                    http_sse::find(self, parts.uri.query().unwrap_or_default()).is_ok()
                }
                Route::Sse | Route::Metadata => false,
            }
    }

    /// When the end has begun, nothing else does.
    fn check_begins(&self, frame: &Frame) -> Result<(), Refusal> {
        match self.drain.has_begun() && asks(frame) {
            true => Err(ending().to(frame.id())),
            false => Ok(()),
        }
    }

    fn methods(&self, route: Route) -> &'static str {
        match route {
            Route::Mcp if self.legacy => "GET, POST, DELETE, OPTIONS",
            Route::Mcp | Route::Messages => "POST, OPTIONS",
            Route::Sse => "GET, OPTIONS",
            Route::Metadata => "GET, HEAD, OPTIONS",
        }
    }
}

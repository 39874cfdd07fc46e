//! Sends single HTTP requests to the server under check.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sparring_transport::http::sse::Event;
use sparring_transport::http::{HttpTarget, HttpTransport, JsonResponse, RawClient, RawRequest};
use sparring_wire::{Revision, Rule};
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout, timeout_at};

use super::exchange::{Body, Exchange, show_request};
use super::requests::{self, RequestExt as _, Session};
use crate::context::{Context, Stopped};

/// The number of events that are read of one stream.
const MAX_EVENTS: usize = 1_000;

/// The wait for the end of a stream after the response.
const END_OF_STREAM: Duration = Duration::from_millis(300);

/// The HTTP side of the server under check, in one revision.
pub(crate) struct HttpServer {
    client: RawClient,
    target: HttpTarget,
    timeout: Duration,
    pub(crate) revision: Revision,
    /// The first session, and the reason if there is none.
    session: OnceCell<Result<Session, NoSession>>,
    /// The version that the server agrees on when a client asks for the oldest one.
    oldest_version: OnceCell<Option<String>>,
    /// The number of ids of requests so far.
    ids: AtomicU64,
}

/// The reason why there is no session.
#[derive(Debug, Clone)]
struct NoSession {
    reason: String,
    /// True if the server refused `initialize`, as those with HTTP+SSE and those with a single
    /// session do.
    is_refused: bool,
}

/// A response that is being read.
pub(crate) struct OpenStream {
    response: JsonResponse,
    exchange: Exchange,
}

/// Returns the HTTP side of the server, if it speaks Streamable HTTP. Otherwise the rules do
/// not apply.
pub(crate) async fn streamable<'a>(context: &'a Context, rules: &[Rule]) -> Option<&'a HttpServer> {
    let rules = rules.iter().filter(|rule| rule.applies_in(context.revision));
    let leave_out = |reason: &str| rules.for_each(|it| context.not_applicable(*it, reason));
    let Some(server) = context.http() else {
        leave_out("the server is not reached over HTTP");
        return None;
    };
    if !server.speaks_streamable_http().await {
        leave_out("the server speaks HTTP+SSE, not Streamable HTTP");
        return None;
    }
    if server.refuses_sessions().await {
        leave_out("the server allows only one session at a time");
        return None;
    }
    Some(server)
}

impl HttpServer {
    /// Returns the HTTP side of a target, if the target is valid.
    pub(crate) fn new(target: &HttpTarget, revision: Revision, timeout: Duration) -> Option<Self> {
        let client = RawClient::new(target).ok()?;
        Some(HttpServer {
            client,
            target: target.clone(),
            timeout,
            revision,
            session: OnceCell::new(),
            oldest_version: OnceCell::new(),
            ids: AtomicU64::new(0),
        })
    }

    /// Returns the target.
    pub(crate) fn target(&self) -> &HttpTarget {
        &self.target
    }

    /// Masks secrets in a text.
    pub(crate) fn mask(&self, text: &str) -> String {
        self.client.mask(text)
    }

    /// Returns true unless the server only speaks HTTP+SSE.
    pub(crate) async fn speaks_streamable_http(&self) -> bool {
        match self.target.transport {
            HttpTransport::Sse => false,
            HttpTransport::Streamable => true,
            HttpTransport::Auto if self.revision.is_modern() => true,
            HttpTransport::Auto => !self.refuses_sessions().await || !self.opens_stream().await,
        }
    }

    /// Returns true if the server refuses the session of these probes, beside that of a client.
    pub(crate) async fn refuses_sessions(&self) -> bool {
        if self.revision.is_modern() {
            return false;
        }
        let session = self.session.get_or_init(|| self.open()).await;
        session.as_ref().is_err_and(|failure| failure.is_refused)
    }

    /// Returns true if a GET request without a session opens a stream, as with HTTP+SSE.
    async fn opens_stream(&self) -> bool {
        let get = RawRequest::new("GET", "").with("accept", "text/event-stream");
        self.start(&get).await.is_ok_and(|open| open.exchange.is_stream())
    }

    /// Returns the longest wait for one response.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns an id that no other request of these probes has.
    pub(crate) fn next_id(&self) -> Value {
        json!(format!("http-{}", self.ids.fetch_add(1, Ordering::Relaxed)))
    }

    /// Returns a session that probes share. They leave it in order.
    pub(crate) async fn session(&self) -> Result<&Session, Stopped> {
        let session = self.session.get_or_init(|| self.open()).await;
        session.as_ref().map_err(|failure| Stopped(failure.reason.clone()))
    }

    /// Opens another session.
    pub(crate) async fn another_session(&self) -> Result<Session, Stopped> {
        self.open().await.map_err(|failure| Stopped(failure.reason))
    }

    /// Returns the first request of a client: `initialize`, or `server/discover` in revisions
    /// without sessions.
    pub(crate) fn opening_request(&self) -> RawRequest {
        match self.revision.is_modern() {
            true => {
                let (id, params) = (Value::from("discover"), Value::Null);
                requests::modern(self.revision, id, "server/discover", params)
            }
            false => requests::initialize(self.revision),
        }
    }

    /// Returns the session that a response to `initialize` opens.
    pub(crate) fn session_of(&self, opening: &Exchange) -> Result<Session, Stopped> {
        Session::from_initialize(self.revision, opening)
    }

    async fn open(&self) -> Result<Session, NoSession> {
        let failure = |reason: String, is_refused| {
            let reason = format!("cannot open another session: {reason}");
            NoSession { reason, is_refused }
        };
        let unsent = |Stopped(reason)| failure(reason, false);
        let request = requests::initialize(self.revision);
        let exchange = self.send(&request).await.map_err(unsent)?;
        let is_refused = matches!(exchange.status, 400 | 404 | 405);
        let session = Session::from_initialize(self.revision, &exchange);
        let session = session.map_err(|Stopped(reason)| failure(reason, is_refused))?;
        self.send(&session.post(&requests::initialized())).await.map_err(unsent)?;
        Ok(session)
    }

    /// Returns the version that the server agrees on when a client asks for the oldest one of
    /// Streamable HTTP. `None` if the server has no sessions of earlier revisions.
    pub(crate) async fn oldest_version(&self) -> Option<&str> {
        let ask = || async {
            let asked = requests::initialize(Revision::V2025_03_26);
            let exchange = self.send(&asked).await.ok().filter(Exchange::is_success)?;
            let response = exchange.response_to(&json!("initialize"))?;
            let version = response["result"]["protocolVersion"].as_str()?.to_owned();
            let revision = Revision::from_name(&version).filter(|it| !it.is_modern())?;
            // The session is not needed any more.
            let session = Session::from_initialize(revision, &exchange).ok();
            if let Some(session) = session.filter(|it| it.id.is_some()) {
                drop(self.send(&session.delete()).await);
            }
            Some(version)
        };
        self.oldest_version.get_or_init(ask).await.as_deref()
    }

    /// Returns true if the server responds to a correct request.
    pub(crate) async fn is_alive(&self) -> bool {
        let request = match self.revision.is_modern() {
            true => requests::modern(self.revision, self.next_id(), "server/discover", Value::Null),
            false => requests::initialize(self.revision),
        };
        self.send(&request).await.is_ok()
    }

    /// Sends a request, and reads the response: the whole body; or of an event stream
    /// everything up to the response to the sent request, and its end if it comes soon.
    pub(crate) async fn send(&self, request: &RawRequest) -> Result<Exchange, Stopped> {
        let id = requests::id_in(&request.body);
        let deadline = Instant::now() + self.timeout;
        let mut open = self.start(request).await?;
        if !open.exchange.is_stream() {
            return open.read_body(deadline).await;
        }
        let Some(id) = id else { return Ok(open.exchange) };
        while !open.has_response_to(&id) && open.read_event(deadline).await {}
        if open.has_response_to(&id) {
            let soon = Instant::now() + END_OF_STREAM;
            while open.read_event(soon).await {}
        }
        Ok(open.exchange)
    }

    /// Sends a request, and returns when the head of the response has arrived.
    pub(crate) async fn start(&self, request: &RawRequest) -> Result<OpenStream, Stopped> {
        let sent = self.mask(&show_request(request, &self.client.url()));
        let line = sent.lines().next().unwrap_or_default().to_owned();
        let response = match timeout(self.timeout, self.client.send(request)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(Stopped(format!("no response to {line}: {error}"))),
            Err(_) => {
                let waited = self.timeout;
                return Err(Stopped(format!("no response to {line} within {waited:?}")));
            }
        };
        let headers = response.headers();
        let headers = headers.map(|(name, value)| (name.to_owned(), value.into_owned())).collect();
        let is_stream = response.is_stream() && (200..300).contains(&response.status());
        let body = match is_stream {
            true => Body::Stream { events: Vec::new(), ended: false },
            false => Body::Whole(Vec::new()),
        };
        let exchange = Exchange { status: response.status(), headers, body, sent, broken: None };
        Ok(OpenStream { response, exchange })
    }
}

impl OpenStream {
    /// Returns what was read so far.
    pub(crate) fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// Reads one more event. Returns false if there is none until the deadline.
    pub(crate) async fn read_event(&mut self, deadline: Instant) -> bool {
        let Body::Stream { events, ended } = &mut self.exchange.body else { return false };
        if *ended || events.len() >= MAX_EVENTS || self.exchange.broken.is_some() {
            return false;
        }
        match timeout_at(deadline, self.response.next_event()).await {
            Ok(Ok(Some(event))) => {
                events.push(event);
                return true;
            }
            Ok(Ok(None)) => *ended = true,
            Ok(Err(error)) => self.exchange.broken = Some(error.to_string()),
            Err(_) => {}
        }
        false
    }

    /// Reads events for as long as one fits, at most until the deadline.
    pub(crate) async fn read_until(
        &mut self,
        deadline: Instant,
        fits: impl Fn(&Event) -> bool,
    ) -> bool {
        while self.read_event(deadline).await {
            if self.exchange.events().last().is_some_and(&fits) {
                return true;
            }
        }
        false
    }

    fn has_response_to(&self, id: &Value) -> bool {
        self.exchange.response_to(id).is_some()
    }

    /// Reads the whole body.
    pub(crate) async fn read_body(mut self, deadline: Instant) -> Result<Exchange, Stopped> {
        match timeout_at(deadline, self.response.body()).await {
            Ok(Ok(body)) => self.exchange.body = Body::Whole(body),
            Ok(Err(error)) => self.exchange.broken = Some(error.to_string()),
            Err(_) => self.exchange.broken = Some("the body did not end in time".to_owned()),
        }
        Ok(self.exchange)
    }
}

//! Posts JSON to an endpoint that is not an MCP server, with the connections, TLS settings and
//! proxies of a link.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderValue, Method};
use sparring_peer::Cause;

use super::connector::Connector;
use super::exchange_recorder::{ExchangeProgress, ExchangeRecorder, redact_headers};
use super::http_client::RequestDefaults;
use super::http_client::{HttpClient, RequestHead};
use super::response::{EventStream, HttpResponse};
use super::{HttpError, HttpTarget};
use crate::http::sse::Event;
use crate::secrets::Secrets;

/// Posts JSON to one URL.
pub struct JsonClient {
    client: HttpClient,
    head: RequestHead,
    secrets: Secrets,
    limit: usize,
}

/// A response whose head has arrived. Dropping it closes its connection.
pub struct JsonResponse {
    status: u16,
    headers: HeaderMap,
    events: EventStream,
    exchange: ExchangeRecorder,
    limit: usize,
}

/// The reason why there is no complete response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// The connection failed.
    #[error("{0}")]
    Unreachable(String),
    /// The response is invalid or incomplete.
    #[error("{0}")]
    Broken(String),
    /// The response is too long.
    #[error("the response is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
}

impl JsonClient {
    /// Creates a client for the URL of a target, with its headers, TLS settings and proxies.
    /// Ignores OAuth.
    ///
    /// # Errors
    /// When the target is invalid; the error gives the reason.
    pub fn new(target: &HttpTarget) -> Result<JsonClient, HttpError> {
        let RequestDefaults { endpoint, mut headers, secrets } =
            RequestDefaults::from_target(target)?;
        let json = HeaderValue::from_static("application/json");
        let either = HeaderValue::from_static("application/json, text/event-stream");
        headers.entry(CONTENT_TYPE).or_insert(json);
        headers.entry(ACCEPT).or_insert(either);
        if let Ok(host) = HeaderValue::try_from(endpoint.host_header()) {
            headers.insert(HOST, host);
        }
        let head = RequestHead { redacted: redact_headers(&headers, &secrets), headers };
        let connector = Connector::new(&endpoint.origin, target)?;
        let client = HttpClient::new(connector, endpoint, target.idle_timeout, secrets.clone());
        Ok(JsonClient { client, head, secrets, limit: target.max_message })
    }

    /// Returns the URL, with secrets masked.
    pub fn url(&self) -> String {
        self.client.address().endpoint.to_string()
    }

    /// Masks secrets in a text, for example one that repeats them.
    pub fn mask(&self, text: &str) -> String {
        self.secrets.mask(text).into_owned()
    }

    /// Posts a body and waits for the head of the response. The caller sets the timeout:
    /// dropping the future cancels the request.
    ///
    /// # Errors
    /// When there is no response.
    pub async fn post(&self, body: impl Into<Bytes>) -> Result<JsonResponse, JsonError> {
        let body = body.into();
        let mut exchange = ExchangeRecorder::new(None, ExchangeProgress::default());
        let content = || (self.head.clone(), body.clone());
        let response = self.client.send(&Method::POST, &content, &mut exchange).await?;
        Ok(JsonResponse::new(response, exchange, self.limit))
    }
}

impl JsonResponse {
    pub(super) fn new(
        response: Box<HttpResponse>,
        exchange: ExchangeRecorder,
        limit: usize,
    ) -> JsonResponse {
        let (status, headers) = (response.status.as_u16(), response.headers.clone());
        let events = EventStream::new(response, limit);
        JsonResponse { status, headers, events, exchange, limit }
    }

    /// Returns all headers. A value that is not text is shown as far as possible.
    pub fn headers(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let text = |value| String::from_utf8_lossy(value);
        self.headers.iter().map(move |(name, value)| (name.as_str(), text(value.as_bytes())))
    }

    /// Returns the status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns a header, if it is present and valid text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns true if the response is an event stream.
    pub fn is_stream(&self) -> bool {
        let kind = self.header("content-type").and_then(|kind| kind.split(';').next());
        kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
    }

    /// Returns the next event, or `None` at the end of the stream.
    ///
    /// # Errors
    /// When the stream breaks, or an event is too long.
    pub async fn next_event(&mut self) -> Result<Option<Event>, JsonError> {
        Ok(self.events.next(&self.exchange).await?)
    }

    /// Returns the whole body.
    ///
    /// # Errors
    /// When the response is incomplete or too long.
    pub async fn body(self) -> Result<Vec<u8>, JsonError> {
        let limit = self.limit;
        let (body, whole) = self.events.into_response().body(limit, &self.exchange).await?;
        if whole { Ok(body) } else { Err(JsonError::TooLong { limit }) }
    }
}

impl From<Cause> for JsonError {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Unreachable(why) => JsonError::Unreachable(why),
            Cause::Broken(why) => JsonError::Broken(why),
            Cause::Http { what, .. } => JsonError::Broken(what),
            cause => JsonError::Broken(cause.to_string()),
        }
    }
}

impl std::fmt::Debug for JsonClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("JsonClient").field(&self.client.address().endpoint).finish()
    }
}

impl std::fmt::Debug for JsonResponse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JsonAnswer").field("status", &self.status).finish_non_exhaustive()
    }
}

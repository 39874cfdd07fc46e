//! Sends HTTP requests to one server: reuses connections, follows redirects within the origin,
//! and returns when the head of the response has arrived.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, HeaderName, PROXY_AUTHORIZATION, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper::client::conn::http1::{self};
use sparring_peer::Cause;
use sparring_wire::Headers;

use super::connector::Connector;
use super::endpoint::Endpoint;
use super::exchange_recorder::{ExchangeRecorder, has_secrets, redact_headers};
use super::response::{ClientConnection, HttpResponse, root_cause};
use super::{HttpError, HttpTarget};
use crate::secrets::Secrets;

/// The header with a session's id.
pub(super) const SESSION_HEADER: &str = "mcp-session-id";

/// The maximum number of idle connections.
const MAX_IDLE_CONNECTIONS: usize = 64;

/// The maximum number of redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// Sends requests to one server.
pub(super) struct HttpClient {
    connector: Connector,
    #[expect(clippy::vec_box, reason = "each is moved in and out with every request")]
    idle: Mutex<Vec<Box<ClientConnection>>>,
    address: Mutex<Arc<ServerAddress>>,
    /// The redacted headers of the last response.
    last_redacted: Mutex<Headers>,
    /// The maximum silence of a response.
    idle_timeout: Option<Duration>,
    title_case: bool,
}

/// The address that requests are sent to, in all the forms that are needed.
pub(super) struct ServerAddress {
    pub(super) endpoint: Endpoint,
    url: Arc<str>,
    pub(super) host: Option<HeaderValue>,
    uri: Uri,
    /// The secrets to mask in everything that comes from this server.
    pub(super) secrets: Secrets,
}

impl ServerAddress {
    fn new(endpoint: Endpoint, by_proxy: bool, secrets: Secrets) -> Self {
        let path = Uri::from(endpoint.path.clone());
        let whole = || format!("{}{}", endpoint.origin, endpoint.path).parse().ok();
        let uri = by_proxy.then(whole).flatten().unwrap_or(path);
        let host = HeaderValue::try_from(endpoint.host_header()).ok();
        let url = secrets.mask(&endpoint.to_string()).into();
        ServerAddress { url, endpoint, host, uri, secrets }
    }
}

/// The headers of a request, and the same with secrets masked.
#[derive(Clone)]
pub(super) struct RequestHead {
    pub(super) headers: HeaderMap,
    pub(super) redacted: Headers,
}

/// Builds a request's head and body, each time that it is sent.
pub(super) type ContentFn<'a> = &'a (dyn Fn() -> (RequestHead, Bytes) + Sync);

impl HttpClient {
    pub(super) fn new(
        connector: Connector,
        endpoint: Endpoint,
        idle_timeout: Option<Duration>,
        secrets: Secrets,
    ) -> Self {
        let address = ServerAddress::new(endpoint, connector.plain_proxy().is_some(), secrets);
        let address = Mutex::new(Arc::new(address));
        HttpClient {
            connector,
            idle: Mutex::default(),
            address,
            last_redacted: Mutex::default(),
            idle_timeout,
            title_case: false,
        }
    }

    /// Writes the names of headers in title case.
    pub(super) fn with_title_case_headers(self) -> Self {
        HttpClient { title_case: true, ..self }
    }

    pub(super) fn address(&self) -> Arc<ServerAddress> {
        Arc::clone(&self.address.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends all further requests to this endpoint.
    pub(super) fn set_endpoint(&self, endpoint: Endpoint) {
        let address = self.address_at(endpoint);
        *self.address.lock().unwrap_or_else(PoisonError::into_inner) = address;
    }

    fn address_at(&self, endpoint: Endpoint) -> Arc<ServerAddress> {
        let by_proxy = self.connector.plain_proxy().is_some();
        Arc::new(ServerAddress::new(endpoint, by_proxy, self.address().secrets.clone()))
    }

    /// Sends a request and follows redirects within the origin. `content` is called for each
    /// attempt; most requests need one.
    pub(super) async fn send(
        &self,
        method: &Method,
        content: ContentFn<'_>,
        exchange: &mut ExchangeRecorder,
    ) -> Result<Box<HttpResponse>, Cause> {
        let mut address = self.address();
        for _ in 0..MAX_REDIRECTS {
            let response = match self.send_once(method, &address, content, exchange).await {
                Ok(response) => response,
                Err(cause) => {
                    exchange.fail(&cause.to_string());
                    return Err(cause);
                }
            };
            match self.redirect_target(method, &response) {
                Ok(None) => return Ok(response),
                Ok(Some(to)) => address = to,
                Err(cause) => {
                    exchange.fail(&cause.to_string());
                    return Err(cause);
                }
            }
            exchange.complete();
        }
        Err(Cause::Broken(format!("{}: more than {MAX_REDIRECTS} redirects", address.url)))
    }

    fn build_request(
        &self,
        method: &Method,
        address: &ServerAddress,
        (head, body): (RequestHead, Bytes),
        exchange: &mut ExchangeRecorder,
    ) -> Request<Full<Bytes>> {
        let RequestHead { mut headers, mut redacted } = head;
        if let Some(auth) = self.connector.plain_proxy().flatten() {
            redacted.push(PROXY_AUTHORIZATION.as_str(), "(hidden)");
            headers.insert(PROXY_AUTHORIZATION, mark_sensitive(auth));
        }
        exchange.set_request_headers(redacted);
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method.clone();
        *request.uri_mut() = address.uri.clone();
        *request.headers_mut() = headers;
        request
    }

    async fn send_once(
        &self,
        method: &Method,
        address: &Arc<ServerAddress>,
        content: ContentFn<'_>,
        exchange: &mut ExchangeRecorder,
    ) -> Result<Box<HttpResponse>, Cause> {
        loop {
            exchange.begin_exchange(method_name(method), Arc::clone(&address.url));
            let (mut conn, reused) = self.take_connection(exchange).await?;
            let request = self.build_request(method, address, content(), exchange);
            exchange.progress.record_sent();
            let mut sending = pin!(conn.sender.try_send_request(request));
            let sent = poll_fn(|cx| conn.poll_with(|cx| sending.as_mut().poll(cx), cx)).await;
            match sent {
                Ok(response) => {
                    let (parts, body) = response.into_parts();
                    let (redacted, has_hidden) = self.redacted_headers(&parts.headers);
                    exchange.record_head(parts.status, &parts.headers, &redacted);
                    return Ok(Box::new(HttpResponse {
                        status: parts.status,
                        headers: parts.headers,
                        redacted,
                        has_hidden,
                        address: Arc::clone(address),
                        body,
                        complete: false,
                        conn,
                        idle_timeout: self.idle_timeout,
                    }));
                }
                Err(mut error) => match error.take_message() {
                    // The server had closed a reused connection, and the request was never
                    // sent.
                    Some(_) if reused => exchange.discard(),
                    _ => return Err(self.no_response_cause(&error.into_error(), reused)),
                },
            }
        }
    }

    /// Returns the redacted headers, reusing those of the last response if they are equal, and
    /// true if something was masked.
    fn redacted_headers(&self, headers: &HeaderMap) -> (Headers, bool) {
        let mut last_redacted = self.last_redacted.lock().unwrap_or_else(PoisonError::into_inner);
        let now = headers.iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()));
        let before = last_redacted.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let same = now.eq(before);
        if !same {
            *last_redacted = redact_headers(headers, &self.address().secrets);
        }
        (last_redacted.clone(), !same && has_secrets(headers))
    }

    /// Returns the target of a redirect, if there is one and it may be followed.
    fn redirect_target(
        &self,
        method: &Method,
        response: &HttpResponse,
    ) -> Result<Option<Arc<ServerAddress>>, Cause> {
        let Some(location) = redirect_location(response) else { return Ok(None) };
        let from = &response.address.endpoint;
        let to = from.join(&location).map_err(|bad| redirect_error(response, &bad.to_string()))?;
        if to.origin != from.origin {
            return Err(redirect_error(response, &format!("it leads to another origin, {to}")));
        }
        let post = *method == Method::POST;
        // 303 means that the message was processed; sending it again would process it twice.
        if post && response.status == StatusCode::SEE_OTHER {
            return Err(redirect_error(
                response,
                &format!("it asks for a GET of {to}, which is no answer to a POST"),
            ));
        }
        // A redirect of another method need not apply to messages.
        if post && matches!(response.status.as_u16(), 301 | 308) {
            self.set_endpoint(to.clone());
        }
        Ok(Some(self.address_at(to)))
    }

    fn no_response_cause(&self, error: &hyper::Error, reused: bool) -> Cause {
        let address = self.address();
        let origin = &address.endpoint.origin;
        Cause::Broken(if error.is_parse() {
            format!("{origin} did not answer with HTTP: {}", root_cause(error))
        } else if error.is_incomplete_message() || error.is_canceled() {
            let which = if reused { "a reused connection" } else { "the connection" };
            format!("{origin} closed {which} without a response")
        } else {
            format!("no response from {origin}: {}", root_cause(error))
        })
    }

    /// Returns an idle connection or a new one, and true if it is reused.
    async fn take_connection(
        &self,
        exchange: &mut ExchangeRecorder,
    ) -> Result<(Box<ClientConnection>, bool), Cause> {
        loop {
            let idle_connection = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(mut conn) = idle_connection else { break };
            if conn.is_usable() {
                return Ok((conn, true));
            }
        }
        // Boxed separately: most requests do not need it and should stay small.
        Ok((Box::pin(self.new_connection(exchange)).await?, false))
    }

    async fn new_connection(
        &self,
        exchange: &mut ExchangeRecorder,
    ) -> Result<Box<ClientConnection>, Cause> {
        exchange.progress.connecting();
        let io = self.connector.connect().await;
        let io = io.map_err(|error| Cause::Unreachable(error.to_string()))?;
        let made = http1::Builder::new().title_case_headers(self.title_case).handshake(io).await;
        let (sender, driver) = made.map_err(|error| Cause::Unreachable(error.to_string()))?;
        exchange.record_connected();
        Ok(Box::new(ClientConnection { sender, driver, closed: false }))
    }

    /// Keeps the connection of a completely read response for later requests.
    pub(super) fn release(&self, response: HttpResponse) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if response.complete && !response.conn.closed && idle.len() < MAX_IDLE_CONNECTIONS {
            idle.push(response.conn);
        }
    }
}

/// The parts that every request to a target has in common.
pub(super) struct RequestDefaults {
    pub(super) endpoint: Endpoint,
    pub(super) headers: HeaderMap,
    /// The secrets in the headers.
    pub(super) secrets: Secrets,
}

impl RequestDefaults {
    pub(super) fn from_target(target: &HttpTarget) -> Result<RequestDefaults, HttpError> {
        let (endpoint, in_url) = Endpoint::parse(&target.url)?;
        let mut headers = HeaderMap::new();
        let agent = concat!("sparring/", env!("CARGO_PKG_VERSION"));
        headers.insert(USER_AGENT, HeaderValue::from_static(agent));
        let secrets = target.secrets.clone();
        target.add_secrets();
        let credentials = match &target.credentials {
            Some(given) => given.header(),
            None => in_url,
        };
        if let Some(credentials) = credentials {
            let bad = |_| HttpError::Header("Authorization".to_owned());
            let value = HeaderValue::try_from(credentials).map_err(bad)?;
            headers.insert(AUTHORIZATION, mark_sensitive(value));
        }
        let mut given = HeaderMap::new();
        for (name, value) in &target.headers {
            let bad = || HttpError::Header(name.clone());
            let value = HeaderValue::from_str(value).map_err(|_| bad())?;
            given.append(HeaderName::try_from(name).map_err(|_| bad())?, mark_sensitive(value));
        }
        // The user's headers replace ours.
        headers.extend(given);
        Ok(RequestDefaults { endpoint, headers, secrets })
    }
}

pub(super) fn mark_sensitive(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::DELETE => "DELETE",
        _ => "POST",
    }
}

fn redirect_location(response: &HttpResponse) -> Option<String> {
    if !matches!(response.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers.get(http::header::LOCATION)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

fn redirect_error(response: &HttpResponse, why: &str) -> Cause {
    let what = format!(
        "the server answered {} with a redirect that is not followed: {why}",
        response.status
    );
    Cause::Http {
        status: response.status.as_u16(),
        what: response.address.secrets.mask(&what).into_owned(),
        body: String::new(),
    }
}

impl std::fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HttpClient").field(&self.address().endpoint).finish()
    }
}

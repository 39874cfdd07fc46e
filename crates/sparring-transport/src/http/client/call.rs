//! One request over HTTP: a connection that is kept for the next one, the head
//! of the response, its body piece by piece.
//!
//! What the body means is not known here.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST, PROXY_AUTHORIZATION};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use http_body::Body as _;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, Connection, SendRequest};
use sparring_peer::Cause;

use super::connect::{Connector, Io};
use super::endpoint::Endpoint;
use super::note::Note;

/// The header with a session's id.
pub(super) const SESSION: &str = "mcp-session-id";

/// How many connections are kept for later.
const KEPT: usize = 64;

/// How often a server may send us elsewhere.
const REDIRECTS: usize = 5;

/// Sends requests to one server.
pub(super) struct Caller {
    connector: Connector,
    idle: Mutex<Vec<Conn>>,
    endpoint: Mutex<Endpoint>,
    /// How long a response may be silent.
    silence: Option<Duration>,
}

/// A connection. Whoever uses it drives it.
struct Conn {
    sender: SendRequest<Full<Bytes>>,
    driver: Connection<Box<dyn Io>, Full<Bytes>>,
    over: bool,
}

impl Conn {
    /// Lets `work` come to its end, and the connection go on meanwhile.
    async fn drive<T>(
        driver: &mut Connection<Box<dyn Io>, Full<Bytes>>,
        over: &mut bool,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = pin!(work);
        poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            // What ends a connection is told to whoever waits for something of it.
            *over = *over || Pin::new(&mut *driver).poll(cx).is_ready();
            work.as_mut().poll(cx)
        })
        .await
    }

    /// Whether it can take a request now, or will at once.
    async fn is_usable(&mut self) -> bool {
        poll_fn(|cx| {
            self.over = self.over || Pin::new(&mut self.driver).poll(cx).is_ready();
            Poll::Ready(())
        })
        .await;
        !self.over
            && (self.sender.is_ready()
                || Conn::drive(&mut self.driver, &mut self.over, self.sender.ready()).await.is_ok())
    }
}

/// A response whose head is there.
pub(super) struct Opened {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Where it came from, after redirects.
    pub(super) from: Endpoint,
    body: Incoming,
    /// Whether the body was read to its end.
    ended: bool,
    conn: Conn,
    silence: Option<Duration>,
}

impl Caller {
    pub(super) fn new(connector: Connector, endpoint: Endpoint, silence: Option<Duration>) -> Self {
        Caller { connector, idle: Mutex::default(), endpoint: Mutex::new(endpoint), silence }
    }

    pub(super) fn endpoint(&self) -> Endpoint {
        self.endpoint.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on requests go there.
    pub(super) fn move_to(&self, endpoint: Endpoint) {
        *self.endpoint.lock().unwrap_or_else(PoisonError::into_inner) = endpoint;
    }

    /// Sends a request, and follows the server as far as it leads to itself.
    pub(super) async fn call(
        &self,
        method: &Method,
        headers: &HeaderMap,
        body: &Bytes,
        note: &mut Note,
    ) -> Result<Opened, Cause> {
        let mut endpoint = self.endpoint();
        for _ in 0..REDIRECTS {
            let opened = self.send(method, &endpoint, headers.clone(), body.clone(), note).await;
            let opened = match opened {
                Ok(opened) => opened,
                Err(cause) => {
                    note.failed(&cause.to_string());
                    return Err(cause);
                }
            };
            let Some(location) = redirection(&opened) else { return Ok(opened) };
            let to =
                endpoint.join(&location).map_err(|bad| elsewhere(&opened, &bad.to_string()))?;
            if to.origin != endpoint.origin {
                return Err(elsewhere(&opened, &format!("another origin, {to}, is not followed")));
            }
            if matches!(opened.status.as_u16(), 301 | 308) {
                self.move_to(to.clone());
            }
            note.complete();
            endpoint = to;
        }
        Err(Cause::Broken(format!("{endpoint}: more than {REDIRECTS} redirects")))
    }

    async fn send(
        &self,
        method: &Method,
        endpoint: &Endpoint,
        mut headers: HeaderMap,
        body: Bytes,
        note: &mut Note,
    ) -> Result<Opened, Cause> {
        if !headers.contains_key(HOST)
            && let Ok(host) = HeaderValue::from_str(&endpoint.host())
        {
            headers.insert(HOST, host);
        }
        let mut uri = Uri::from(endpoint.path.clone());
        if let Some(auth) = self.connector.by_proxy() {
            uri = endpoint.to_string().parse().unwrap_or(uri);
            headers.extend(auth.map(|auth| (PROXY_AUTHORIZATION, hidden(auth))));
        }
        let name = match *method {
            Method::GET => "GET",
            Method::DELETE => "DELETE",
            _ => "POST",
        };
        note.request(name, endpoint.to_string(), &headers);
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        loop {
            let (mut conn, reused) = self.connection(note).await?;
            note.progress.sent();
            let sending = conn.sender.try_send_request(request);
            match Conn::drive(&mut conn.driver, &mut conn.over, sending).await {
                Ok(response) => {
                    let (parts, body) = response.into_parts();
                    note.head(parts.status.as_u16(), &parts.headers);
                    note.progress.answering(parts.status.as_u16(), kind(&parts.headers));
                    return Ok(Opened {
                        status: parts.status,
                        headers: parts.headers,
                        from: endpoint.clone(),
                        body,
                        ended: false,
                        conn,
                        silence: self.silence,
                    });
                }
                Err(mut error) => match error.take_message() {
                    // The server had closed a connection that was kept, and the
                    // request never left.
                    Some(unsent) if reused => request = unsent,
                    _ => return Err(self.no_response(&error.into_error(), reused)),
                },
            }
        }
    }

    fn no_response(&self, error: &hyper::Error, reused: bool) -> Cause {
        let origin = &self.endpoint().origin;
        Cause::Broken(if error.is_parse() {
            format!("what {origin} answers is not HTTP: {}", innermost(error))
        } else if error.is_incomplete_message() || error.is_canceled() {
            let which = if reused { "a connection that was kept" } else { "the connection" };
            format!("{origin} closed {which} without a response")
        } else {
            format!("no response of {origin}: {}", innermost(error))
        })
    }

    /// A connection that was kept, or a new one; and which of both.
    async fn connection(&self, note: &mut Note) -> Result<(Conn, bool), Cause> {
        loop {
            let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(mut conn) = kept else { break };
            if conn.is_usable().await {
                return Ok((conn, true));
            }
        }
        note.progress.connecting();
        let io = self.connector.connect().await;
        let io = io.map_err(|error| Cause::Unreachable(error.to_string()))?;
        let made = http1::Builder::new().preserve_header_case(false).handshake(io).await;
        let (sender, driver) = made.map_err(|error| Cause::Unreachable(error.to_string()))?;
        note.connected();
        Ok((Conn { sender, driver, over: false }, false))
    }

    /// Keeps the connection of a response that was read to its end.
    pub(super) fn keep(&self, opened: Opened) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.ended && !opened.conn.over && idle.len() < KEPT {
            idle.push(opened.conn);
        }
    }
}

impl Opened {
    /// The next piece of the body; none at its end.
    pub(super) async fn chunk(&mut self, note: &Note) -> Result<Option<Bytes>, Cause> {
        loop {
            let silence = self.silence;
            let read = self.frame();
            let frame = match silence {
                None => read.await,
                Some(within) => match tokio::time::timeout(within, read).await {
                    Ok(frame) => frame,
                    Err(_) => {
                        return Err(Cause::Broken(note.progress.describe()));
                    }
                },
            };
            match frame {
                None => {
                    self.ended = true;
                    return Ok(None);
                }
                Some(Ok(frame)) => {
                    // Trailers say nothing that anybody here asks for.
                    if let Ok(data) = frame.into_data() {
                        note.progress.read(data.len());
                        return Ok(Some(data));
                    }
                }
                Some(Err(error)) => {
                    let so_far = note.progress.describe();
                    let why = innermost(&error);
                    return Err(Cause::Broken(format!("the answer broke off: {why} ({so_far})")));
                }
            }
        }
    }

    async fn frame(&mut self) -> Option<hyper::Result<http_body::Frame<Bytes>>> {
        let body = &mut self.body;
        let next = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx));
        Conn::drive(&mut self.conn.driver, &mut self.conn.over, next).await
    }

    /// The whole body, as long as it is not longer than that; the beginning and
    /// false, if it is.
    pub(super) async fn body(
        &mut self,
        limit: usize,
        note: &Note,
    ) -> Result<(Vec<u8>, bool), Cause> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk(note).await? {
            let room = limit - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                return Ok((body, false));
            }
        }
        Ok((body, true))
    }

    /// What the body is, by its own word, without parameters.
    pub(super) fn kind(&self) -> &str {
        kind(&self.headers)
    }
}

pub(super) fn kind(headers: &HeaderMap) -> &str {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    match kind.split(';').next().unwrap_or_default().trim() {
        "" => "no content type",
        kind => kind,
    }
}

pub(super) fn hidden(mut value: HeaderValue) -> HeaderValue {
    value.set_sensitive(true);
    value
}

fn redirection(opened: &Opened) -> Option<String> {
    if !matches!(opened.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = opened.headers.get(http::header::LOCATION)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

fn elsewhere(opened: &Opened, why: &str) -> Cause {
    Cause::Http {
        status: opened.status.as_u16(),
        what: format!("the server answered {} and sends us elsewhere: {why}", opened.status),
        body: String::new(),
    }
}

/// The last of the reasons that an error gives.
pub(super) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    chain.last().map(ToString::to_string).unwrap_or_default()
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Caller").field(&self.endpoint()).finish()
    }
}

//! One request over HTTP: on a connection that is kept for the next one, to
//! wherever the server leads, until the head of its response is there.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::PROXY_AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper::client::conn::http1::{self};
use sparring_peer::Cause;
use sparring_wire::Headers;

use super::connect::Connector;
use super::endpoint::Endpoint;
use super::note::{Note, has_secrets, shown};
use super::opened::{Conn, Opened, innermost};
use crate::secrets::Secrets;

/// The header with a session's id.
pub(super) const SESSION: &str = "mcp-session-id";

/// How many connections are kept for later.
const KEPT: usize = 64;

/// How often a server may send us elsewhere.
const REDIRECTS: usize = 5;

/// Sends requests to one server.
pub(super) struct Caller {
    connector: Connector,
    #[expect(clippy::vec_box, reason = "each is moved in and out with every request")]
    idle: Mutex<Vec<Box<Conn>>>,
    place: Mutex<Arc<Place>>,
    /// The headers of the last response, as they may be shown.
    last: Mutex<Headers>,
    /// How long a response may be silent.
    silence: Option<Duration>,
}

/// Where requests go, in all the ways in which that is written.
pub(super) struct Place {
    pub(super) endpoint: Endpoint,
    url: Arc<str>,
    pub(super) host: Option<HeaderValue>,
    uri: Uri,
    /// What must not be shown of anything that comes from there.
    pub(super) secrets: Secrets,
}

impl Place {
    fn new(endpoint: Endpoint, by_proxy: bool, secrets: Secrets) -> Self {
        let path = Uri::from(endpoint.path.clone());
        let whole = || format!("{}{}", endpoint.origin, endpoint.path).parse().ok();
        let uri = by_proxy.then(whole).flatten().unwrap_or(path);
        let host = HeaderValue::try_from(endpoint.host()).ok();
        let url = secrets.mask(&endpoint.to_string()).into();
        Place { url, endpoint, host, uri, secrets }
    }
}

/// What stands before the body of a request, and the same as it may be shown.
#[derive(Clone)]
pub(super) struct Head {
    pub(super) headers: HeaderMap,
    pub(super) shown: Headers,
}

/// What makes a request's content, each time that it is sent.
pub(super) type Content<'a> = &'a (dyn Fn() -> (Head, Bytes) + Sync);

impl Caller {
    pub(super) fn new(
        connector: Connector,
        endpoint: Endpoint,
        silence: Option<Duration>,
        secrets: Secrets,
    ) -> Self {
        let place = Place::new(endpoint, connector.by_proxy().is_some(), secrets);
        let place = Mutex::new(Arc::new(place));
        Caller { connector, idle: Mutex::default(), place, last: Mutex::default(), silence }
    }

    pub(super) fn place(&self) -> Arc<Place> {
        Arc::clone(&self.place.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on requests go there.
    pub(super) fn move_to(&self, endpoint: Endpoint) {
        let place = self.place_at(endpoint);
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }

    fn place_at(&self, endpoint: Endpoint) -> Arc<Place> {
        let by_proxy = self.connector.by_proxy().is_some();
        Arc::new(Place::new(endpoint, by_proxy, self.place().secrets.clone()))
    }

    /// Sends a request, and follows the server as far as it leads to itself.
    /// Its content is made anew each time: most need it once.
    pub(super) async fn call(
        &self,
        method: &Method,
        content: Content<'_>,
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        let mut place = self.place();
        for _ in 0..REDIRECTS {
            let opened = match self.send(method, &place, content, note).await {
                Ok(opened) => opened,
                Err(cause) => {
                    note.failed(&cause.to_string());
                    return Err(cause);
                }
            };
            match self.redirected(method, &opened) {
                Ok(None) => return Ok(opened),
                Ok(Some(to)) => place = to,
                Err(cause) => {
                    note.failed(&cause.to_string());
                    return Err(cause);
                }
            }
            note.complete();
        }
        Err(Cause::Broken(format!("{}: more than {REDIRECTS} redirects", place.url)))
    }

    fn request(
        &self,
        method: &Method,
        place: &Place,
        (head, body): (Head, Bytes),
        note: &mut Note,
    ) -> Request<Full<Bytes>> {
        let Head { mut headers, mut shown } = head;
        if let Some(auth) = self.connector.by_proxy().flatten() {
            shown.push(PROXY_AUTHORIZATION.as_str(), "(hidden)");
            headers.insert(PROXY_AUTHORIZATION, hidden(auth));
        }
        note.sending(shown);
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method.clone();
        *request.uri_mut() = place.uri.clone();
        *request.headers_mut() = headers;
        request
    }

    async fn send(
        &self,
        method: &Method,
        place: &Arc<Place>,
        content: Content<'_>,
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        loop {
            note.begin_exchange(method_name(method), Arc::clone(&place.url));
            let (mut conn, reused) = self.connection(note).await?;
            let request = self.request(method, place, content(), note);
            note.progress.sent();
            let mut sending = pin!(conn.sender.try_send_request(request));
            let sent = poll_fn(|cx| conn.poll_with(|cx| sending.as_mut().poll(cx), cx)).await;
            match sent {
                Ok(response) => {
                    let (parts, body) = response.into_parts();
                    let (shown, secret) = self.shown(&parts.headers);
                    note.head(parts.status, &parts.headers, &shown);
                    return Ok(Box::new(Opened {
                        status: parts.status,
                        headers: parts.headers,
                        shown,
                        secret,
                        from: Arc::clone(place),
                        body,
                        ended: false,
                        conn,
                        silence: self.silence,
                    }));
                }
                Err(mut error) => match error.take_message() {
                    // The server had closed a connection that was kept, and the
                    // request never left.
                    Some(_) if reused => note.unsent(),
                    _ => return Err(self.no_response(&error.into_error(), reused)),
                },
            }
        }
    }

    /// Headers as they may be shown, made only once if the response before had
    /// the same; and whether that leaves something out.
    fn shown(&self, headers: &HeaderMap) -> (Headers, bool) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = headers.iter().map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()));
        let before = last.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let same = now.eq(before);
        if !same {
            *last = shown(headers, &self.place().secrets);
        }
        (last.clone(), !same && has_secrets(headers))
    }

    /// Where the server sends us, if it does and we may go there.
    fn redirected(&self, method: &Method, opened: &Opened) -> Result<Option<Arc<Place>>, Cause> {
        let Some(location) = redirection(opened) else { return Ok(None) };
        let from = &opened.from.endpoint;
        let to = from.join(&location).map_err(|bad| elsewhere(opened, &bad.to_string()))?;
        if to.origin != from.origin {
            return Err(elsewhere(opened, &format!("another origin, {to}, is not followed")));
        }
        let post = *method == Method::POST;
        // It says that the message was taken, and would be taken twice.
        if post && opened.status == StatusCode::SEE_OTHER {
            return Err(elsewhere(opened, &format!("to {to}, for a GET that would be no answer")));
        }
        // What holds for the other methods need not hold for messages.
        if post && matches!(opened.status.as_u16(), 301 | 308) {
            self.move_to(to.clone());
        }
        Ok(Some(self.place_at(to)))
    }

    fn no_response(&self, error: &hyper::Error, reused: bool) -> Cause {
        let place = self.place();
        let origin = &place.endpoint.origin;
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
    async fn connection(&self, note: &mut Note) -> Result<(Box<Conn>, bool), Cause> {
        loop {
            let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let Some(mut conn) = kept else { break };
            if conn.is_usable() {
                return Ok((conn, true));
            }
        }
        // Apart, since most requests need none of this and should stay small.
        Ok((Box::pin(self.new_connection(note)).await?, false))
    }

    async fn new_connection(&self, note: &mut Note) -> Result<Box<Conn>, Cause> {
        note.progress.connecting();
        let io = self.connector.connect().await;
        let io = io.map_err(|error| Cause::Unreachable(error.to_string()))?;
        let made = http1::Builder::new().handshake(io).await;
        let (sender, driver) = made.map_err(|error| Cause::Unreachable(error.to_string()))?;
        note.connected();
        Ok(Box::new(Conn { sender, driver, over: false }))
    }

    /// Keeps the connection of a response that was read to its end.
    pub(super) fn keep(&self, opened: Opened) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.ended && !opened.conn.over && idle.len() < KEPT {
            idle.push(opened.conn);
        }
    }
}

pub(super) fn hidden(mut value: HeaderValue) -> HeaderValue {
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

fn redirection(opened: &Opened) -> Option<String> {
    if !matches!(opened.status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = opened.headers.get(http::header::LOCATION)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

fn elsewhere(opened: &Opened, why: &str) -> Cause {
    let what = format!("the server answered {} and sends us elsewhere: {why}", opened.status);
    Cause::Http {
        status: opened.status.as_u16(),
        what: opened.from.secrets.mask(&what).into_owned(),
        body: String::new(),
    }
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Caller").field(&self.place().endpoint).finish()
    }
}

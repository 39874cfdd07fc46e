//! A response whose head has arrived: its body and its events. The reader polls the connection.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body::Body as _;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Connection, SendRequest};
use sparring_peer::Cause;
use sparring_wire::Headers;

use super::connector::ByteStream;
use super::exchange_recorder::ExchangeRecorder;
use super::http_client::ServerAddress;
use crate::http::sse::{Event, Parser};

/// A response whose head has arrived.
pub(super) struct HttpResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// The headers with secrets masked.
    pub(super) redacted: Headers,
    /// True if something was masked.
    pub(super) has_hidden: bool,
    /// The address that it came from, after redirects.
    pub(super) address: Arc<ServerAddress>,
    pub(super) body: Incoming,
    /// True if the body was read to its end.
    pub(super) complete: bool,
    pub(super) conn: Box<ClientConnection>,
    pub(super) idle_timeout: Option<Duration>,
}

impl HttpResponse {
    /// Returns the next chunk of the body, or `None` at its end.
    pub(super) async fn next_chunk(
        &mut self,
        exchange: &ExchangeRecorder,
    ) -> Result<Option<Bytes>, Cause> {
        loop {
            let idle_timeout = self.idle_timeout;
            let read = self.next_frame();
            let frame = match idle_timeout {
                None => read.await,
                Some(within) => match Box::pin(tokio::time::timeout(within, read)).await {
                    Ok(frame) => frame,
                    Err(_) => {
                        return Err(Cause::Broken(exchange.progress.describe()));
                    }
                },
            };
            match frame {
                None => {
                    self.complete = true;
                    return Ok(None);
                }
                Some(Ok(frame)) => {
                    // Trailers are ignored.
                    if let Ok(data) = frame.into_data() {
                        exchange.progress.read(data.len());
                        return Ok(Some(data));
                    }
                }
                Some(Err(error)) => {
                    let so_far = exchange.progress.describe();
                    let why = root_cause(&error);
                    return Err(Cause::Broken(format!(
                        "the response is incomplete: {why} ({so_far})"
                    )));
                }
            }
        }
    }

    async fn next_frame(&mut self) -> Option<hyper::Result<http_body::Frame<Bytes>>> {
        let HttpResponse { body, conn, .. } = self;
        poll_fn(|cx| conn.poll_with(|cx| Pin::new(&mut *body).poll_frame(cx), cx)).await
    }

    /// Reads the body up to `limit` bytes; the second value is false if there is more.
    pub(super) async fn body(
        &mut self,
        limit: usize,
        exchange: &ExchangeRecorder,
    ) -> Result<(Vec<u8>, bool), Cause> {
        let mut body = Vec::new();
        while let Some(chunk) = self.next_chunk(exchange).await? {
            let room = limit - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                return Ok((body, false));
            }
        }
        Ok((body, true))
    }

    /// Returns true if the body has this media type.
    pub(super) fn has_content_type(&self, kind: &str) -> bool {
        self.content_type().eq_ignore_ascii_case(kind)
    }

    /// Returns the media type of the body, without parameters.
    pub(super) fn content_type(&self) -> &str {
        media_type(self.headers.get(CONTENT_TYPE))
    }
}

/// A response that is an event stream.
pub(super) struct EventStream {
    response: Box<HttpResponse>,
    parser: Parser,
    ready: VecDeque<Event>,
}

impl EventStream {
    pub(super) fn new(response: Box<HttpResponse>, limit: usize) -> Self {
        EventStream { response, parser: Parser::new(limit), ready: VecDeque::new() }
    }

    /// Returns the next event, or `None` at the end of the stream.
    pub(super) async fn next(
        &mut self,
        exchange: &ExchangeRecorder,
    ) -> Result<Option<Event>, Cause> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some(chunk) = self.response.next_chunk(exchange).await? else {
                return match self.parser.is_within_event() {
                    true => Err(Cause::Broken(format!(
                        "the event stream ended in the middle of an event ({})",
                        exchange.progress.describe()
                    ))),
                    false => Ok(None),
                };
            };
            let ready = &mut self.ready;
            let fed = self.parser.feed(&chunk, |event| ready.push_back(event));
            fed.map_err(|long| Cause::Broken(format!("the event stream has {long}")))?;
        }
    }

    /// Returns true if the stream has ended in the middle of an event.
    pub(super) fn has_unfinished_event(&self) -> bool {
        self.response.complete && self.parser.is_within_event()
    }

    /// Returns the response, completely read or not.
    pub(super) fn into_response(self) -> HttpResponse {
        *self.response
    }
}

/// A connection. Its user polls it.
pub(super) struct ClientConnection {
    pub(super) sender: SendRequest<Full<Bytes>>,
    pub(super) driver: Connection<Box<dyn ByteStream>, Full<Bytes>>,
    pub(super) closed: bool,
}

impl ClientConnection {
    /// Polls `work`, which waits for this connection, and the connection with it.
    pub(super) fn poll_with<T>(
        &mut self,
        mut work: impl FnMut(&mut Context<'_>) -> Poll<T>,
        cx: &mut Context<'_>,
    ) -> Poll<T> {
        if let Poll::Ready(done) = work(cx) {
            return Poll::Ready(done);
        }
        // `work` reports the end of the connection.
        self.poll_driver(cx);
        work(cx)
    }

    pub(super) fn poll_driver(&mut self, cx: &mut Context<'_>) {
        self.closed = self.closed || Pin::new(&mut self.driver).poll(cx).is_ready();
    }

    /// Returns true if a request can be sent now. If not, the connection still has a part of
    /// the last request to send, which the server answered without reading it.
    ///
    /// Registers no waker, since the caller uses the connection at once.
    pub(super) fn is_usable(&mut self) -> bool {
        let cx = &mut Context::from_waker(Waker::noop());
        self.poll_driver(cx);
        !self.closed && matches!(self.sender.poll_ready(cx), Poll::Ready(Ok(())))
    }
}

/// Returns the media type of a `Content-Type`, without parameters.
pub(super) fn media_type(value: Option<&HeaderValue>) -> &str {
    let kind = value.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    match kind.split(';').next().unwrap_or_default().trim() {
        "" => "no content type",
        kind => kind,
    }
}

/// Returns the innermost cause of an error.
pub(super) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    chain.last().map(ToString::to_string).unwrap_or_default()
}

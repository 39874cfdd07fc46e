//! A response whose head is there: its body piece by piece, off a connection
//! that whoever reads drives along.

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

use super::call::Place;
use super::connect::Io;
use super::note::Note;

/// A response whose head is there.
pub(super) struct Opened {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// The same as they may be shown.
    pub(super) shown: Headers,
    /// Whether something of them may not be shown.
    pub(super) secret: bool,
    /// Where it came from, after redirects.
    pub(super) from: Arc<Place>,
    pub(super) body: Incoming,
    /// Whether the body was read to its end.
    pub(super) ended: bool,
    pub(super) conn: Box<Conn>,
    pub(super) silence: Option<Duration>,
}

impl Opened {
    /// The next piece of the body; none at its end.
    pub(super) async fn chunk(&mut self, note: &Note) -> Result<Option<Bytes>, Cause> {
        loop {
            let silence = self.silence;
            let read = self.frame();
            let frame = match silence {
                None => read.await,
                Some(within) => match Box::pin(tokio::time::timeout(within, read)).await {
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
        let Opened { body, conn, .. } = self;
        poll_fn(|cx| conn.poll_with(|cx| Pin::new(&mut *body).poll_frame(cx), cx)).await
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

    /// Whether the body is of that kind.
    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind().eq_ignore_ascii_case(kind)
    }

    /// What the body is, by its own word, without parameters.
    pub(super) fn kind(&self) -> &str {
        kind_of(self.headers.get(CONTENT_TYPE))
    }
}

/// A connection. Whoever uses it drives it.
pub(super) struct Conn {
    pub(super) sender: SendRequest<Full<Bytes>>,
    pub(super) driver: Connection<Box<dyn Io>, Full<Bytes>>,
    pub(super) over: bool,
}

impl Conn {
    /// Lets `work`, which waits for something of this connection, go on, and
    /// the connection with it.
    pub(super) fn poll_with<T>(
        &mut self,
        mut work: impl FnMut(&mut Context<'_>) -> Poll<T>,
        cx: &mut Context<'_>,
    ) -> Poll<T> {
        if let Poll::Ready(done) = work(cx) {
            return Poll::Ready(done);
        }
        // What ends a connection is told to whoever waits for something of it.
        self.go_on(cx);
        work(cx)
    }

    pub(super) fn go_on(&mut self, cx: &mut Context<'_>) {
        self.over = self.over || Pin::new(&mut self.driver).poll(cx).is_ready();
    }

    /// Whether it can take a request now. One that cannot still has something of
    /// the last one to send, which the server answered without reading it.
    ///
    /// Nobody is woken by what is found here: whoever asks uses it at once.
    pub(super) fn is_usable(&mut self) -> bool {
        let cx = &mut Context::from_waker(Waker::noop());
        self.go_on(cx);
        !self.over && matches!(self.sender.poll_ready(cx), Poll::Ready(Ok(())))
    }
}

/// What a content type says, without parameters.
pub(super) fn kind_of(value: Option<&HeaderValue>) -> &str {
    let kind = value.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    match kind.split(';').next().unwrap_or_default().trim() {
        "" => "no content type",
        kind => kind,
    }
}

/// The last of the reasons that an error gives.
pub(super) fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    chain.last().map(ToString::to_string).unwrap_or_default()
}

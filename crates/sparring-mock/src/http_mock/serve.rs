//! Takes connections, and answers what comes on them.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use sparring_wire::Headers;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::Sleep;

use super::{HttpFault, HttpReply, HttpRequest};

/// The longest body that is taken in.
const MOST: usize = 8 * 1024 * 1024;

/// How often something of a slow body comes.
const SLOW: Duration = Duration::from_millis(100);

/// How much of a body that is too long is read all the same, so that its sender
/// gets to know.
const PATIENCE: usize = 64 * 1024 * 1024;

/// Whoever answers, at once.
pub(crate) trait Answer: Send + Sync + 'static {
    fn answer(&self, request: HttpRequest) -> HttpReply;

    /// The longest body that is taken in.
    fn most(&self) -> usize {
        MOST
    }

    /// The answer to a request whose body is longer, and is not there.
    fn too_long(&self, _request: HttpRequest) -> HttpReply {
        HttpReply::new(413).body(format!("more than {} bytes", self.most()))
    }
}

/// Serves until it is dropped, and all connections with it.
pub(crate) async fn run(listener: TcpListener, by: Arc<impl Answer>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let by = Arc::clone(&by);
                let service = service_fn(move |request| answer(Arc::clone(&by), request));
                // A client that breaks off is its own affair.
                let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                connections.spawn(async { drop(serving.await) });
            }
        }
    }
}

async fn answer(
    by: Arc<impl Answer>,
    request: Request<Incoming>,
) -> io::Result<Response<Scripted>> {
    let (parts, body) = request.into_parts();
    let body = read(body, by.most()).await?;
    let headers: Headers = parts
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
        .collect();
    let is_too_long = body.is_none();
    let request = HttpRequest {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().map(str::to_owned),
        headers,
        body: body.unwrap_or_default(),
    };
    let reply = if is_too_long { by.too_long(request) } else { by.answer(request) };
    tokio::time::sleep(reply.delay).await;
    match reply.fault {
        Some(HttpFault::Disconnect) => Err(broken()),
        Some(HttpFault::Silent) => std::future::pending().await,
        fault => {
            let pace = reply.pace;
            let body = |left| Scripted { left, begun: false, fault, pace, pause: None };
            Ok(reply.response()?.map(body))
        }
    }
}

/// All of a body; nothing of one that is too long.
async fn read(body: Incoming, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut body = Limited::new(body, PATIENCE);
    let (mut bytes, mut length) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let data = frame.map_err(io::Error::other)?.into_data().unwrap_or_default();
        length += data.len();
        match length > most {
            true => bytes = Vec::new(),
            false => bytes.extend_from_slice(&data),
        }
    }
    Ok((length <= most).then_some(bytes))
}

fn broken() -> io::Error {
    io::Error::other("broken, as told")
}

impl HttpReply {
    /// The reply as it is sent.
    pub(crate) fn response(&self) -> io::Result<Response<Bytes>> {
        let status = StatusCode::from_u16(self.status).map_err(io::Error::other)?;
        let mut response = Response::builder().status(status);
        for (name, value) in &self.headers {
            response = response.header(name, value);
        }
        response.body(self.body.clone().into()).map_err(io::Error::other)
    }
}

/// A body that comes as it was told to.
struct Scripted {
    left: Bytes,
    begun: bool,
    fault: Option<HttpFault>,
    /// Whether it is events, and how long each waits for the next.
    pace: Option<Duration>,
    pause: Option<Pin<Box<Sleep>>>,
}

impl Body for Scripted {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(cx));
            self.pause = None;
        }
        if self.left.is_empty() && self.fault != Some(HttpFault::Truncate) {
            return Poll::Ready(None);
        }
        let part = match self.fault {
            Some(HttpFault::Truncate) if self.begun => {
                return Poll::Ready(Some(Err(broken())));
            }
            // The pause lets it get out before the connection ends.
            Some(HttpFault::Truncate) => {
                self.pause = Some(Box::pin(tokio::time::sleep(SLOW)));
                self.left.len().div_ceil(2)
            }
            Some(HttpFault::Slow(rate)) => {
                self.pause = Some(Box::pin(tokio::time::sleep(SLOW)));
                usize::try_from(rate / 10).unwrap_or(usize::MAX).max(1).min(self.left.len())
            }
            _ => match self.pace {
                Some(pace) => {
                    if !pace.is_zero() {
                        self.pause = Some(Box::pin(tokio::time::sleep(pace)));
                    }
                    event(&self.left)
                }
                None => self.left.len(),
            },
        };
        self.begun = true;
        let part = self.left.split_to(part);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty() && self.fault != Some(HttpFault::Truncate)
    }

    fn size_hint(&self) -> SizeHint {
        match self.pace {
            // Whoever streams does not know how much will come.
            Some(_) => SizeHint::default(),
            None => SizeHint::with_exact(self.left.len() as u64),
        }
    }
}

/// How long the first event is.
fn event(events: &[u8]) -> usize {
    let end = events.windows(2).position(|two| two == b"\n\n");
    end.map_or(events.len(), |end| end + 2)
}

//! Accepts HTTP connections and answers their requests.

use std::io::{self, Read as _};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use sparring_peer::{ByteBudget, ReservedBytes};
use sparring_transport::http::{AcceptErrors, check_host_and_origin};
use sparring_wire::Headers;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::Sleep;

use super::{HttpFault, HttpReply, HttpRequest};

/// The largest request body that is read, in bytes.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

/// The maximum number of bytes of all bodies that are being read.
const MAX_TOTAL_BODY_BYTES: usize = 256 * 1024 * 1024;

/// The number of bytes at the start of each body that are not counted, so that large bodies do
/// not keep out small ones.
const UNCOUNTED_BYTES: usize = 16 * 1024;

/// The maximum time for the head of a request, and for its body.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The wait before the next attempt if no connection can be accepted.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// The interval between the parts of a slow body.
const SLOW_INTERVAL: Duration = Duration::from_millis(100);

/// The maximum number of bytes that are read and discarded of a body that is too large.
/// Without this, the client would not receive the reply.
const MAX_DRAINED_BYTES: usize = 64 * 1024 * 1024;

/// Answers HTTP requests without waiting.
pub(crate) trait HttpResponder: Send + Sync + 'static {
    fn answer(&self, request: HttpRequest) -> HttpReply;

    /// Returns true if it refuses requests that a web page of another site can send.
    fn refuses_web_pages(&self) -> bool {
        false
    }

    /// The largest request body that is read, in bytes.
    fn max_body_bytes(&self) -> usize {
        MAX_BODY_BYTES
    }

    /// Answers a request whose body is refused. The body of `_request` is empty.
    fn refuse_body(&self, _request: HttpRequest, refusal: BodyRefusal) -> HttpReply {
        HttpReply::new(refusal.status).body(refusal.message)
    }
}

/// The reason why a request body is refused.
#[derive(Debug)]
pub(crate) struct BodyRefusal {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The message.
    pub(crate) message: String,
}

impl BodyRefusal {
    fn too_large(max: usize) -> BodyRefusal {
        BodyRefusal { status: 413, message: format!("the body has more than {max} bytes") }
    }

    fn no_memory() -> BodyRefusal {
        BodyRefusal { status: 503, message: "too many large requests at once".to_owned() }
    }
}

/// Serves until the future is dropped, which closes all connections.
pub(crate) async fn serve(
    listener: TcpListener,
    responder: Arc<impl HttpResponder>,
    accept_errors: AcceptErrors,
) {
    let mut connections = JoinSet::new();
    let budget = ByteBudget::new(MAX_TOTAL_BODY_BYTES);
    let address = listener.local_addr().ok().filter(|_| responder.refuses_web_pages());
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => {
                let stream = match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        // The system may have no free file descriptors for now.
                        accept_errors.report(&error);
                        tokio::time::sleep(ACCEPT_RETRY_INTERVAL).await;
                        continue;
                    }
                };
                let responder = Arc::clone(&responder);
                let budget = budget.clone();
                let service = service_fn(move |request| {
                    answer(Arc::clone(&responder), address, budget.clone(), request)
                });
                // Errors of a client connection do not concern the server.
                let mut http = http1::Builder::new();
                http.timer(TokioTimer::new()).header_read_timeout(READ_TIMEOUT);
                let serving = http.serve_connection(TokioIo::new(stream), service);
                connections.spawn(async { drop(serving.await) });
            }
        }
    }
}

async fn answer(
    responder: Arc<impl HttpResponder>,
    address: Option<SocketAddr>,
    budget: ByteBudget,
    request: Request<Incoming>,
) -> io::Result<Response<ScriptedBody>> {
    let (parts, body) = request.into_parts();
    if let Some(Err(why)) = address.map(|address| check_host_and_origin(&parts, address)) {
        let refusal = HttpReply::new(403).body(why).response()?;
        return Ok(refusal.map(ScriptedBody::whole));
    }
    let max = responder.max_body_bytes();
    let body = tokio::time::timeout(READ_TIMEOUT, read_body(body, max, &budget)).await;
    let body = body.map_err(io::Error::other)??;
    let headers: Headers = parts
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
        .collect();
    let encoding = headers.get("content-encoding").unwrap_or_default();
    let body = body.and_then(|(body, reserved)| Ok((decode(body, encoding, max)?, reserved)));
    let (body, reserved, refusal) = match body {
        Ok((body, reserved)) => (body, Some(reserved), None),
        Err(refusal) => (Vec::new(), None, Some(refusal)),
    };
    let request = HttpRequest {
        method: parts.method.as_str().to_owned(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().map(str::to_owned),
        headers,
        body,
    };
    let reply = match refusal {
        Some(refusal) => responder.refuse_body(request, refusal),
        None => responder.answer(request),
    };
    drop(reserved);
    tokio::time::sleep(reply.delay).await;
    match reply.fault {
        Some(HttpFault::Disconnect) => Err(scripted_disconnect()),
        Some(HttpFault::Silent) => std::future::pending().await,
        fault => {
            let pace = reply.pace;
            let body = |remaining| ScriptedBody { fault, pace, ..ScriptedBody::whole(remaining) };
            Ok(reply.response()?.map(body))
        }
    }
}

/// Reads a body, and reserves its bytes.
async fn read_body(
    body: Incoming,
    max: usize,
    budget: &ByteBudget,
) -> io::Result<Result<(Vec<u8>, ReservedBytes), BodyRefusal>> {
    let mut body = Limited::new(body, MAX_DRAINED_BYTES);
    let (mut bytes, mut reserved, mut refusal) = (Vec::new(), budget.reserve_none(), None);
    while let Some(frame) = body.frame().await {
        let data = frame.map_err(io::Error::other)?.into_data().unwrap_or_default();
        let length = bytes.len() + data.len();
        let uncounted = UNCOUNTED_BYTES + reserved.bytes();
        refusal = match refusal {
            Some(refusal) => Some(refusal),
            None if length > max => Some(BodyRefusal::too_large(max)),
            None if reserved.grow(length.saturating_sub(uncounted)) => {
                bytes.extend_from_slice(&data);
                continue;
            }
            None => Some(BodyRefusal::no_memory()),
        };
        (bytes, reserved) = (Vec::new(), budget.reserve_none());
    }
    Ok(refusal.map_or(Ok((bytes, reserved)), Err))
}

/// Decompresses a body.
fn decode(body: Vec<u8>, encoding: &str, max: usize) -> Result<Vec<u8>, BodyRefusal> {
    let mut decoded = Vec::new();
    // One more byte than allowed shows that the body is too large.
    let limit = max as u64 + 1;
    let read = match encoding.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => return Ok(body),
        "gzip" | "x-gzip" => MultiGzDecoder::new(&*body).take(limit).read_to_end(&mut decoded),
        "deflate" => ZlibDecoder::new(&*body).take(limit).read_to_end(&mut decoded),
        other => {
            let message = format!("Content-Encoding {other} is not supported; use gzip");
            return Err(BodyRefusal { status: 415, message });
        }
    };
    match read {
        Ok(length) if length > max => Err(BodyRefusal::too_large(max)),
        Ok(_) => Ok(decoded),
        Err(error) => {
            let message = format!("the body is not valid {encoding}: {error}");
            Err(BodyRefusal { status: 400, message })
        }
    }
}

fn scripted_disconnect() -> io::Error {
    io::Error::other("connection closed by the script")
}

impl HttpReply {
    /// Builds the HTTP response.
    pub(crate) fn response(&self) -> io::Result<Response<Bytes>> {
        let status = StatusCode::from_u16(self.status).map_err(io::Error::other)?;
        let mut response = Response::builder().status(status);
        for (name, value) in &self.headers {
            response = response.header(name, value);
        }
        response.body(self.body.clone().into()).map_err(io::Error::other)
    }
}

/// A response body with a pace and faults.
struct ScriptedBody {
    remaining: Bytes,
    started: bool,
    fault: Option<HttpFault>,
    /// The pause between events, if it is streamed.
    pace: Option<Duration>,
    pause: Option<Pin<Box<Sleep>>>,
}

impl ScriptedBody {
    fn whole(remaining: Bytes) -> Self {
        ScriptedBody { remaining, started: false, fault: None, pace: None, pause: None }
    }
}

impl Body for ScriptedBody {
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
        if self.remaining.is_empty() && self.fault != Some(HttpFault::Truncate) {
            return Poll::Ready(None);
        }
        let part = match self.fault {
            Some(HttpFault::Truncate) if self.started => {
                return Poll::Ready(Some(Err(scripted_disconnect())));
            }
            // The pause lets the half leave before the connection closes.
            Some(HttpFault::Truncate) => {
                self.pause = Some(Box::pin(tokio::time::sleep(SLOW_INTERVAL)));
                self.remaining.len().div_ceil(2)
            }
            Some(HttpFault::Slow(rate)) => {
                self.pause = Some(Box::pin(tokio::time::sleep(SLOW_INTERVAL)));
                usize::try_from(rate / 10).unwrap_or(usize::MAX).max(1).min(self.remaining.len())
            }
            _ => match self.pace {
                Some(pace) => {
                    if !pace.is_zero() {
                        self.pause = Some(Box::pin(tokio::time::sleep(pace)));
                    }
                    first_event_length(&self.remaining)
                }
                None => self.remaining.len(),
            },
        };
        self.started = true;
        let part = self.remaining.split_to(part);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.remaining.is_empty() && self.fault != Some(HttpFault::Truncate)
    }

    fn size_hint(&self) -> SizeHint {
        match self.pace {
            // The size of a stream is not known.
            Some(_) => SizeHint::default(),
            None => SizeHint::with_exact(self.remaining.len() as u64),
        }
    }
}

/// Returns the length of the first event.
fn first_event_length(events: &[u8]) -> usize {
    let end = events.windows(2).position(|two| two == b"\n\n");
    end.map_or(events.len(), |end| end + 2)
}

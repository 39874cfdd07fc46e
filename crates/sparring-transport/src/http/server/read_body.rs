//! Reads a request's body, within a size limit, a timeout, and the memory that a server has for
//! all requests.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_body::Body;
use sparring_peer::{ByteBudget, ReservedBytes};
use tokio::time::Instant;

use super::reply::Refusal;
use super::{HttpOptions, Shared};

/// The maximum time to read the body of a refused request, so that the client can read
/// the response; closing a connection with unread bytes resets it.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(1);

/// The number of bytes at the start of each body that are not counted, so that large bodies of
/// one client do not keep out the usual small ones of others.
const UNCOUNTED_BYTES: usize = 16 * 1024;

/// The largest buffer for bytes that have not arrived yet.
const MAX_INITIAL_CAPACITY: usize = 64 * 1024;

/// A body, and its part of the memory for all requests.
#[derive(Debug)]
pub(super) struct ReceivedBody {
    pub(super) bytes: Vec<u8>,
    pub(super) reserved: ReservedBytes,
}

/// Reads a body. During a shutdown the rest of the body must arrive within `grace`.
pub(super) async fn read_body<B>(
    mut body: Pin<&mut B>,
    shared: &Shared,
    grace: Duration,
) -> Result<ReceivedBody, Refusal>
where
    B: Body<Data = Bytes>,
{
    let HttpOptions { body_limit: limit, body_timeout: within, .. } = shared.options;
    let shutdown = &shared.shutdown;
    let hint = body.size_hint();
    if hint.lower() > limit as u64 {
        return Err(too_large(limit));
    }
    let mut reader = BodyReader::new(hint.lower() as usize, limit, &shared.request_bytes);
    let (mut waiting, mut ending) = (None, false);
    let read = poll_fn(|cx| match reader.poll(body.as_mut(), cx) {
        Poll::Ready(read) => Poll::Ready(read),
        // Most bodies are complete at once and need no timer.
        Poll::Pending => {
            let wait = || (Box::pin(tokio::time::sleep(within)), shutdown.subscribe());
            let (timer, shutdown) = waiting.get_or_insert_with(wait);
            if shutdown.poll(cx).is_ready() {
                ending = true;
                let end = Instant::now() + grace;
                if timer.deadline() > end {
                    timer.as_mut().reset(end);
                }
            }
            let why = if ending { ReadFailure::ShuttingDown } else { ReadFailure::TimedOut };
            timer.as_mut().poll(cx).map(|()| Err(why))
        }
    });
    match read.await {
        Ok(()) => Ok(reader.finish()),
        Err(ReadFailure::TooLarge) => Err(too_large(limit)),
        Err(ReadFailure::NoMemory) => {
            drop(reader);
            drain(body).await;
            Err(closing(Refusal::unavailable("too many large requests at once")))
        }
        Err(ReadFailure::Truncated) => Err(Refusal::bad_request("incomplete body")),
        Err(ReadFailure::ShuttingDown) => {
            Err(closing(Refusal::unavailable("the server is shutting down")))
        }
        Err(ReadFailure::TimedOut) => {
            let message = "the body did not arrive in time";
            Err(closing(Refusal::new(StatusCode::REQUEST_TIMEOUT, message)))
        }
    }
}

struct BodyReader {
    body: ReceivedBody,
    limit: usize,
}

enum ReadFailure {
    TooLarge,
    NoMemory,
    Truncated,
    TimedOut,
    ShuttingDown,
}

impl BodyReader {
    fn new(expected: usize, limit: usize, budget: &ByteBudget) -> Self {
        // A client may announce bytes and not send them.
        let bytes = Vec::with_capacity(expected.min(MAX_INITIAL_CAPACITY));
        BodyReader { body: ReceivedBody { bytes, reserved: budget.reserve_none() }, limit }
    }

    /// Adds a piece of the body.
    fn push(&mut self, piece: &[u8]) -> Result<(), ReadFailure> {
        let ReceivedBody { bytes, reserved } = &mut self.body;
        let length = bytes.len() + piece.len();
        if length > self.limit {
            return Err(ReadFailure::TooLarge);
        }
        let uncounted = UNCOUNTED_BYTES + reserved.bytes();
        if !reserved.grow(length.saturating_sub(uncounted)) {
            return Err(ReadFailure::NoMemory);
        }
        bytes.extend_from_slice(piece);
        Ok(())
    }

    fn finish(mut self) -> ReceivedBody {
        if self.body.bytes.len() > MAX_INITIAL_CAPACITY {
            self.body.bytes.shrink_to_fit();
        }
        self.body
    }

    fn poll<B>(
        &mut self,
        mut body: Pin<&mut B>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), ReadFailure>>
    where
        B: Body<Data = Bytes>,
    {
        loop {
            match std::task::ready!(body.as_mut().poll_frame(cx)) {
                None => return Poll::Ready(Ok(())),
                Some(Err(_)) => return Poll::Ready(Err(ReadFailure::Truncated)),
                Some(Ok(piece)) => {
                    let Ok(data) = piece.into_data() else { continue };
                    if let Err(why) = self.push(&data) {
                        return Poll::Ready(Err(why));
                    }
                }
            }
        }
    }
}

/// Reads and drops the rest of a refused request's body.
pub(super) async fn discard_body<B>(body: Pin<&mut B>, headers: &HeaderMap)
where
    B: Body<Data = Bytes>,
{
    // A client that sends `Expect` does not send the body.
    if body.is_end_stream() || headers.contains_key(header::EXPECT) {
        return;
    }
    drain(body).await;
}

/// Reads and drops the rest of a body, for a limited time.
async fn drain<B>(mut body: Pin<&mut B>)
where
    B: Body<Data = Bytes>,
{
    let rest =
        async { while let Some(Ok(_)) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {} };
    // The rest is not waited for.
    let _ = tokio::time::timeout(DISCARD_TIMEOUT, rest).await;
}

fn too_large(limit: usize) -> Refusal {
    let message = format!("the body is larger than {limit} bytes");
    closing(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message))
}

/// Closes the connection, since the rest of the body is not read.
fn closing(refusal: Refusal) -> Refusal {
    refusal.with_header(header::CONNECTION, http::HeaderValue::from_static("close"))
}

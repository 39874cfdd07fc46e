//! Reads a request's body, within a size limit and a timeout.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http::{HeaderMap, StatusCode, header};
use http_body::Body;
use tokio::time::Instant;

use super::reply::Refusal;
use super::shutdown_signal::ShutdownSignal;

/// The maximum time to read the body of a refused request, so that the client can read
/// the response; closing a connection with unread bytes resets it.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(1);

/// Reads a body. During a shutdown the rest of the body must arrive within `grace`.
pub(super) async fn read_body<B>(
    mut body: Pin<&mut B>,
    limit: usize,
    within: Duration,
    shutdown: &ShutdownSignal,
    grace: Duration,
) -> Result<Vec<u8>, Refusal>
where
    B: Body<Data = Bytes>,
{
    let hint = body.size_hint();
    if hint.lower() > limit as u64 {
        return Err(too_large(limit));
    }
    let mut reader = BodyReader { bytes: Vec::with_capacity(hint.lower() as usize), limit };
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
        Ok(()) => Ok(reader.bytes),
        Err(ReadFailure::TooLarge) => Err(too_large(limit)),
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
    bytes: Vec<u8>,
    limit: usize,
}

enum ReadFailure {
    TooLarge,
    Truncated,
    TimedOut,
    ShuttingDown,
}

impl BodyReader {
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
                    if self.bytes.len() + data.remaining() > self.limit {
                        return Poll::Ready(Err(ReadFailure::TooLarge));
                    }
                    self.bytes.extend_from_slice(&data);
                }
            }
        }
    }
}

/// Reads and drops the rest of a refused request's body.
pub(super) async fn discard_body<B>(mut body: Pin<&mut B>, headers: &HeaderMap)
where
    B: Body<Data = Bytes>,
{
    // A client that sends `Expect` does not send the body.
    if body.is_end_stream() || headers.contains_key(header::EXPECT) {
        return;
    }
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

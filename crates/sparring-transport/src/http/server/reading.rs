//! Takes a request's body in, within a limit and a time.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http::{HeaderMap, StatusCode, header};
use http_body::Body;
use tokio::time::Instant;

use super::drain::Drain;
use super::reply::Refusal;

/// How long what is refused is still taken in, so that the client gets to
/// read why; a connection that is closed on unread bytes is reset.
const DISCARD: Duration = Duration::from_secs(1);

/// Reads a body. When the server's end has begun, what is missing of it has no
/// more time than `grace`.
pub(super) async fn read<B>(
    mut body: Pin<&mut B>,
    limit: usize,
    within: Duration,
    drain: &Drain,
    grace: Duration,
) -> Result<Vec<u8>, Refusal>
where
    B: Body<Data = Bytes>,
{
    let hint = body.size_hint();
    if hint.lower() > limit as u64 {
        return Err(too_large(limit));
    }
    let mut reading = Reading { bytes: Vec::with_capacity(hint.lower() as usize), limit };
    let (mut waiting, mut ending) = (None, false);
    let read = poll_fn(|cx| match reading.poll(body.as_mut(), cx) {
        Poll::Ready(read) => Poll::Ready(read),
        // Most bodies are there at once, and need no alarm.
        Poll::Pending => {
            let wait = || (Box::pin(tokio::time::sleep(within)), drain.ear());
            let (alarm, ear) = waiting.get_or_insert_with(wait);
            if ear.poll(cx).is_ready() {
                ending = true;
                let end = Instant::now() + grace;
                if alarm.deadline() > end {
                    alarm.as_mut().reset(end);
                }
            }
            let why = if ending { Broken::Draining } else { Broken::Late };
            alarm.as_mut().poll(cx).map(|()| Err(why))
        }
    });
    match read.await {
        Ok(()) => Ok(reading.bytes),
        Err(Broken::TooLarge) => Err(too_large(limit)),
        Err(Broken::Half) => Err(Refusal::bad_request("the body breaks off")),
        Err(Broken::Draining) => Err(closing(Refusal::unavailable("the server is shutting down"))),
        Err(Broken::Late) => {
            let message = "the body did not come in time";
            Err(closing(Refusal::new(StatusCode::REQUEST_TIMEOUT, message)))
        }
    }
}

struct Reading {
    bytes: Vec<u8>,
    limit: usize,
}

enum Broken {
    TooLarge,
    Half,
    Late,
    Draining,
}

impl Reading {
    fn poll<B>(&mut self, mut body: Pin<&mut B>, cx: &mut Context<'_>) -> Poll<Result<(), Broken>>
    where
        B: Body<Data = Bytes>,
    {
        loop {
            match std::task::ready!(body.as_mut().poll_frame(cx)) {
                None => return Poll::Ready(Ok(())),
                Some(Err(_)) => return Poll::Ready(Err(Broken::Half)),
                Some(Ok(piece)) => {
                    let Ok(data) = piece.into_data() else { continue };
                    if self.bytes.len() + data.remaining() > self.limit {
                        return Poll::Ready(Err(Broken::TooLarge));
                    }
                    self.bytes.extend_from_slice(&data);
                }
            }
        }
    }
}

/// Takes in what is left of the body of a request that is refused.
pub(super) async fn discard<B>(mut body: Pin<&mut B>, headers: &HeaderMap)
where
    B: Body<Data = Bytes>,
{
    // A client that asks first need not send it.
    if body.is_end_stream() || headers.contains_key(header::EXPECT) {
        return;
    }
    let rest =
        async { while let Some(Ok(_)) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {} };
    // What is not here by then is not waited for.
    let _ = tokio::time::timeout(DISCARD, rest).await;
}

fn too_large(limit: usize) -> Refusal {
    let message = format!("a body of more than {limit} bytes");
    closing(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message))
}

/// With it the connection ends, since the rest of the body is not wanted.
fn closing(refusal: Refusal) -> Refusal {
    refusal.header(header::CONNECTION, http::HeaderValue::from_static("close"))
}

//! Takes a request's body in, within a limit and a time.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf as _, Bytes};
use http::{HeaderMap, StatusCode, header};
use http_body::Body;

use super::reply::Refusal;

/// How long what is too much is still taken in, so that the client gets to
/// read why; a connection that is closed on unread bytes is reset.
const DISCARD: Duration = Duration::from_secs(1);

/// Reads a body.
pub(super) async fn read<B>(
    mut body: Pin<&mut B>,
    headers: &HeaderMap,
    limit: usize,
    within: Duration,
) -> Result<Vec<u8>, Refusal>
where
    B: Body<Data = Bytes>,
{
    let hint = body.size_hint();
    if hint.lower() > limit as u64 {
        // A client that asks first need not send it.
        if !headers.contains_key(header::EXPECT) {
            discard(body).await;
        }
        return Err(too_large(limit));
    }
    let mut reading = Reading { bytes: Vec::with_capacity(hint.lower() as usize), limit };
    let mut alarm = None;
    let read = poll_fn(|cx| match reading.poll(body.as_mut(), cx) {
        Poll::Ready(read) => Poll::Ready(Some(read)),
        // Most bodies are there at once, and need no alarm.
        Poll::Pending => {
            let alarm = alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep(within)));
            alarm.as_mut().poll(cx).map(|()| None)
        }
    });
    match read.await {
        Some(Ok(())) => Ok(reading.bytes),
        Some(Err(Broken::TooLarge)) => {
            discard(body).await;
            Err(too_large(limit))
        }
        Some(Err(Broken::Half)) => Err(Refusal::bad_request("the body breaks off")),
        None => Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "the body did not come in time")
            .header(header::CONNECTION, http::HeaderValue::from_static("close"))),
    }
}

struct Reading {
    bytes: Vec<u8>,
    limit: usize,
}

enum Broken {
    TooLarge,
    Half,
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

async fn discard<B: Body<Data = Bytes>>(mut body: Pin<&mut B>) {
    let rest =
        async { while let Some(Ok(_)) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {} };
    // What is not here by then is not waited for.
    let _ = tokio::time::timeout(DISCARD, rest).await;
}

fn too_large(limit: usize) -> Refusal {
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, format!("a body of more than {limit} bytes"))
        .header(header::CONNECTION, http::HeaderValue::from_static("close"))
}

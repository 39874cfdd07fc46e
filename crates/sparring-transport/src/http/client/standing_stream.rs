//! The standing stream of a session, on which the server sends messages without a request (up
//! to 2025-11-25, basic/transports#listening-for-messages-from-the-server).

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use sparring_peer::{Cause, Incoming, Stream};
use sparring_wire::HttpObservation;

use super::exchange::{
    ExchangeResult, MAX_ERROR_BODY, StreamPosition, http_cause, read_events, response_envelope,
};
use super::exchange_recorder::{ExchangeProgress, ExchangeRecorder};
use super::session::AuthPolicy;
use super::session::ClientSession;

/// The longest pause before an ended stream is requested again.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The maximum number of consecutive streams that end without an event.
const MAX_EMPTY_STREAMS: u32 = 10;

/// Listens for as long as the server allows. Each request is recorded in the transcript.
pub(super) async fn listen(session: Arc<ClientSession>) -> ExchangeResult {
    let mut position = StreamPosition::standing();
    let mut empty_streams = 0;
    let mut was_open = false;
    while empty_streams < MAX_EMPTY_STREAMS {
        let mut exchange = ExchangeRecorder::new(session.recorder(), ExchangeProgress::default());
        let response = session
            .listen(position.last_event_id.as_ref(), AuthPolicy::NonInteractive, &mut exchange)
            .await;
        let before = position.last_event_id.clone();
        if let Ok(mut response) = response {
            session.observe(HttpObservation::Listened {
                status: response.status.as_u16(),
                content_type: response.content_type(),
                has_session: session.has_session(),
            });
            // A server need not offer this stream (405); any other refusal is not retried
            // either.
            if !response.status.is_success() || !response.has_content_type("text/event-stream") {
                let body = response.body(MAX_ERROR_BODY, &exchange).await;
                let message = body.map(|(body, _)| http_cause(&response, "", &body).to_string());
                exchange.complete();
                match (response.status, message) {
                    // A server that offered the stream and answers 404 has lost the session.
                    (StatusCode::NOT_FOUND, Ok(message)) if was_open && session.has_session() => {
                        session.forget_session();
                        session.push(Incoming::Closed(Cause::SessionLost(message)));
                    }
                    // A server that does not know the last event id may still continue the
                    // stream.
                    (StatusCode::BAD_REQUEST, Ok(message))
                        if position.last_event_id.take().is_some() =>
                    {
                        let missed = "messages since the last event are lost";
                        session.push(Incoming::MessagesLost(Cause::Broken(format!(
                            "{missed}: {message}"
                        ))));
                        session.client.release(*response);
                        continue;
                    }
                    _ => {}
                }
                return ExchangeResult::StreamDone;
            }
            was_open = true;
            let envelope = response_envelope(&response);
            let stream = Stream::Connection;
            match read_events(
                &session,
                None,
                &stream,
                response,
                &envelope,
                &mut position,
                &mut exchange,
            )
            .await
            {
                Ok(()) => exchange.complete(),
                Err(cause) => exchange.fail(&cause.to_string()),
            }
        }
        drop(exchange);
        empty_streams = if position.last_event_id == before { empty_streams + 1 } else { 0 };
        let pause = position.retry().saturating_mul(1 << empty_streams.min(5)).min(MAX_PAUSE);
        tokio::time::sleep(pause).await;
    }
    ExchangeResult::StreamDone
}

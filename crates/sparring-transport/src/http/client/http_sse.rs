//! HTTP+SSE of 2024-11-05: the server sends everything on one event stream, whose event
//! `endpoint` names the URL that messages are posted to.

use std::sync::Arc;
use std::time::Duration;

use sparring_peer::{Cause, Incoming, Stream};
use sparring_wire::Frame;
use tokio::time::timeout;

use super::exchange::{ExchangeResult, MAX_ERROR_BODY, http_cause, response_envelope};
use super::exchange_recorder::{ExchangeProgress, ExchangeRecorder};
use super::post::{self, OrderGuard};
use super::response::EventStream;
use super::response::HttpResponse;
use super::session::{ClientSession, Message};
use crate::http::sse::Event;

/// The longest wait for the event that names the URL, after the head of the response.
const ENDPOINT_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens the stream, takes the post URL from the event `endpoint`, and delivers the frames.
/// `refused_message` is a message that failed over Streamable HTTP.
///
/// The session ends with the stream: the end is reported, and the stream is not resumed.
pub(super) async fn listen(
    session: Arc<ClientSession>,
    refused_message: Option<(Message, Cause)>,
) -> ExchangeResult {
    let mut exchange = ExchangeRecorder::new(session.recorder(), ExchangeProgress::default());
    let mut events = match open_stream(&session, &mut exchange).await {
        Ok(events) => events,
        Err(cause) => {
            exchange.fail(&cause.to_string());
            let Some((message, before)) = refused_message else {
                session.push(Incoming::Closed(cause));
                return ExchangeResult::StreamDone;
            };
            let cause = combine_causes(before, &cause);
            session.push(Incoming::StreamEnded { stream: message.stream, cause });
            return ExchangeResult::NoHttpSse;
        }
    };
    session.mark_ready();
    if let Some((message, _)) = refused_message {
        session.retry(message);
    }
    let cause = match deliver_events(&session, &mut events, &mut exchange).await {
        Ok(()) => {
            Cause::Broken("the server ended the event stream and with it the session".to_owned())
        }
        Err(cause) => cause,
    };
    exchange.fail(&cause.to_string());
    session.push(Incoming::Closed(cause));
    ExchangeResult::StreamDone
}

fn combine_causes(before: Cause, then: &Cause) -> Cause {
    let then = match then {
        Cause::Http { what, .. } => what.clone(),
        other => other.to_string(),
    };
    match before {
        Cause::Http { status, what, body } => {
            let what = format!("{what} to Streamable HTTP; HTTP+SSE failed too: {then}");
            Cause::Http { status, what, body }
        }
        other => other,
    }
}

async fn open_stream(
    session: &ClientSession,
    exchange: &mut ExchangeRecorder,
) -> Result<SseStream, Cause> {
    let mut response = session.listen_http_sse(exchange).await?;
    if !response.status.is_success() || !response.has_content_type("text/event-stream") {
        let (body, _) = response.body(MAX_ERROR_BODY, exchange).await?;
        return Err(http_cause(&response, "to a GET for events", &body));
    }
    let envelope = response_envelope(&response);
    let base = response.address.endpoint.clone();
    let mut events = EventStream::new(response, session.limit);
    let first = timeout(ENDPOINT_TIMEOUT, first_event(&mut events, exchange)).await;
    let first = first.unwrap_or_else(|_| {
        let why = format!("the server sent no event \"endpoint\" within {ENDPOINT_TIMEOUT:?}");
        Err(Cause::Broken(why))
    })?;
    let address = first.data.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
    let endpoint = base.join(&address).map_err(|bad| Cause::Broken(bad.to_string()))?;
    if endpoint.origin != base.origin {
        return Err(Cause::Broken(format!(
            "the event \"endpoint\" of {} names another origin, {}",
            base.origin, endpoint.origin
        )));
    }
    session.client.set_endpoint(endpoint);
    Ok(SseStream { events, envelope })
}

/// Returns the event with the URL. A server may send events of other types before, but no
/// message.
async fn first_event(
    events: &mut EventStream,
    exchange: &mut ExchangeRecorder,
) -> Result<Event, Cause> {
    loop {
        let Some(event) = events.next(exchange).await? else {
            return Err(Cause::Broken("the event stream ended before its first event".to_owned()));
        };
        match event.name.as_deref() {
            Some("endpoint") => return Ok(event),
            None | Some("message") => {
                let data = event.data.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
                return Err(Cause::Broken(format!(
                    "the first event is \"message\" instead of \"endpoint\": {data}"
                )));
            }
            Some(_) => {}
        }
    }
}

struct SseStream {
    events: EventStream,
    envelope: sparring_peer::Envelope,
}

async fn deliver_events(
    session: &ClientSession,
    stream: &mut SseStream,
    exchange: &mut ExchangeRecorder,
) -> Result<(), Cause> {
    loop {
        session.wait_for_room().await;
        let Some(event) = stream.events.next(exchange).await? else { return Ok(()) };
        let known = event.name.as_deref().is_none_or(|name| name == "message");
        if let Some(data) = event.data.filter(|data| known && !data.is_empty()) {
            session.deliver(Frame::parse(data), &Stream::Connection, &stream.envelope);
        }
    }
}

/// Posts a request; its answer arrives on the stream.
pub(super) async fn send_request(
    session: Arc<ClientSession>,
    mut message: Message,
    progress: ExchangeProgress,
) -> ExchangeResult {
    let mut exchange = ExchangeRecorder::new(session.recorder(), progress);
    // 2024-11-05 defines no headers.
    message.headers = sparring_wire::Headers::new();
    session.record_sent(&message);
    let refused = match session.post(&message, &mut exchange).await {
        Ok(mut response) => match response.body(MAX_ERROR_BODY, &exchange).await {
            Ok((body, _)) => finish(&session, response, &message, &body, &mut exchange).err(),
            Err(cause) => Some(cause),
        },
        Err(cause) => Some(cause),
    };
    if let Some(cause) = refused {
        exchange.fail(&cause.to_string());
        session.push(Incoming::StreamEnded { stream: message.stream.clone(), cause });
    }
    ExchangeResult::RequestDone(message.stream)
}

/// Posts a message that has no answer.
pub(super) async fn post_message(
    session: Arc<ClientSession>,
    mut message: Message,
    order: OrderGuard,
) -> ExchangeResult {
    let mut exchange = ExchangeRecorder::new(session.recorder(), ExchangeProgress::default());
    message.headers = sparring_wire::Headers::new();
    session.record_sent(&message);
    let sent = post::post_and_read(&session, &message, &mut exchange, &order).await;
    let sent = sent
        .and_then(|(response, body)| finish(&session, response, &message, &body, &mut exchange));
    if let Err(cause) = sent {
        exchange.fail(&cause.to_string());
        session.push(Incoming::StreamEnded { stream: Stream::Connection, cause });
    }
    ExchangeResult::Posted
}

fn finish(
    session: &ClientSession,
    response: Box<HttpResponse>,
    message: &Message,
    body: &[u8],
    exchange: &mut ExchangeRecorder,
) -> Result<(), Cause> {
    let refused = (!response.status.is_success())
        .then(|| http_cause(&response, &message.describe_recipient(), body));
    exchange.complete();
    session.client.release(*response);
    refused.map_or(Ok(()), Err)
}

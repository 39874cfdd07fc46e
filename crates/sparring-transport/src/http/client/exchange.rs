//! Sends one request and delivers the server's response: JSON, an event stream that is resumed
//! if it breaks, or an error that names the problem.

use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_ENCODING, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use sparring_peer::{Cause, Envelope, Incoming, Stream};
use sparring_wire::{
    Frame, FrameKind, Headers, HttpObservation, Id, Revision, Rule, Violation, mirrored_headers,
};

use super::exchange_recorder::{ExchangeProgress, ExchangeRecorder};
use super::response::EventStream;
use super::response::HttpResponse;
use super::session::AuthPolicy;
use super::session::{ClientSession, Message};

/// The maximum number of bytes that are read of an unexpected body, and of the characters of a
/// body or a header that are shown.
pub(super) const MAX_ERROR_BODY: usize = 64 * 1024;
const MAX_SHOWN_CHARS: usize = 300;

/// The wait before a stream is resumed (default; the server may set it).
const DEFAULT_RETRY_DELAY: Duration = Duration::from_secs(1);

/// The minimum wait, even if the server sets a shorter one.
const MIN_RETRY_DELAY: Duration = Duration::from_millis(10);

/// The maximum number of consecutive resumptions without a new event.
const MAX_RESUME_ATTEMPTS: u32 = 5;

/// The maximum time that a stream may continue after the answer that should have ended it.
const TRAILING_EVENTS_TIMEOUT: Duration = Duration::from_secs(1);

/// The end of an exchange.
pub(super) enum ExchangeResult {
    /// A request is done, with an answer or a failure; the peer has been informed.
    RequestDone(Stream),
    /// A message without an answer was posted.
    Posted,
    /// The response to `initialize` shows that the server does not support Streamable HTTP.
    NotStreamable(Message, Cause),
    /// The server does not support HTTP+SSE either; the peer has been informed.
    NoHttpSse,
    /// A standing stream ended; the peer has been informed.
    StreamDone,
    /// The session was ended.
    SessionEnded,
}

/// Sends a request and delivers its answer.
pub(super) async fn send_request(
    session: Arc<ClientSession>,
    message: Message,
    progress: ExchangeProgress,
    auto: bool,
) -> ExchangeResult {
    let mut exchange = ExchangeRecorder::new(session.recorder(), progress);
    session.record_sent(&message);
    let cause = match session.post(&message, &mut exchange).await {
        Err(cause) => cause,
        Ok(response) => {
            match read_response(&session, &message, response, &mut exchange, auto).await {
                Ok(()) => {
                    exchange.complete();
                    Cause::EndOfInput
                }
                Err(cause) => {
                    exchange.fail(&cause.to_string());
                    cause
                }
            }
        }
    };
    if auto && is_not_streamable(&message, &cause) {
        return ExchangeResult::NotStreamable(message, cause);
    }
    let cause = explain_refused_discovery(&message, cause);
    session.push(match cause {
        // A lost session ends all streams.
        Cause::SessionLost(_) => Incoming::Closed(cause),
        cause => Incoming::StreamEnded { stream: message.stream.clone(), cause },
    });
    ExchangeResult::RequestDone(message.stream)
}

/// Returns true if the server refused `initialize` in a way that may mean HTTP+SSE (2026-07-28,
/// basic/transports/streamable-http#http-sse-transport-2024-11-05).
fn is_not_streamable(message: &Message, cause: &Cause) -> bool {
    message.frame.method() == Some("initialize")
        && matches!(cause, Cause::Http { status: 400 | 404 | 405, .. })
}

/// Adds the likely reason to a refusal of `server/discover`: a server without Streamable HTTP,
/// which is the only HTTP transport since 2026-07-28.
fn explain_refused_discovery(message: &Message, cause: Cause) -> Cause {
    match cause {
        Cause::Http { status, what, body }
            if is_missing_endpoint(status) && message.frame.method() == Some("server/discover") =>
        {
            let what = format!(
                "{what} to server/discover: {} needs Streamable HTTP; if this is the URL of an SSE \
                 server, use an earlier revision",
                Revision::LATEST
            );
            Cause::Http { status, what, body }
        }
        cause => cause,
    }
}

/// Returns true for the statuses of a URL without Streamable HTTP.
fn is_missing_endpoint(status: u16) -> bool {
    matches!(status, 404 | 405)
}

async fn read_response(
    session: &ClientSession,
    message: &Message,
    mut response: Box<HttpResponse>,
    exchange: &mut ExchangeRecorder,
    auto: bool,
) -> Result<(), Cause> {
    let status = response.status;
    if status.is_success() && message.frame.method() == Some("initialize") {
        session.begin_session(&response);
    }
    if let Some(encoding) = response.headers.get(CONTENT_ENCODING).filter(|e| *e != "identity") {
        let encoding = String::from_utf8_lossy(encoding.as_bytes());
        let what = format!("with a compressed body ({encoding}) that was not requested");
        return Err(http_cause(&response, &what, b""));
    }
    let envelope = response_envelope(&response);
    match status.is_success() {
        true if response.has_content_type("application/json") => {
            let (body, whole) = response.body(session.limit, exchange).await?;
            if body.is_empty() {
                observe_unusable(session, message, status.as_u16(), "");
                return Err(http_cause(
                    &response,
                    "with application/json and an empty body",
                    &body,
                ));
            }
            let frame = match whole {
                true => Frame::parse(body),
                false => Frame::truncated(body, session.limit),
            };
            session.deliver(frame, &message.stream, &envelope);
            session.client.release(*response);
            Ok(())
        }
        true if response.has_content_type("text/event-stream") => {
            Box::pin(follow_stream(session, message, response, &envelope, exchange)).await
        }
        _ => {
            let (body, _) = response.body(MAX_ERROR_BODY, exchange).await?;
            let refused = handle_refusal(session, message, &response, body, &envelope, auto);
            session.client.release(*response);
            refused
        }
    }
}

/// Handles a response that is not a success, or neither JSON nor events.
fn handle_refusal(
    session: &ClientSession,
    message: &Message,
    response: &HttpResponse,
    body: Vec<u8>,
    envelope: &Envelope,
    auto: bool,
) -> Result<(), Cause> {
    let status = response.status;
    if status == StatusCode::NOT_FOUND && session.has_session() {
        session.forget_session();
        return Err(Cause::SessionLost(http_cause(response, "", &body).to_string()));
    }
    if !status.is_success() {
        let cause = http_cause(response, "", &body);
        let frame = Frame::parse(body);
        // An error in the body explains more than the status, unless it is not JSON-RPC but an
        // error of OAuth or a gateway.
        let foreign = |violation: &Violation| violation.rule == Rule::WrongJsonrpc;
        let meant = frame.id().is_some() || !frame.violations().iter().any(foreign);
        if !(frame.is_response_like() && meant) {
            return Err(cause);
        }
        // An error with the request's id shows that the server understood it. Any other may
        // come from a server that only supports HTTP+SSE.
        let named = frame.id().is_some();
        let is_refused_discovery = is_missing_endpoint(status.as_u16())
            && message.frame.method() == Some("server/discover");
        if !named && (is_refused_discovery || auto && is_not_streamable(message, &cause)) {
            session.record_received(&frame, envelope.status);
            return Err(cause);
        }
        session.deliver(frame, &message.stream, envelope);
        return if named { Ok(()) } else { Err(cause) };
    }
    let content_type = if body.is_empty() { "" } else { response.content_type() };
    observe_unusable(session, message, status.as_u16(), content_type);
    Err(match body.is_empty() {
        true => http_cause(response, "without a JSON-RPC response to the request", &body),
        false => {
            let kind = shortened(response.content_type());
            http_cause(response, &format!("with {kind} instead of JSON or an event stream"), &body)
        }
    })
}

/// Reports a response to a request that is neither JSON nor an event stream.
fn observe_unusable(session: &ClientSession, message: &Message, status: u16, content_type: &str) {
    if message.frame.kind() == FrameKind::Request {
        session.observe(HttpObservation::Unusable { status, content_type });
    }
}

/// Describes a response, with the beginning of its body.
pub(super) fn http_cause(response: &HttpResponse, more: &str, body: &[u8]) -> Cause {
    let status = response.status;
    let challenge = response.headers.get(WWW_AUTHENTICATE).filter(|_| status.as_u16() == 401);
    let challenge = challenge.map(|found| String::from_utf8_lossy(found.as_bytes()));
    let masked = |text: &str| response.address.secrets.mask(text).into_owned();
    let challenge = challenge.map(|found| format!(" ({})", shortened(&masked(&found))));
    let challenge = challenge.unwrap_or_default();
    let more = if more.is_empty() { String::new() } else { format!(" {more}") };
    let text = String::from_utf8_lossy(body);
    let shown = shortened(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let what = format!("{} answered {status}{challenge}{more}", response.address.endpoint);
    Cause::Http { status: status.as_u16(), what: masked(&what), body: masked(&shown) }
}

/// Cuts a text of a server for a message.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the status and the headers of a response. Unlike the transcript, the caller gets all
/// of them.
pub(super) fn response_envelope(response: &HttpResponse) -> Envelope {
    let status = Some(response.status.as_u16());
    if !response.has_hidden {
        return Envelope { status, headers: response.redacted.clone(), reserved: None };
    }
    let mut headers = Headers::new();
    for (name, value) in &response.headers {
        headers.push(name.as_str(), &String::from_utf8_lossy(value.as_bytes()));
    }
    Envelope { status, headers, reserved: None }
}

/// The position in a stream, over all the responses that carry it.
#[derive(Default)]
pub(super) struct StreamPosition {
    /// The id of the last event that had one.
    pub(super) last_event_id: Option<HeaderValue>,
    pub(super) retry: Option<Duration>,
    /// True for a stream that answers no request.
    pub(super) is_standing: bool,
    answered: bool,
    /// True if anything arrived since the stream was last resumed.
    advanced: bool,
}

impl StreamPosition {
    /// Returns the position of a stream that answers no request.
    pub(super) fn standing() -> Self {
        StreamPosition { is_standing: true, ..StreamPosition::default() }
    }

    pub(super) fn retry(&self) -> Duration {
        self.retry.unwrap_or(DEFAULT_RETRY_DELAY).max(MIN_RETRY_DELAY)
    }
}

/// Follows the stream that answers a request, over as many responses as the server needs
/// (2025-11-25, basic/transports#resumability-and-redelivery).
async fn follow_stream(
    session: &ClientSession,
    message: &Message,
    response: Box<HttpResponse>,
    envelope: &Envelope,
    exchange: &mut ExchangeRecorder,
) -> Result<(), Cause> {
    let wanted = match &message.stream {
        Stream::Request(id) => Some(id),
        Stream::Connection => None,
    };
    let mut position = StreamPosition::default();
    let mut next = Some(response);
    let mut failed_attempts = 0;
    loop {
        let broken = match next.take() {
            Some(response) => {
                position.advanced = false;
                let ended = read_events(
                    session,
                    wanted,
                    &message.stream,
                    response,
                    envelope,
                    &mut position,
                    exchange,
                )
                .await;
                if position.answered {
                    return Ok(());
                }
                ended.err().unwrap_or_else(|| {
                    Cause::Broken("the event stream ended before the answer".to_owned())
                })
            }
            None => Cause::Broken("the event stream could not be resumed".to_owned()),
        };
        failed_attempts = if position.advanced { 0 } else { failed_attempts + 1 };
        // Since 2026-07-28 streams cannot be resumed
        // (basic/transports/streamable-http#receiving-messages).
        let resumable = failed_attempts < MAX_RESUME_ATTEMPTS
            && message.headers.get(mirrored_headers::METHOD_HEADER).is_none();
        let Some(last_event_id) = position.last_event_id.clone().filter(|_| resumable) else {
            return Err(broken);
        };
        exchange.progress.resuming(&broken.to_string());
        exchange.fail(&broken.to_string());
        tokio::time::sleep(position.retry()).await;
        let resumed =
            session.listen(Some(&last_event_id), AuthPolicy::Interactive, exchange).await?;
        if !resumed.status.is_success() || !resumed.has_content_type("text/event-stream") {
            let why = http_cause(&resumed, "when the stream was resumed", b"");
            return Err(Cause::Broken(format!("{broken}; {why}")));
        }
        next = Some(resumed);
    }
}

/// Returns true if a frame is the answer to a request, or a batch that contains it.
fn is_answer_to(frame: &Frame, wanted: &Id) -> bool {
    match frame.kind() {
        FrameKind::Batch => frame.batch_items().any(|frame| is_answer_to(&frame, wanted)),
        _ if frame.is_response_like() => match frame.id() {
            Some(id) => id == wanted,
            None => frame.error().is_some(),
        },
        _ => false,
    }
}

/// Reads the events of one response to its end.
pub(super) async fn read_events(
    session: &ClientSession,
    wanted: Option<&Id>,
    stream: &Stream,
    response: Box<HttpResponse>,
    envelope: &Envelope,
    position: &mut StreamPosition,
    exchange: &mut ExchangeRecorder,
) -> Result<(), Cause> {
    let mut events = EventStream::new(response, session.limit);
    let resumed = position.last_event_id.is_some();
    loop {
        session.wait_for_room().await;
        let next = events.next(exchange);
        let event = match position.answered {
            false => match next.await {
                Ok(event) => event,
                Err(cause) => {
                    if events.has_unfinished_event() {
                        session.observe(HttpObservation::UnfinishedEvent);
                    }
                    return Err(cause);
                }
            },
            true => match tokio::time::timeout(TRAILING_EVENTS_TIMEOUT, next).await {
                Ok(event) => event?,
                Err(_) => return Ok(()),
            },
        };
        let Some(event) = event else { break };
        position.retry = event.retry.or(position.retry);
        if let Some(id) = event.id {
            session.observe(HttpObservation::EventId { id: &id, resumed });
            // An id that is not a valid header value cannot be sent later.
            let last_event_id =
                HeaderValue::try_from(id.into_bytes()).ok().filter(|id| !id.is_empty());
            position.advanced |= last_event_id != position.last_event_id;
            position.last_event_id = last_event_id;
        }
        let known = event.name.as_deref().is_none_or(|name| name == "message");
        // An event without data only sets the position.
        if let Some(data) = event.data.filter(|data| known && !data.is_empty()) {
            let frame = Frame::parse(data);
            position.advanced = true;
            if position.is_standing && !resumed {
                session.observe(HttpObservation::ListeningFrame(&frame));
            }
            position.answered |= wanted.is_some_and(|wanted| is_answer_to(&frame, wanted));
            session.deliver(frame, stream, envelope);
        }
    }
    session.client.release(events.into_response());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_header_is_cut_for_a_message() {
        assert_eq!(shortened("Bearer realm=\"a\""), "Bearer realm=\"a\"");
        assert_eq!(shortened(&"é".repeat(40_000)), format!("{}…", "é".repeat(MAX_SHOWN_CHARS)));
    }
}

//! From one message to what the server says to it: JSON, a stream of events
//! that may be taken up again where it broke, or something else that is told
//! by name.

use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_ENCODING, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use sparring_peer::{Cause, Envelope, Incoming, Stream};
use sparring_wire::{Frame, FrameKind, Headers, Id, Rule, Violation, mirror};

use super::effort::Effort;
use super::events::Events;
use super::note::{Note, Progress};
use super::opened::Opened;
use super::wire::{Message, Wire};

/// How much of a body that is no answer is read, and how much of it is shown.
pub(super) const READ: usize = 64 * 1024;
const SHOWN: usize = 300;

/// How long to wait before a stream is taken up again, where the server does
/// not say.
const RETRY: Duration = Duration::from_secs(1);

/// The shortest such wait, whatever the server says.
const SHORTEST: Duration = Duration::from_millis(10);

/// How often a stream is taken up again without anything new coming of it.
const RETRIES: u32 = 5;

/// How long a stream may go on after the answer that should have ended it.
const AFTERWARDS: Duration = Duration::from_secs(1);

/// How an exchange ended, for the link.
pub(super) enum Done {
    /// A request, well or not; the peer has been told.
    Asked(Stream),
    /// Something that has no answer.
    Posted,
    /// The server does not speak Streamable HTTP, as its answer to the
    /// handshake shows.
    NotStreamable(Message, Cause),
    /// Nor does it speak HTTP+SSE; the peer has been told.
    NotOld,
    /// A stream that stood; the peer has been told.
    Standing,
    /// The session was ended.
    SessionEnded,
}

/// Sends a request and passes its answer on.
pub(super) async fn ask(wire: Arc<Wire>, message: Message, progress: Progress, auto: bool) -> Done {
    let mut note = Note::begin(wire.recorder(), progress);
    wire.sent(&message);
    let cause = match wire.post(&message, &mut note).await {
        Err(cause) => cause,
        Ok(opened) => match take(&wire, &message, opened, &mut note, auto).await {
            Ok(()) => {
                note.complete();
                Cause::EndOfInput
            }
            Err(cause) => {
                note.failed(&cause.to_string());
                cause
            }
        },
    };
    if auto && is_not_streamable(&message, &cause) {
        return Done::NotStreamable(message, cause);
    }
    wire.push(match cause {
        // That is the end of all streams.
        Cause::SessionLost(_) => Incoming::Closed(cause),
        cause => Incoming::StreamEnded { stream: message.stream.clone(), cause },
    });
    Done::Asked(message.stream)
}

/// Whether the server refused the handshake in a way that may mean HTTP+SSE
/// (2026-07-28, basic/transports/streamable-http#http-sse-transport-2024-11-05).
fn is_not_streamable(message: &Message, cause: &Cause) -> bool {
    message.frame.method() == Some("initialize")
        && matches!(cause, Cause::Http { status: 400 | 404 | 405, .. })
}

async fn take(
    wire: &Wire,
    message: &Message,
    mut opened: Box<Opened>,
    note: &mut Note,
    auto: bool,
) -> Result<(), Cause> {
    let status = opened.status;
    if status.is_success() && message.frame.method() == Some("initialize") {
        wire.begin_session(&opened);
    }
    if let Some(encoding) = opened.headers.get(CONTENT_ENCODING).filter(|e| *e != "identity") {
        let encoding = String::from_utf8_lossy(encoding.as_bytes());
        let what = format!("with a compressed answer ({encoding}), which was not asked for");
        return Err(told(&opened, &what, b""));
    }
    let envelope = envelope(&opened);
    match status.is_success() {
        true if opened.is("application/json") => {
            let (body, whole) = opened.body(wire.limit, note).await?;
            if body.is_empty() {
                return Err(told(&opened, "with application/json and an empty body", &body));
            }
            let frame = match whole {
                true => Frame::parse(body),
                false => Frame::cut_off(body, wire.limit),
            };
            wire.received(frame, &message.stream, &envelope);
            wire.caller.keep(*opened);
            Ok(())
        }
        true if opened.is("text/event-stream") => {
            Box::pin(follow(wire, message, opened, &envelope, note)).await
        }
        _ => {
            let (body, _) = opened.body(READ, note).await?;
            let refused = refusal(wire, message, &opened, body, &envelope, auto);
            wire.caller.keep(*opened);
            refused
        }
    }
}

/// What an answer means that is neither JSON nor events, or no success.
fn refusal(
    wire: &Wire,
    message: &Message,
    opened: &Opened,
    body: Vec<u8>,
    envelope: &Envelope,
    auto: bool,
) -> Result<(), Cause> {
    let status = opened.status;
    if status == StatusCode::NOT_FOUND && wire.has_session() {
        wire.forget_session();
        return Err(Cause::SessionLost(told(opened, "", &body).to_string()));
    }
    if !status.is_success() {
        let cause = told(opened, "", &body);
        let frame = Frame::parse(body);
        // An error in the body says more than the status, unless it is one of
        // something else than the protocol, as of OAuth or of a gateway.
        let foreign = |violation: &Violation| violation.rule == Rule::WrongJsonrpc;
        let meant = frame.id().is_some() || !frame.violations().iter().any(foreign);
        if !(frame.is_response_like() && meant) {
            return Err(cause);
        }
        // One that names the request is of somebody who understood it; any other
        // may be all that a server of HTTP+SSE has to say to it.
        let named = frame.id().is_some();
        if !named && auto && is_not_streamable(message, &cause) {
            wire.record(&frame, envelope.status);
            return Err(cause);
        }
        wire.received(frame, &message.stream, envelope);
        return if named { Ok(()) } else { Err(cause) };
    }
    Err(match body.is_empty() {
        true => told(opened, "to a request, and with that no answer will come", &body),
        false => {
            let kind = opened.kind();
            told(opened, &format!("with {kind} instead of JSON or an event stream"), &body)
        }
    })
}

/// An answer in words, with the beginning of its body.
pub(super) fn told(opened: &Opened, more: &str, body: &[u8]) -> Cause {
    let status = opened.status;
    let challenge = opened.headers.get(WWW_AUTHENTICATE).filter(|_| status.as_u16() == 401);
    let challenge = challenge.map(|found| String::from_utf8_lossy(found.as_bytes()));
    let challenge = challenge.map(|found| format!(" ({found})")).unwrap_or_default();
    let more = if more.is_empty() { String::new() } else { format!(" {more}") };
    let text = String::from_utf8_lossy(body);
    let mut shown: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = shown.char_indices().nth(SHOWN) {
        shown.truncate(end);
        shown.push('…');
    }
    let what = format!("{} answered {status}{challenge}{more}", opened.from.endpoint);
    let masked = |text: &str| opened.from.secrets.mask(text).into_owned();
    Cause::Http { status: status.as_u16(), what: masked(&what), body: masked(&shown) }
}

/// What stands around the frames of an answer. Unlike the transcript, whoever
/// asked gets all of it.
pub(super) fn envelope(opened: &Opened) -> Envelope {
    let status = Some(opened.status.as_u16());
    if !opened.secret {
        return Envelope { status, headers: opened.shown.clone() };
    }
    let mut headers = Headers::new();
    for (name, value) in &opened.headers {
        headers.push(name.as_str(), &String::from_utf8_lossy(value.as_bytes()));
    }
    Envelope { status, headers }
}

/// What has come of a stream over all the responses that it took.
#[derive(Default)]
pub(super) struct Course {
    /// The last event that had an id.
    pub(super) last: Option<HeaderValue>,
    pub(super) retry: Option<Duration>,
    answered: bool,
    /// Whether anything came since it was last taken up.
    moved: bool,
}

impl Course {
    pub(super) fn retry(&self) -> Duration {
        self.retry.unwrap_or(RETRY).max(SHORTEST)
    }
}

/// Follows the stream that answers a request, over as many responses as the
/// server needs (2025-11-25, basic/transports#resumability-and-redelivery).
async fn follow(
    wire: &Wire,
    message: &Message,
    opened: Box<Opened>,
    envelope: &Envelope,
    note: &mut Note,
) -> Result<(), Cause> {
    let wanted = match &message.stream {
        Stream::Request(id) => Some(id),
        Stream::Standing => None,
    };
    let mut course = Course::default();
    let mut next = Some(opened);
    let mut fruitless = 0;
    loop {
        let broken = match next.take() {
            Some(opened) => {
                course.moved = false;
                let ended =
                    read(wire, wanted, &message.stream, opened, envelope, &mut course, note).await;
                if course.answered {
                    return Ok(());
                }
                ended.err().unwrap_or_else(|| {
                    Cause::Broken("the event stream ended before the answer".to_owned())
                })
            }
            None => Cause::Broken("the event stream could not be resumed".to_owned()),
        };
        fruitless = if course.moved { 0 } else { fruitless + 1 };
        // Streams cannot be resumed any more since 2026-07-28
        // (basic/transports/streamable-http#receiving-messages).
        let resumable = fruitless < RETRIES && message.headers.get(mirror::METHOD).is_none();
        let Some(last) = course.last.clone().filter(|_| resumable) else {
            return Err(broken);
        };
        note.progress.resuming(&broken.to_string());
        note.failed(&broken.to_string());
        tokio::time::sleep(course.retry()).await;
        let resumed = wire.listen(Some(&last), Effort::Full, note).await?;
        if !resumed.status.is_success() || !resumed.is("text/event-stream") {
            let why = told(&resumed, "when the stream was to be resumed", b"");
            return Err(Cause::Broken(format!("{broken}; {why}")));
        }
        next = Some(resumed);
    }
}

/// Whether a frame is the answer to that request, or has it among others.
fn answers(frame: &Frame, wanted: &Id) -> bool {
    match frame.kind() {
        FrameKind::Batch => frame.batch().any(|frame| answers(&frame, wanted)),
        _ if frame.is_response_like() => match frame.id() {
            Some(id) => id == wanted,
            None => frame.error().is_some(),
        },
        _ => false,
    }
}

/// Reads one response of a stream to its end.
pub(super) async fn read(
    wire: &Wire,
    wanted: Option<&Id>,
    stream: &Stream,
    opened: Box<Opened>,
    envelope: &Envelope,
    course: &mut Course,
    note: &mut Note,
) -> Result<(), Cause> {
    let mut events = Events::of(opened, wire.limit);
    loop {
        wire.room().await;
        let next = events.next(note);
        let event = match course.answered {
            false => next.await?,
            true => match tokio::time::timeout(AFTERWARDS, next).await {
                Ok(event) => event?,
                Err(_) => return Ok(()),
            },
        };
        let Some(event) = event else { break };
        course.retry = event.retry.or(course.retry);
        if let Some(id) = event.id {
            // One that no header can hold cannot be named later.
            let last = HeaderValue::try_from(id.into_bytes()).ok().filter(|id| !id.is_empty());
            course.moved |= last != course.last;
            course.last = last;
        }
        let known = event.name.as_deref().is_none_or(|name| name == "message");
        // An event without data only tells where to take up again.
        if let Some(data) = event.data.filter(|data| known && !data.is_empty()) {
            let frame = Frame::parse(data);
            course.moved = true;
            course.answered |= wanted.is_some_and(|wanted| answers(&frame, wanted));
            wire.received(frame, stream, envelope);
        }
    }
    wire.caller.keep(events.into_opened());
    Ok(())
}

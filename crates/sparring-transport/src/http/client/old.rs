//! HTTP+SSE of 2024-11-05: one event stream for everything that the server
//! says, and an address, told on it, for everything that we say.

use std::sync::Arc;

use sparring_peer::{Cause, Incoming, Stream};
use sparring_wire::Frame;

use super::answer::{Done, READ, envelope, told};
use super::events::Events;
use super::note::{Note, Progress};
use super::opened::Opened;
use super::post::{self, Turn};
use super::wire::{Message, Wire};

/// Opens the stream, takes the address to post to off it, and passes on what
/// comes. `instead` is what could not be done over Streamable HTTP.
///
/// When the stream ends, so does the session: it is told, not taken up again.
pub(super) async fn listen(wire: Arc<Wire>, instead: Option<(Message, Cause)>) -> Done {
    let mut note = Note::begin(wire.recorder(), Progress::default());
    let mut events = match open(&wire, &mut note).await {
        Ok(events) => events,
        Err(cause) => {
            note.failed(&cause.to_string());
            let Some((message, before)) = instead else {
                wire.push(Incoming::Closed(cause));
                return Done::Standing;
            };
            let cause = both(before, &cause);
            wire.push(Incoming::StreamEnded { stream: message.stream, cause });
            return Done::NotOld;
        }
    };
    wire.ready();
    if let Some((message, _)) = instead {
        wire.retry(message);
    }
    let cause = match pass_on(&wire, &mut events, &mut note).await {
        Ok(()) => Cause::Broken("the server ended the event stream, and the session".to_owned()),
        Err(cause) => cause,
    };
    note.failed(&cause.to_string());
    wire.push(Incoming::Closed(cause));
    Done::Standing
}

fn both(before: Cause, then: &Cause) -> Cause {
    let then = match then {
        Cause::Http { what, .. } => what.clone(),
        other => other.to_string(),
    };
    match before {
        Cause::Http { status, what, body } => {
            let what =
                format!("{what} to Streamable HTTP, and HTTP+SSE is not there either: {then}");
            Cause::Http { status, what, body }
        }
        other => other,
    }
}

async fn open(wire: &Wire, note: &mut Note) -> Result<OldEvents, Cause> {
    let mut opened = wire.listen_in_the_old_way(note).await?;
    if !opened.status.is_success() || !opened.is("text/event-stream") {
        let (body, _) = opened.body(READ, note).await?;
        return Err(told(&opened, "to a GET that asked for events", &body));
    }
    let envelope = envelope(&opened);
    let base = opened.from.endpoint.clone();
    let mut events = Events::of(opened, wire.limit);
    let Some(first) = events.next(note).await? else {
        return Err(Cause::Broken("the event stream ended before its first event".to_owned()));
    };
    let address = first.data.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
    if first.name.as_deref() != Some("endpoint") {
        let name = first.name.as_deref().unwrap_or("message");
        return Err(Cause::Broken(format!(
            "the first event is {name:?} and not \"endpoint\": {address}"
        )));
    }
    let endpoint = base.join(&address).map_err(|bad| Cause::Broken(bad.to_string()))?;
    if endpoint.origin != base.origin {
        return Err(Cause::Broken(format!(
            "the event endpoint leads from {} to another origin, {}",
            base.origin, endpoint.origin
        )));
    }
    wire.caller.move_to(endpoint);
    Ok(OldEvents { events, envelope })
}

struct OldEvents {
    events: Events,
    envelope: sparring_peer::Envelope,
}

async fn pass_on(wire: &Wire, old: &mut OldEvents, note: &mut Note) -> Result<(), Cause> {
    loop {
        wire.room().await;
        let Some(event) = old.events.next(note).await? else { return Ok(()) };
        let known = event.name.as_deref().is_none_or(|name| name == "message");
        if let Some(data) = event.data.filter(|data| known && !data.is_empty()) {
            wire.received(Frame::parse(data), &Stream::Standing, &old.envelope);
        }
    }
}

/// Posts a request; its answer comes on the stream.
pub(super) async fn ask(wire: Arc<Wire>, mut message: Message, progress: Progress) -> Done {
    let mut note = Note::begin(wire.recorder(), progress);
    // That revision has no headers of its own.
    message.headers = sparring_wire::Headers::new();
    wire.sent(&message);
    let refused = match wire.post(&message, &mut note).await {
        Ok(mut opened) => match opened.body(READ, &note).await {
            Ok((body, _)) => finish(&wire, opened, &message, &body, &mut note).err(),
            Err(cause) => Some(cause),
        },
        Err(cause) => Some(cause),
    };
    if let Some(cause) = refused {
        note.failed(&cause.to_string());
        wire.push(Incoming::StreamEnded { stream: message.stream.clone(), cause });
    }
    Done::Asked(message.stream)
}

/// Posts what has no answer.
pub(super) async fn post(wire: Arc<Wire>, mut message: Message, turn: Turn) -> Done {
    let mut note = Note::begin(wire.recorder(), Progress::default());
    message.headers = sparring_wire::Headers::new();
    wire.sent(&message);
    let sent = post::send(&wire, &message, &mut note, &turn).await;
    let sent = sent.and_then(|(opened, body)| finish(&wire, opened, &message, &body, &mut note));
    if let Err(cause) = sent {
        note.failed(&cause.to_string());
        wire.push(Incoming::StreamEnded { stream: Stream::Standing, cause });
    }
    Done::Posted
}

fn finish(
    wire: &Wire,
    opened: Box<Opened>,
    message: &Message,
    body: &[u8],
    note: &mut Note,
) -> Result<(), Cause> {
    let refused = (!opened.status.is_success()).then(|| told(&opened, &message.described(), body));
    note.complete();
    wire.caller.keep(*opened);
    refused.map_or(Ok(()), Err)
}

//! Messages that have no answer: notifications, and answers of ours.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::StatusCode;
use sparring_peer::{Cause, Incoming, Stream};
use sparring_wire::{Frame, FrameKind};
use tokio::time::timeout;

use super::answer::{Done, READ, envelope, told};
use super::note::{Note, Progress};
use super::opened::Opened;
use super::wire::{Message, Wire};

/// How long a message may keep what follows it waiting.
const TURN: Duration = Duration::from_secs(1);

/// How long a message may take as a whole.
const LONGEST: Duration = Duration::from_secs(30);

/// The time in which a message must not be overtaken. All clones are one.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn(Arc<AtomicBool>);

impl Turn {
    /// One that keeps nobody waiting.
    pub(super) fn over() -> Turn {
        Turn(Arc::new(AtomicBool::new(true)))
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn end(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends such a message and reads what the server says to it. Others have their
/// turn when the server has taken it, or has had the time to.
pub(super) async fn send(
    wire: &Wire,
    message: &Message,
    note: &mut Note,
    turn: &Turn,
) -> Result<(Box<Opened>, Vec<u8>), Cause> {
    let progress = note.progress.clone();
    let posted = async {
        let mut opened = wire.post(message, note).await?;
        turn.end();
        let (body, _) = opened.body(READ, note).await?;
        Ok((opened, body))
    };
    let mut posted = pin!(posted);
    let sent = match timeout(TURN, posted.as_mut()).await {
        Ok(sent) => sent,
        Err(_) => {
            turn.end();
            loop {
                match timeout(LONGEST - TURN, posted.as_mut()).await {
                    Ok(sent) => break sent,
                    // Whoever gets a token has deadlines of their own.
                    Err(_) if wire.is_held() => {}
                    Err(_) => {
                        let so_far = progress.describe();
                        let why = format!("it was not taken within {LONGEST:?}: {so_far}");
                        break Err(Cause::Broken(why));
                    }
                }
            }
        }
    };
    turn.end();
    sent
}

/// Sends such a message over Streamable HTTP.
pub(super) async fn post(wire: Arc<Wire>, message: Message, turn: Turn) -> Done {
    let mut note = Note::begin(wire.recorder(), Progress::default());
    wire.sent(&message);
    let (opened, body) = match send(&wire, &message, &mut note, &turn).await {
        Ok(sent) => sent,
        Err(cause) => {
            note.failed(&cause.to_string());
            wire.push(Incoming::StreamEnded { stream: Stream::Standing, cause });
            return Done::Posted;
        }
    };
    note.complete();
    if opened.status == StatusCode::NOT_FOUND && wire.has_session() {
        wire.forget_session();
        let lost = told(&opened, "", &body).to_string();
        wire.push(Incoming::Closed(Cause::SessionLost(lost)));
        return Done::Posted;
    }
    // What looks like an answer to something that has none says nothing about
    // the requests in flight. Only of bytes of the owner's own it is not known
    // what they were meant to be.
    let has_none = matches!(
        message.frame.kind(),
        FrameKind::Notification | FrameKind::Result | FrameKind::Error
    );
    let frame = (opened.is("application/json") && !body.is_empty()).then(|| Frame::parse(&*body));
    let is_meant = |frame: &Frame| {
        !has_none || matches!(frame.kind(), FrameKind::Request | FrameKind::Notification)
    };
    match frame {
        Some(frame) if is_meant(&frame) => {
            let envelope = envelope(&opened);
            wire.received(frame, &Stream::Standing, &envelope);
        }
        frame => {
            let status = Some(opened.status.as_u16());
            frame.iter().for_each(|frame| wire.record(frame, status));
            if !opened.status.is_success() {
                let cause = told(&opened, &message.described(), &body);
                wire.push(Incoming::StreamEnded { stream: Stream::Standing, cause });
            }
        }
    }
    wire.caller.keep(*opened);
    Done::Posted
}

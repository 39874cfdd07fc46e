//! The standing stream of a session, on which the server speaks unasked (up to
//! 2025-11-25, basic/transports#listening-for-messages-from-the-server).

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use sparring_peer::{Cause, Incoming, Stream};

use super::answer::{Course, Done, READ, envelope, read, told};
use super::effort::Effort;
use super::note::{Note, Progress};
use super::wire::Wire;

/// The longest pause before a stream that ended is asked for again.
const LONGEST: Duration = Duration::from_secs(30);

/// How often in a row a stream may end without having brought anything.
const FRUITLESS: u32 = 10;

/// Listens for as long as the server lets us. Each time is in the transcript.
pub(super) async fn listen(wire: Arc<Wire>) -> Done {
    let mut course = Course::default();
    let mut fruitless = 0;
    let mut stood = false;
    while fruitless < FRUITLESS {
        let mut note = Note::begin(wire.recorder(), Progress::default());
        let opened = wire.listen(course.last.as_ref(), Effort::Quiet, &mut note).await;
        let before = course.last.clone();
        if let Ok(mut opened) = opened {
            // A server need not have such a stream (405), and none that ends in
            // any other way is asked again.
            if !opened.status.is_success() || !opened.is("text/event-stream") {
                let body = opened.body(READ, &note).await;
                let said = body.map(|(body, _)| told(&opened, "", &body).to_string());
                note.complete();
                match (opened.status, said) {
                    // One that had it, and does not know us any more, lost us.
                    (StatusCode::NOT_FOUND, Ok(said)) if stood && wire.has_session() => {
                        wire.forget_session();
                        wire.push(Incoming::Closed(Cause::SessionLost(said)));
                    }
                    // One that does not know the place any more may still go on.
                    (StatusCode::BAD_REQUEST, Ok(said)) if course.last.take().is_some() => {
                        let missed = "what the server said since its last event is lost";
                        wire.push(Incoming::Missed(Cause::Broken(format!("{missed}: {said}"))));
                        wire.caller.keep(*opened);
                        continue;
                    }
                    _ => {}
                }
                return Done::Standing;
            }
            stood = true;
            let envelope = envelope(&opened);
            let stream = Stream::Standing;
            match read(&wire, None, &stream, opened, &envelope, &mut course, &mut note).await {
                Ok(()) => note.complete(),
                Err(cause) => note.failed(&cause.to_string()),
            }
        }
        drop(note);
        fruitless = if course.last == before { fruitless + 1 } else { 0 };
        let pause = course.retry().saturating_mul(1 << fruitless.min(5)).min(LONGEST);
        tokio::time::sleep(pause).await;
    }
    Done::Standing
}

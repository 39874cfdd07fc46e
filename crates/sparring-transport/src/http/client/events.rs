//! The events of one response, until it ends or breaks.

use std::collections::VecDeque;

use sparring_peer::Cause;

use super::note::Note;
use super::opened::Opened;
use crate::http::sse::{Event, Parser};

/// A response that is an event stream.
pub(super) struct Events {
    opened: Box<Opened>,
    parser: Parser,
    ready: VecDeque<Event>,
}

impl Events {
    pub(super) fn of(opened: Box<Opened>, limit: usize) -> Self {
        Events { opened, parser: Parser::new(limit), ready: VecDeque::new() }
    }

    /// The next event; none at the end of the stream.
    pub(super) async fn next(&mut self, note: &Note) -> Result<Option<Event>, Cause> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some(chunk) = self.opened.chunk(note).await? else {
                return match self.parser.is_within_event() {
                    true => Err(Cause::Broken(format!(
                        "the event stream broke off in the middle of an event ({})",
                        note.progress.describe()
                    ))),
                    false => Ok(None),
                };
            };
            let ready = &mut self.ready;
            let fed = self.parser.feed(&chunk, |event| ready.push_back(event));
            fed.map_err(|long| Cause::Broken(format!("the event stream has {long}")))?;
        }
    }

    /// The response, read or not.
    pub(super) fn into_opened(self) -> Opened {
        *self.opened
    }
}

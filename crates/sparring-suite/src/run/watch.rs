//! Looks on while a client talks: keeps what the server breaks, what it sends,
//! what is said in a step, and how the server answered over HTTP.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use sparring_transport::Secrets;
use sparring_wire::{Entry, Exchange, Frame, Recorded, Side, Transcript, Violation};
use tokio::time::Instant;

use super::heard::Response;
use super::tape::Tape;
use crate::event::Spoken;

/// The most frames of a step that are kept, and how much of each: the first
/// ones say what was asked, the last ones what came of it.
const KEPT: usize = 12;
const LONGEST: usize = 4_000;

/// The most breaches between two looks at them.
const BREACHES: usize = 100;

/// The most frames of the server that are kept of a step, and their bytes.
const FRAMES: usize = 10_000;
const BYTES: usize = 64 * 1024 * 1024;

/// An onlooker. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    /// Whether several steps go on at once, which nobody can tell apart here.
    crowded: bool,
    violations: Vec<Violation>,
    frames: Vec<Frame>,
    bytes: usize,
    spoken: VecDeque<Spoken>,
    unheard: usize,
    /// When the step began.
    begun: Option<Instant>,
    response: Option<Response>,
    secrets: Secrets,
}

impl Watch {
    /// Begins to look at what will be recorded in a transcript, and keeps it on
    /// a tape too where there is one.
    pub(super) fn of(
        transcript: &Transcript,
        crowded: bool,
        secrets: &Secrets,
        tape: Option<Tape>,
    ) -> Watch {
        let seen = Seen { crowded, secrets: secrets.clone(), ..Seen::default() };
        let watch = Watch(Arc::new(Mutex::new(seen)));
        let looking = watch.clone();
        transcript.stream_to(move |recorded| match recorded {
            Recorded::Entry(entry) => {
                looking.seen().keep(entry);
                if let Some(tape) = &tape {
                    tape.keep(entry);
                }
            }
            Recorded::Exchange(exchange) => looking.seen().answered(exchange),
        });
        watch
    }

    /// Forgets what was said, since a step begins.
    pub(super) fn begin(&self) {
        let mut seen = self.seen();
        if !seen.crowded {
            seen.spoken.clear();
            seen.unheard = 0;
        }
        seen.frames.clear();
        seen.bytes = 0;
        seen.begun = Some(Instant::now());
        seen.response = None;
    }

    /// The breaches since the last time somebody asked.
    pub(super) fn violations(&self) -> Vec<Violation> {
        std::mem::take(&mut self.seen().violations)
    }

    /// Adds breaches that nobody has asked for yet.
    pub(super) fn add(&self, violations: Vec<Violation>) {
        self.seen().violations.splice(0..0, violations);
    }

    /// What the server sent in this step, from the nth on.
    pub(super) fn frames(&self, from: usize) -> Vec<Frame> {
        self.seen().frames.get(from..).unwrap_or_default().to_vec()
    }

    /// How the server answered last over HTTP in this step.
    pub(super) fn response(&self) -> Option<Response> {
        self.seen().response.clone()
    }

    /// What was said in the step, and how much of it is not kept.
    pub(super) fn spoken(&self) -> (Vec<Spoken>, usize) {
        let seen = self.seen();
        (seen.spoken.iter().cloned().collect(), seen.unheard)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn keep(&mut self, entry: &Entry) {
        let by_server = entry.from == Side::Server;
        if by_server && self.violations.len() < BREACHES {
            self.violations.extend(entry.violations.iter().cloned());
        }
        let size = entry.frame.bytes().len();
        if by_server && self.frames.len() < FRAMES && self.bytes.saturating_add(size) <= BYTES {
            self.bytes += size;
            self.frames.push(entry.frame.clone());
        }
        // Hidden before it is cut, or else a part of a secret could be left.
        let mut text = self.secrets.mask(&entry.frame.text()).into_owned();
        if let Some((end, _)) = text.char_indices().nth(LONGEST) {
            let length = text.len();
            text.truncate(end);
            text.push_str(&format!("… ({length} bytes)"));
        }
        self.say(Spoken { by_server, text });
    }

    fn say(&mut self, spoken: Spoken) {
        if self.spoken.len() == KEPT {
            // Of several steps at once the latest is what one looks for.
            self.spoken.remove(if self.crowded { 0 } else { KEPT / 2 });
            self.unheard += usize::from(!self.crowded);
        }
        self.spoken.push_back(spoken);
    }

    /// An exchange over HTTP has come to its end; it is of this step if it began
    /// in it.
    fn answered(&mut self, exchange: &Exchange) {
        let began = Instant::now().checked_sub(exchange.done);
        let of_step = self.begun.is_some_and(|begun| began.is_some_and(|began| began >= begun));
        if !of_step || exchange.method != "POST" {
            return;
        }
        if let Some(error) = &exchange.error {
            let text = format!("(POST {}: {error})", exchange.url);
            let text = self.secrets.mask(&text).into_owned();
            self.say(Spoken { by_server: false, text });
        }
        if let Some(status) = exchange.status {
            let mut headers: Map<String, Value> = Map::new();
            for (name, value) in exchange.response_headers.iter() {
                let known = headers.entry(name.to_lowercase()).or_insert_with(|| "".into());
                *known = match known.as_str() {
                    Some("") | None => value.into(),
                    Some(before) => format!("{before}, {value}").into(),
                };
            }
            let (status, headers) = (status.into(), headers.into());
            self.response = Some(Response { status, headers });
        }
    }
}

//! Looks on while the client talks: writes the trace, and keeps the target's
//! breaches of the protocol for the notes.

use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_wire::{Entry, Frame, Recorded, Rule, Side, Transcript, Violation};
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::output::line;
use crate::trace;

/// The most different breaches that are kept.
const KEPT: usize = 1_000;

/// The most that are told.
const TOLD: usize = 20;

/// How much of a line that is no frame is shown.
const SHOWN: usize = 100;

/// Who looks on.
#[derive(Default)]
pub(crate) struct Watch {
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    breaches: Vec<Breach>,
    trace_broken: Option<io::Error>,
}

struct Breach {
    /// The frame it was found in, first.
    frame: u64,
    text: String,
    times: u64,
}

impl Watch {
    /// Begins to look; `frames` gets everything that the target sends.
    ///
    /// # Errors
    /// When the trace file cannot be made.
    pub(crate) fn begin(
        trace: Option<&Path>,
        frames: Option<mpsc::UnboundedSender<Entry>>,
    ) -> Result<(Watch, Transcript), Failure> {
        let unwritable = |path: &Path, error| {
            Failure::Usage(format!("cannot write the trace to {}: {error}", path.display()))
        };
        let open = |path| File::create(path).map_err(|error| unwritable(path, error));
        let mut file = trace.map(open).transpose()?;
        let watch = Watch::default();
        let seen = Arc::clone(&watch.seen);
        let transcript = Transcript::default();
        transcript.stream_to(move |recorded| {
            let Recorded::Entry(entry) = recorded else { return };
            let mut seen = locked(&seen);
            if let Some(file) = &mut file
                && let Err(error) = file.write_all(trace::line(entry).as_bytes())
            {
                seen.trace_broken.get_or_insert(error);
            }
            if entry.from == Side::Server {
                seen.keep(entry);
                if let Some(frames) = &frames {
                    // Whoever does not listen any more has what it needs.
                    let _ = frames.send(entry.clone());
                }
            }
        });
        Ok((watch, transcript))
    }

    /// What is to be noted, without what is wrong with a frame that was shown.
    pub(crate) fn notes(&self, shown: Option<&Frame>) -> Vec<String> {
        let seen = locked(&self.seen);
        let shown = shown.map(digest);
        let untold = seen.breaches.iter().filter(|breach| Some(breach.frame) != shown);
        let mut notes: Vec<String> = untold.map(Breach::note).collect();
        let more = notes.len().saturating_sub(TOLD);
        if more > 0 {
            notes.truncate(TOLD);
            notes.push(format!("and {more} more breaches of the protocol"));
        }
        notes.extend(seen.trace_broken.iter().map(|error| format!("the trace is broken: {error}")));
        notes
    }
}

impl Seen {
    fn keep(&mut self, entry: &Entry) {
        for violation in &entry.violations {
            let full = self.breaches.len() >= KEPT;
            let text = described(entry, violation);
            match self.breaches.iter_mut().find(|breach| breach.text == text) {
                Some(breach) => breach.times += 1,
                None if !full => {
                    self.breaches.push(Breach { frame: digest(&entry.frame), text, times: 1 });
                }
                None => {}
            }
        }
    }
}

impl Breach {
    fn note(&self) -> String {
        match self.times {
            1 => self.text.clone(),
            times => format!("{} ({times} times)", self.text),
        }
    }
}

/// A breach in one line; what is no frame at all is shown.
fn described(entry: &Entry, violation: &Violation) -> String {
    match violation.rule {
        Rule::NotJson | Rule::NotAnObject | Rule::TooDeep => {
            let text = line::cut(&line::clean(&entry.frame.text()), SHOWN);
            format!("the target wrote a line that is no frame ({}): {text}", violation.rule)
        }
        _ => line::clean(&violation.to_string()),
    }
}

/// Enough to know a frame again; the frame itself may be large.
fn digest(frame: &Frame) -> u64 {
    let mut hasher = DefaultHasher::new();
    frame.bytes().hash(&mut hasher);
    hasher.finish()
}

fn locked(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

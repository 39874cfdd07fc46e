//! Looks on while the client talks: writes the trace, and keeps the target's
//! breaches of the protocol for the notes.

use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_peer::{Cause, Link};
use sparring_wire::{Entry, Frame, Recorded, Rule, Side, Transcript, Violation};

use crate::failure::Failure;
use crate::frames::Frames;
use crate::gate::Gate;
use crate::output::{Outlet, line};
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
    trace: Option<(PathBuf, Outlet)>,
    frames: Frames,
}

#[derive(Default)]
struct Seen {
    breaches: Vec<Breach>,
    /// Whether there were more than are kept.
    more: bool,
}

struct Breach {
    /// The frame it was found in, first.
    frame: u64,
    text: String,
    times: u64,
}

impl Watch {
    /// Begins to look on, and to write the trace.
    ///
    /// # Errors
    /// When the trace file cannot be made.
    pub(crate) async fn begin(trace: Option<PathBuf>) -> Result<(Watch, Transcript), Failure> {
        let trace = match trace {
            None => None,
            Some(path) => Some(create(path).await?),
        };
        let watch = Watch { trace, ..Watch::default() };
        let (seen, frames) = (Arc::clone(&watch.seen), watch.frames.clone());
        let outlet = watch.trace.as_ref().map(|(_, outlet)| outlet.clone());
        let transcript = Transcript::default();
        transcript.stream_to(move |recorded| {
            if let Some(outlet) = &outlet {
                outlet.queue(
                    match recorded {
                        Recorded::Entry(entry) => trace::line(entry),
                        Recorded::Exchange(exchange) => trace::exchange_line(exchange),
                    }
                    .as_bytes(),
                );
            }
            if let Recorded::Entry(entry) = recorded
                && entry.from == Side::Server
            {
                locked(&seen).keep(entry);
                frames.add(entry);
            }
        });
        Ok((watch, transcript))
    }

    /// Everything that the target sends, once somebody wants it.
    pub(crate) fn frames(&self) -> &Frames {
        &self.frames
    }

    /// The link, on which the target speaks only while there is room for it.
    pub(crate) fn gate(&self, link: Box<dyn Link>) -> Gate {
        let trace = self.trace.as_ref().map(|(_, outlet)| outlet.clone());
        Gate { link, frames: self.frames.clone(), trace, closing: false }
    }

    /// Waits until the trace is written.
    ///
    /// # Errors
    /// When it is not whole.
    pub(crate) async fn finish(&self) -> Result<(), Failure> {
        match &self.trace {
            None => Ok(()),
            Some((path, outlet)) => {
                outlet.written().await.map_err(|error| unwritable(path, &error))
            }
        }
    }

    /// What is to be noted: breaches of the protocol, without what is wrong with
    /// a frame that was shown, and mishaps that nobody was told of.
    pub(crate) fn notes(&self, shown: Option<&Frame>, mishaps: &[Cause]) -> Vec<String> {
        let seen = locked(&self.seen);
        let shown = shown.map(digest);
        let untold = seen.breaches.iter().filter(|breach| Some(breach.frame) != shown);
        let mut notes: Vec<String> = untold.map(Breach::note).collect();
        let more = notes.len().saturating_sub(TOLD);
        if more > 0 {
            notes.truncate(TOLD);
            let least = if seen.more { "at least " } else { "" };
            notes.push(format!("and {least}{more} more breaches of the protocol"));
        }
        let untold = mishaps.iter().filter(|mishap| !self.frames.is_broken_by(mishap));
        notes.extend(untold.take(TOLD).map(ToString::to_string));
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
                None => self.more = true,
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

/// Makes the trace file, which may take as long as the system likes: a pipe
/// waits for its reader.
async fn create(path: PathBuf) -> Result<(PathBuf, Outlet), Failure> {
    let creating = path.clone();
    let made = tokio::task::spawn_blocking(move || File::create(creating)).await;
    match made.unwrap_or_else(|error| Err(io::Error::other(error))) {
        Ok(file) => Ok((path, Outlet::new(file))),
        Err(error) => Err(unwritable(&path, &error)),
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::File(format!("cannot write the trace to {}: {error}", path.display()))
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

//! Observes the traffic of a connection: writes the trace, and keeps the target's
//! violations for the notes.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_peer::{Cause, Link};
use sparring_transport::Secrets;
use sparring_wire::{Entry, Frame, Rule, Side, Transcript, TranscriptItem, Violation};

use crate::backpressure_link::BackpressureLink;
use crate::command_error::CommandError;
use crate::frame_queue::FrameQueue;
use crate::output::{ThreadedWriter, line, open_private};
use crate::trace;

/// Maximum number of different violations to keep.
const MAX_VIOLATIONS: usize = 1_000;

/// Maximum number of notes to print.
const MAX_NOTES: usize = 20;

/// Maximum length of a shown line that is not a frame.
const MAX_LINE_COLUMNS: usize = 100;

/// The observer of one connection.
#[derive(Default)]
pub(crate) struct TrafficObserver {
    seen: Arc<Mutex<SeenViolations>>,
    trace: Option<(PathBuf, ThreadedWriter)>,
    frames: FrameQueue,
}

#[derive(Default)]
struct SeenViolations {
    violations: Vec<SeenViolation>,
    /// True if more violations occurred than are kept.
    more: bool,
}

struct SeenViolation {
    /// The digest of the first frame with this violation, if a frame shows it.
    frame: Option<u64>,
    text: String,
    times: u64,
}

impl TrafficObserver {
    /// Starts to observe, and to write the trace.
    ///
    /// # Errors
    /// When the trace file cannot be created.
    pub(crate) async fn start(
        trace: Option<PathBuf>,
        secrets: &Secrets,
    ) -> Result<(TrafficObserver, Transcript), CommandError> {
        let trace = match trace {
            None => None,
            Some(path) => Some(create(path, secrets).await?),
        };
        let observer = TrafficObserver { trace, ..TrafficObserver::default() };
        let (seen, frames) = (Arc::clone(&observer.seen), observer.frames.clone());
        let writer = observer.trace.as_ref().map(|(_, writer)| writer.clone());
        let transcript = Transcript::default();
        transcript.set_sink(move |recorded| {
            if let Some(writer) = &writer {
                writer.queue(
                    match recorded {
                        TranscriptItem::Entry(entry) => trace::frame_line(entry),
                        TranscriptItem::Exchange(exchange) => trace::exchange_line(exchange),
                        TranscriptItem::Violation(violation) => trace::violation_line(violation),
                    }
                    .as_bytes(),
                );
            }
            match recorded {
                TranscriptItem::Entry(entry) if entry.from == Side::Server => {
                    lock(&seen).record(entry);
                    frames.push(entry);
                }
                TranscriptItem::Violation(violation) => {
                    lock(&seen).add(None, line::clean(&violation.to_string()));
                }
                _ => {}
            }
        });
        Ok((observer, transcript))
    }

    /// The queue of the frames that the target sends.
    pub(crate) fn frames(&self) -> &FrameQueue {
        &self.frames
    }

    /// Wraps the link, so that it receives only while there is capacity.
    pub(crate) fn wrap_link(&self, link: Box<dyn Link>) -> BackpressureLink {
        let trace = self.trace.as_ref().map(|(_, writer)| writer.clone());
        BackpressureLink { link, frames: self.frames.clone(), trace, closing: false }
    }

    /// Waits until the trace is written.
    ///
    /// # Errors
    /// When a write failed.
    pub(crate) async fn finish(&self) -> Result<(), CommandError> {
        match &self.trace {
            None => Ok(()),
            Some((path, writer)) => writer.flush().await.map_err(|error| trace_error(path, &error)),
        }
    }

    /// Returns the notes: violations, without those of the frame that the failure shows,
    /// and errors of the client that no request reported.
    pub(crate) fn notes(&self, shown: Option<&Frame>, background_errors: &[Cause]) -> Vec<String> {
        let seen = lock(&self.seen);
        let shown = shown.map(digest);
        let unreported =
            seen.violations.iter().filter(|known| shown.is_none() || known.frame != shown);
        let mut notes: Vec<String> = unreported.map(SeenViolation::note).collect();
        let more = notes.len().saturating_sub(MAX_NOTES);
        if more > 0 {
            notes.truncate(MAX_NOTES);
            let least = if seen.more { "at least " } else { "" };
            notes.push(format!("and {least}{more} more protocol violations"));
        }
        let unreported = background_errors.iter().filter(|error| !self.frames.is_send_error(error));
        notes.extend(unreported.take(MAX_NOTES).map(ToString::to_string));
        notes
    }
}

impl SeenViolations {
    fn record(&mut self, entry: &Entry) {
        for violation in &entry.violations {
            self.add(Some(&entry.frame), describe(entry, violation));
        }
    }

    fn add(&mut self, frame: Option<&Frame>, text: String) {
        let full = self.violations.len() >= MAX_VIOLATIONS;
        match self.violations.iter_mut().find(|known| known.text == text) {
            Some(known) => known.times += 1,
            None if !full => {
                self.violations.push(SeenViolation { frame: frame.map(digest), text, times: 1 });
            }
            None => self.more = true,
        }
    }
}

impl SeenViolation {
    fn note(&self) -> String {
        match self.times {
            1 => self.text.clone(),
            times => format!("{} ({times} times)", self.text),
        }
    }
}

/// Creates the trace file. May block: a pipe waits for its reader.
pub(crate) async fn create(
    path: PathBuf,
    secrets: &Secrets,
) -> Result<(PathBuf, ThreadedWriter), CommandError> {
    let creating = path.clone();
    let made = tokio::task::spawn_blocking(move || open_private(&creating, false)).await;
    match made.unwrap_or_else(|error| Err(io::Error::other(error))) {
        Ok(file) => Ok((path, ThreadedWriter::new(file, secrets))),
        Err(error) => Err(trace_error(&path, &error)),
    }
}

pub(crate) fn trace_error(path: &Path, error: &io::Error) -> CommandError {
    CommandError::File(format!("cannot write the trace to {}: {error}", path.display()))
}

/// Describes a violation in one line. Shows the text if it is not JSON.
fn describe(entry: &Entry, violation: &Violation) -> String {
    match violation.rule {
        Rule::NotJson | Rule::NotAnObject | Rule::WrongJsonrpc | Rule::EmptyMessage
            if entry.is_printed_line() =>
        {
            line::clean(&format!("{}: {}", violation.rule, violation.message))
        }
        Rule::NotJson | Rule::NotAnObject | Rule::TooDeep => {
            let text = line::truncate(&line::clean(&entry.frame.text()), MAX_LINE_COLUMNS);
            format!("the server sent text that is not JSON-RPC ({}): `{text}`", violation.rule)
        }
        _ => line::clean(&violation.to_string()),
    }
}

/// Identifies a frame without keeping it, since it may be large.
fn digest(frame: &Frame) -> u64 {
    let mut hasher = DefaultHasher::new();
    frame.bytes().hash(&mut hasher);
    hasher.finish()
}

fn lock(seen: &Mutex<SeenViolations>) -> MutexGuard<'_, SeenViolations> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Everything that was sent and received on one connection.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sparring_wire::{Entry, Rule, Side, Transcript, TranscriptItem, Violation};
use tokio::sync::Notify;

use crate::observer::CheckObserver;

/// The limits of one recording. Later frames are checked, but not kept.
const MAX_ENTRIES: usize = 20_000;
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// The limit of all recordings of the process.
const MAX_TOTAL_BYTES: usize = 128 * 1024 * 1024;

/// The bytes of all recordings.
static TOTAL_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The limit of kept violations.
const MAX_VIOLATIONS: usize = 1_000;

/// The rules that a server may break because it repeats generated arguments: their length, or
/// a URL or a name in them.
const RULES_OF_ECHOES: [Rule; 6] = [
    Rule::TooLarge,
    Rule::SensitiveLog,
    Rule::SensitiveElicitation,
    Rule::SensitiveUrl,
    Rule::InsecureUrl,
    Rule::ClickableUrl,
];

/// The record of one connection. Cheap to clone; all clones share it.
#[derive(Clone, Default)]
pub(crate) struct Recording(Arc<Shared>);

#[derive(Default)]
struct Shared {
    recorded: Mutex<Recorded>,
    changed: Notify,
}

#[derive(Default)]
struct Recorded {
    entries: Vec<Entry>,
    bytes: usize,
    /// The violations of the server, each with the index of its entry, if it has one.
    violations: Vec<(Violation, Option<usize>)>,
    /// True if messages may repeat generated arguments.
    has_generated_arguments: Arc<AtomicBool>,
}

impl Recording {
    /// Creates a transcript that writes to this recording, and shows everything to the
    /// observer.
    pub(crate) fn transcript(&self, observer: Arc<dyn CheckObserver>) -> Transcript {
        // The entries are kept here, so the transcript needs no room for them.
        let transcript = Transcript::with_max_bytes(64 * 1024);
        let recording = self.clone();
        transcript.set_sink(move |item| {
            observer.recorded(&item);
            recording.add(item);
        });
        transcript
    }

    fn add(&self, item: TranscriptItem<'_>) {
        let mut recorded = self.recorded();
        match item {
            TranscriptItem::Entry(entry) => recorded.add_entry(entry),
            TranscriptItem::Violation(violation) => recorded.add_violation(violation, None),
            TranscriptItem::Exchange(_) => {}
        }
        drop(recorded);
        self.0.changed.notify_waiters();
    }

    /// Sets the flag that is true once messages may repeat generated arguments.
    pub(crate) fn set_generated_arguments(&self, flag: &Arc<AtomicBool>) {
        self.recorded().has_generated_arguments = Arc::clone(flag);
    }

    /// Returns the number of entries so far.
    pub(crate) fn len(&self) -> usize {
        self.recorded().entries.len()
    }

    /// Returns the entries from this index on.
    pub(crate) fn entries_from(&self, start: usize) -> Vec<Entry> {
        self.recorded().entries.get(start..).unwrap_or_default().to_vec()
    }

    /// Returns the violations of the server, each with the frames that show it.
    pub(crate) fn violations(&self) -> Vec<(Violation, Vec<Entry>)> {
        let recorded = self.recorded();
        let shown = |index: &Option<usize>| match index {
            Some(index) => recorded.frames_around(*index),
            None => Vec::new(),
        };
        recorded.violations.iter().map(|(found, index)| (found.clone(), shown(index))).collect()
    }

    /// Waits for an entry from this index on that fits. Returns `None` if there is none in
    /// time.
    pub(crate) async fn wait_for(
        &self,
        start: usize,
        within: Duration,
        fits: impl Fn(&Entry) -> bool,
    ) -> Option<Entry> {
        let search = async {
            loop {
                let changed = self.0.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                let found = self.recorded().entries.iter().skip(start).find(|it| fits(it)).cloned();
                if let Some(found) = found {
                    return found;
                }
                changed.await;
            }
        };
        tokio::time::timeout(within, search).await.ok()
    }

    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.0.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        TOTAL_BYTES.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Recorded {
    fn add_entry(&mut self, entry: &Entry) {
        self.add_entry_within(entry, &TOTAL_BYTES);
    }

    /// Adds an entry, and counts its bytes to those of all recordings.
    fn add_entry_within(&mut self, entry: &Entry, total: &AtomicUsize) {
        let size = entry.frame.bytes().len();
        let fits = self.entries.len() < MAX_ENTRIES
            && self.bytes + size <= MAX_BYTES
            && total.load(Ordering::Relaxed) + size <= MAX_TOTAL_BYTES;
        if fits {
            total.fetch_add(size, Ordering::Relaxed);
            self.bytes += size;
            self.entries.push(entry.clone());
        }
        if entry.from == Side::Server {
            let index = fits.then(|| self.entries.len() - 1);
            entry.violations.iter().for_each(|it| self.add_violation(it, index));
        }
    }

    fn add_violation(&mut self, violation: &Violation, index: Option<usize>) {
        let is_echo = self.has_generated_arguments.load(Ordering::Relaxed)
            && RULES_OF_ECHOES.contains(&violation.rule);
        if !is_echo && self.violations.len() < MAX_VIOLATIONS {
            self.violations.push((violation.clone(), index));
        }
    }

    /// Returns the entry at this index, after the request that it answers.
    fn frames_around(&self, index: usize) -> Vec<Entry> {
        let entry = &self.entries[index];
        let request = entry.frame.id().filter(|_| entry.frame.is_response_like()).and_then(|id| {
            let sent = self.entries[..index].iter().rev();
            sent.filter(|it| it.from == Side::Client).find(|it| it.frame.id() == Some(id))
        });
        request.into_iter().chain([entry]).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use sparring_wire::Frame;

    use super::*;

    #[test]
    fn all_recordings_share_a_limit() {
        let bytes = format!("{{\"x\":\"{}\"}}", "x".repeat(8_000_000)).into_bytes();
        let entry = Entry {
            from: Side::Server,
            at: Duration::ZERO,
            frame: Frame::parse(bytes),
            status: None,
            violations: Vec::new(),
        };
        let total = AtomicUsize::new(0);
        let mut all: Vec<Recorded> = (0..4).map(|_| Recorded::default()).collect();
        for recorded in &mut all {
            (0..10).for_each(|_| recorded.add_entry_within(&entry, &total));
        }
        let kept: usize = all.iter().map(|it| it.entries.len()).sum();
        assert_eq!(kept, 16);
        assert!(all[3].entries.is_empty());
        // Their ends would otherwise count for the other tests.
        all.iter_mut().for_each(|it| it.bytes = 0);
    }
}

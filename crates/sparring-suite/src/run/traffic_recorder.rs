//! Records the traffic of each test for reports.
//!
//! Frames between two tests belong to the later one. If tests run at once on one
//! server, frames cannot be attributed: each test gets all frames of its time, and is
//! marked as shared.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sparring_transport::Secrets;
use sparring_wire::{Entry, Side};
use tokio::time::Instant;

use crate::event::{Traffic, TrafficFrame};
use crate::hide;

/// The maximum number of frames of a test, and their bytes. The first and the last ones are kept.
const MAX_FRAMES: usize = 200;
const MAX_BYTES: usize = 256 * 1024;

/// The maximum number of bytes of one frame.
const MAX_FRAME_BYTES: usize = 16 * 1024;

/// The maximum number of bytes of all tests of a run.
pub(super) const MAX_BYTES_PER_RUN: usize = 256 * 1024 * 1024;

/// Records the traffic of one server. Cheap to clone; clones share the recordings.
#[derive(Debug, Clone)]
pub(super) struct TrafficRecorder(Arc<Mutex<Recordings>>);

#[derive(Debug)]
struct Recordings {
    secrets: Secrets,
    /// The number of bytes that the run may still record.
    budget: Arc<AtomicUsize>,
    running: Vec<RunningTest>,
    /// The frames since the last test ended.
    between: Recording,
}

/// A test that is not over.
#[derive(Debug)]
struct RunningTest {
    test: usize,
    begun: Instant,
    recording: Recording,
}

#[derive(Debug, Default)]
struct Recording {
    frames: Vec<TrafficFrame>,
    bytes: usize,
    left_out: usize,
    shared: bool,
}

impl TrafficRecorder {
    /// Makes a recorder that masks secrets and shares a budget of bytes with others.
    pub(super) fn new(secrets: Secrets, budget: Arc<AtomicUsize>) -> Self {
        let (running, between) = (Vec::new(), Recording::default());
        let recordings = Recordings { secrets, budget, running, between };
        TrafficRecorder(Arc::new(Mutex::new(recordings)))
    }

    /// Begins to record a test.
    pub(super) fn begin_test(&self, test: usize) {
        let mut recordings = self.lock();
        let recording = match recordings.running.is_empty() {
            true => std::mem::take(&mut recordings.between),
            false => Recording::default(),
        };
        recordings.running.push(RunningTest { test, begun: Instant::now(), recording });
        let shared = recordings.running.len() > 1;
        recordings.running.iter_mut().for_each(|it| it.recording.shared |= shared);
    }

    /// Sets the start of a test to now, after its server has started. Its frames so far were
    /// sent before the test.
    pub(super) fn restart_clock(&self, test: usize) {
        let mut recordings = self.lock();
        for running in recordings.running.iter_mut().filter(|it| it.test == test) {
            running.begun = Instant::now();
            running.recording.frames.iter_mut().for_each(|frame| frame.at = Duration::ZERO);
        }
    }

    /// Ends the recording of a test and returns it.
    pub(super) fn end_test(&self, test: usize) -> Traffic {
        let mut recordings = self.lock();
        let Some(at) = recordings.running.iter().position(|it| it.test == test) else {
            return Traffic::default();
        };
        let recording = recordings.running.remove(at).recording;
        let Recording { frames, left_out, shared, .. } = recording;
        Traffic { frames, left_out, shared }
    }

    /// Records a frame.
    pub(super) fn record(&self, entry: &Entry) {
        let mut recordings = self.lock();
        let Recordings { secrets, budget, running, between } = &mut *recordings;
        let text = entry.frame.text();
        let text = secrets.mask(&text);
        let frame = TrafficFrame {
            at: Duration::ZERO,
            by_server: entry.from == Side::Server,
            text: cut(&hide::mask_members(&text)),
            bytes: entry.frame.bytes().len(),
            status: entry.status,
            violations: entry.violations.clone(),
        };
        for RunningTest { begun, recording, .. } in running.iter_mut() {
            recording.add(TrafficFrame { at: begun.elapsed(), ..frame.clone() }, budget);
        }
        if running.is_empty() {
            between.add(frame, budget);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Recordings> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recording {
    /// Adds a frame. If there are too many, removes frames from the middle.
    fn add(&mut self, frame: TrafficFrame, budget: &AtomicUsize) {
        let size = frame.text.len();
        let less = |budget: usize| budget.checked_sub(size);
        if budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err() {
            self.left_out += 1;
            return;
        }
        self.bytes += size;
        self.frames.push(frame);
        while self.frames.len() > MAX_FRAMES || self.bytes > MAX_BYTES {
            let middle = self.frames.remove(self.frames.len() / 2);
            self.bytes -= middle.text.len();
            budget.fetch_add(middle.text.len(), Ordering::Relaxed);
            self.left_out += 1;
        }
    }
}

/// Cuts a text that is too long.
fn cut(text: &str) -> String {
    if text.len() <= MAX_FRAME_BYTES {
        return text.to_owned();
    }
    let end = (0..=MAX_FRAME_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use sparring_wire::Frame;

    use super::*;

    fn record(recorder: &TrafficRecorder, text: &str) {
        recorder.record(&Entry {
            at: Duration::ZERO,
            from: Side::Server,
            frame: Frame::parse(text),
            status: None,
            violations: Vec::new(),
        });
    }

    fn recorder(secrets: &[&str], budget: usize) -> TrafficRecorder {
        let known = Secrets::default();
        secrets.iter().for_each(|secret| known.add(secret));
        TrafficRecorder::new(known, Arc::new(AtomicUsize::new(budget)))
    }

    #[test]
    fn frames_between_tests_belong_to_the_next() {
        let recorder = recorder(&[], MAX_BYTES_PER_RUN);
        record(&recorder, "before");
        recorder.begin_test(0);
        record(&recorder, "during");
        let texts = |traffic: Traffic| {
            traffic.frames.into_iter().map(|frame| frame.text).collect::<Vec<_>>()
        };
        assert_eq!(texts(recorder.end_test(0)), ["before", "during"]);
        record(&recorder, "after");
        recorder.begin_test(1);
        assert_eq!(texts(recorder.end_test(1)), ["after"]);
        assert_eq!(texts(recorder.end_test(1)), Vec::<String>::new());
    }

    #[test]
    fn records_up_to_the_budget_and_counts_the_rest() {
        let recorder = recorder(&[], 10);
        recorder.begin_test(0);
        (0..5).for_each(|_| record(&recorder, "four"));
        let traffic = recorder.end_test(0);
        assert_eq!((traffic.frames.len(), traffic.left_out), (2, 3));
    }

    #[test]
    fn masks_a_secret_before_it_cuts_the_text() {
        let recorder = recorder(&["hunter-2-hunter"], MAX_BYTES_PER_RUN);
        recorder.begin_test(0);
        record(
            &recorder,
            &format!("{}hunter-2-hunter{}", "x".repeat(MAX_FRAME_BYTES - 5), "y".repeat(100)),
        );
        let text = recorder.end_test(0).frames.remove(0).text;
        assert!(text.ends_with("x(hidd…"), "{}", &text[MAX_FRAME_BYTES - 20..]);
    }
}

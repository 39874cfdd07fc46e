//! The traffic of the current step: the frames, the violations and the last HTTP
//! response.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use sparring_transport::Secrets;
use sparring_wire::{Entry, Exchange, Frame, Side, Transcript, TranscriptItem, Violation};
use tokio::time::Instant;

use super::traffic_recorder::TrafficRecorder;
use crate::event::StepFrame;
use crate::step_result::HttpResponse;

/// The maximum number of frames of a step that a failure shows. The first ones have the
/// request, the last ones the result.
const MAX_SHOWN_FRAMES: usize = 12;

/// The maximum number of characters of a frame that a failure shows.
const MAX_SHOWN_CHARS: usize = 4_000;

/// The maximum number of violations that wait to be taken.
const MAX_VIOLATIONS: usize = 100;

/// The maximum number of frames of the server that a step can check, and their bytes.
const MAX_FRAMES: usize = 10_000;
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The traffic of the current step. Cheap to clone; clones share the traffic.
#[derive(Debug, Clone, Default)]
pub(super) struct StepTraffic(Arc<Mutex<Collected>>);

#[derive(Debug, Default)]
struct Collected {
    /// True if several steps run at once, so that frames cannot be attributed to one.
    shared: bool,
    violations: Vec<Violation>,
    frames: Vec<Frame>,
    bytes: usize,
    shown: VecDeque<StepFrame>,
    frames_left_out: usize,
    /// When the step began.
    begun: Option<Instant>,
    response: Option<HttpResponse>,
    secrets: Secrets,
}

impl StepTraffic {
    /// Collects the frames and exchanges that a transcript records from now on. Also passes
    /// the frames to the recorder, if any.
    pub(super) fn follow(
        transcript: &Transcript,
        shared: bool,
        secrets: &Secrets,
        recorder: Option<TrafficRecorder>,
    ) -> StepTraffic {
        let collected = Collected { shared, secrets: secrets.clone(), ..Collected::default() };
        let traffic = StepTraffic(Arc::new(Mutex::new(collected)));
        let receiver = traffic.clone();
        transcript.set_sink(move |recorded| match recorded {
            TranscriptItem::Entry(entry) => {
                receiver.lock().add(entry);
                if let Some(recorder) = &recorder {
                    recorder.record(entry);
                }
            }
            TranscriptItem::Exchange(exchange) => receiver.lock().add_exchange(exchange),
            TranscriptItem::Violation(violation) => receiver.lock().add_violation(violation),
        });
        traffic
    }

    /// Drops the traffic of the previous step.
    pub(super) fn begin_step(&self) {
        let mut collected = self.lock();
        if !collected.shared {
            collected.shown.clear();
            collected.frames_left_out = 0;
        }
        collected.frames.clear();
        collected.bytes = 0;
        collected.begun = Some(Instant::now());
        collected.response = None;
    }

    /// Takes the violations since the last call.
    pub(super) fn take_violations(&self) -> Vec<Violation> {
        std::mem::take(&mut self.lock().violations)
    }

    /// Adds violations of an earlier connection, to be taken first.
    pub(super) fn add_violations(&self, violations: Vec<Violation>) {
        self.lock().violations.splice(0..0, violations);
    }

    /// The frames that the server sent in this step, from the nth on.
    pub(super) fn frames(&self, from: usize) -> Vec<Frame> {
        self.lock().frames.get(from..).unwrap_or_default().to_vec()
    }

    /// The last HTTP response of the server in this step.
    pub(super) fn response(&self) -> Option<HttpResponse> {
        self.lock().response.clone()
    }

    /// The frames of the step that a failure shows, and the number of omitted ones.
    pub(super) fn shown(&self) -> (Vec<StepFrame>, usize) {
        let collected = self.lock();
        (collected.shown.iter().cloned().collect(), collected.frames_left_out)
    }

    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Collected {
    fn add_violation(&mut self, violation: &Violation) {
        if self.violations.len() < MAX_VIOLATIONS {
            self.violations.push(violation.clone());
        }
    }

    fn add(&mut self, entry: &Entry) {
        let by_server = entry.from == Side::Server;
        if by_server && self.violations.len() < MAX_VIOLATIONS {
            self.violations.extend(entry.violations.iter().cloned());
        }
        let size = entry.frame.bytes().len();
        if by_server
            && self.frames.len() < MAX_FRAMES
            && self.bytes.saturating_add(size) <= MAX_BYTES
        {
            self.bytes += size;
            self.frames.push(entry.frame.clone());
        }
        // Masked before it is cut, because a cut could leave a part of a secret.
        let mut text = self.secrets.mask(&entry.frame.text()).into_owned();
        if let Some((end, _)) = text.char_indices().nth(MAX_SHOWN_CHARS) {
            let length = text.len();
            text.truncate(end);
            text.push_str(&format!("… ({length} bytes)"));
        }
        self.show(StepFrame { by_server, text });
    }

    fn show(&mut self, frame: StepFrame) {
        if self.shown.len() == MAX_SHOWN_FRAMES {
            // If several steps run at once, the latest frames are the interesting ones.
            self.shown.remove(if self.shared { 0 } else { MAX_SHOWN_FRAMES / 2 });
            self.frames_left_out += usize::from(!self.shared);
        }
        self.shown.push_back(frame);
    }

    /// Adds an HTTP exchange that is over, if it began in this step.
    fn add_exchange(&mut self, exchange: &Exchange) {
        let began = Instant::now().checked_sub(exchange.total);
        let in_step = self.begun.is_some_and(|begun| began.is_some_and(|began| began >= begun));
        if !in_step || exchange.method != "POST" {
            return;
        }
        if let Some(error) = &exchange.error {
            let text = format!("(POST {}: {error})", exchange.url);
            let text = self.secrets.mask(&text).into_owned();
            self.show(StepFrame { by_server: false, text });
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
            self.response = Some(HttpResponse { status, headers });
        }
    }
}

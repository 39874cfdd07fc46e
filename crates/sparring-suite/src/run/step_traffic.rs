//! The traffic of the current step: the frames, the violations and the last HTTP
//! response.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use sparring_transport::Secrets;
use sparring_wire::{Entry, Exchange, Frame, Id, Side, Transcript, TranscriptItem, Violation};
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
const MAX_VIOLATIONS: usize = 10_000;

/// The notification that answers a subscription.
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The member of `_meta` with the id of the subscription to which a notification belongs.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

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
    violations: Vec<CollectedViolation>,
    /// The number of violations that were not kept, until they are taken.
    dropped_violations: usize,
    /// True if a step sends requests of the user, so that a `subscriptions/listen` is not ours.
    users_request: bool,
    /// The ids of our own `subscriptions/listen` requests.
    own_listens: HashSet<Id>,
    frames: Vec<Frame>,
    bytes: usize,
    /// The number of frames of the step that were not kept.
    dropped_frames: usize,
    shown: VecDeque<StepFrame>,
    frames_left_out: usize,
    /// When the step began.
    begun: Option<Instant>,
    /// The ids of the requests of the current test and of the previous one. Both are empty if
    /// several steps run at once.
    test_ids: HashSet<Id>,
    previous_test_ids: HashSet<Id>,
    /// True after a test, until the next one sends its first request.
    is_between_tests: bool,
    response: Option<HttpResponse>,
    secrets: Secrets,
}

/// A violation, and the step that reports it.
#[derive(Debug)]
struct CollectedViolation {
    violation: Violation,
    owner: Owner,
}

/// The step that reports a violation of a server whose tests run at once.
#[derive(Debug, PartialEq)]
enum Owner {
    /// Any step: the violation occurred before the first step.
    Any,
    /// The step that sent the request with this id.
    Request(Id),
    /// No step: the frame belongs to no request.
    None,
    /// The previous test, which is over.
    PreviousTest,
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

    /// Begins a test after another one. The violations before its first request, and those of
    /// answers to earlier requests, belong to the previous test.
    pub(super) fn begin_test(&self) {
        let mut collected = self.lock();
        if !collected.shared {
            collected.previous_test_ids = std::mem::take(&mut collected.test_ids);
            collected.is_between_tests = true;
            for collected in &mut collected.violations {
                collected.owner = Owner::PreviousTest;
            }
        }
    }

    /// Takes the violations of the previous test.
    pub(super) fn take_violations_of_previous_test(&self) -> Vec<Violation> {
        let mut collected = self.lock();
        let of_previous = |it: &mut CollectedViolation| it.owner == Owner::PreviousTest;
        collected.violations.extract_if(.., of_previous).map(|it| it.violation).collect()
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
        collected.dropped_frames = 0;
        collected.begun = Some(Instant::now());
        collected.response = None;
    }

    /// Takes the violations since the last call that a step reports. If several steps run
    /// at once, these are the violations of the answer to its request.
    pub(super) fn take_violations(&self, request: Option<&Id>) -> Vec<Violation> {
        let mut collected = self.lock();
        let shared = collected.shared;
        let is_ours = |it: &mut CollectedViolation| match &it.owner {
            Owner::Any => true,
            Owner::Request(id) => !shared || Some(id) == request,
            Owner::None => !shared,
            Owner::PreviousTest => false,
        };
        let ours = collected.violations.extract_if(.., is_ours);
        ours.map(|it| it.violation).collect()
    }

    /// Takes the number of violations that were not kept because there were too many.
    pub(super) fn take_dropped_violations(&self) -> usize {
        std::mem::take(&mut self.lock().dropped_violations)
    }

    /// Sets whether the next requests are those of the user. Before the first step and in
    /// `subscribe`, they are our own.
    pub(super) fn set_users_request(&self, users_request: bool) {
        self.lock().users_request = users_request;
    }

    /// Returns true if a frame only acknowledges one of our own subscriptions. Earlier revisions
    /// have a response instead.
    pub(super) fn is_own_acknowledgement(&self, frame: &Frame) -> bool {
        let id = || frame.params()?.get("_meta")?.get(SUBSCRIPTION_ID).and_then(Id::from_json);
        frame.method() == Some(ACKNOWLEDGED)
            && id().is_some_and(|id| self.lock().own_listens.contains(&id))
    }

    /// Takes the violations that no step has taken.
    pub(super) fn take_remaining_violations(&self) -> Vec<Violation> {
        let all = std::mem::take(&mut self.lock().violations);
        all.into_iter().map(|it| it.violation).collect()
    }

    /// Adds violations of an earlier connection, to be taken first.
    pub(super) fn add_violations(&self, violations: Vec<Violation>) {
        let any = |violation| CollectedViolation { violation, owner: Owner::Any };
        self.lock().violations.splice(0..0, violations.into_iter().map(any));
    }

    /// The number of frames of the server in this step that were not kept.
    pub(super) fn dropped_frames(&self) -> usize {
        self.lock().dropped_frames
    }

    /// Describes the first line that the server printed although it is not JSON-RPC.
    pub(super) fn first_printed_line(&self) -> Option<String> {
        let collected = self.lock();
        let printed = collected.frames.iter().find(|frame| frame.is_foreign_line());
        printed.map(Frame::describe_printed_line)
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
    /// Adds a violation that belongs to no frame, such as one of an HTTP response.
    fn add_violation(&mut self, violation: &Violation) {
        self.keep_violation(violation, self.owner_of(None));
    }

    /// Keeps a violation until it is taken, or counts it if there are too many.
    fn keep_violation(&mut self, violation: &Violation, owner: Owner) {
        if self.violations.len() < MAX_VIOLATIONS {
            self.violations.push(CollectedViolation { violation: violation.clone(), owner });
        } else {
            self.dropped_violations += 1;
        }
    }

    fn add(&mut self, entry: &Entry) {
        let by_server = entry.from == Side::Server;
        if !by_server && !self.shared && entry.frame.method().is_some() {
            self.is_between_tests = false;
            self.test_ids.extend(entry.frame.id().cloned());
        }
        if by_server {
            for violation in &entry.violations {
                self.keep_violation(violation, self.owner(&entry.frame));
            }
            self.keep(&entry.frame);
        } else if !self.users_request && entry.frame.method() == Some("subscriptions/listen") {
            self.own_listens.extend(entry.frame.id().cloned());
        }
        // Masked before it is cut, because a cut could leave a part of a secret.
        let mut text = self.secrets.mask(&entry.frame.text()).into_owned();
        if let Some((end, _)) = text.char_indices().nth(MAX_SHOWN_CHARS) {
            let length = text.len();
            text.truncate(end);
            text.push_str(&format!("… ({length} bytes)"));
        }
        let is_complete = by_server && !entry.violations.is_empty();
        self.show(StepFrame { by_server, is_complete, text });
    }

    /// Keeps a frame of the server, so that expectations can check it.
    fn keep(&mut self, frame: &Frame) {
        let bytes = self.bytes.saturating_add(frame.bytes().len());
        if self.frames.len() >= MAX_FRAMES || bytes > MAX_BYTES {
            self.dropped_frames += 1;
            return;
        }
        self.bytes = bytes;
        self.frames.push(frame.clone());
    }

    /// The step that reports the violations of a frame.
    fn owner(&self, frame: &Frame) -> Owner {
        let token = || frame.params()?.get("progressToken").and_then(Id::from_json);
        let request = match frame.method() {
            None => frame.id().cloned(),
            Some("notifications/progress") => token(),
            Some(_) => None,
        };
        self.owner_of(request)
    }

    /// The step that reports a violation, by the request to which the violation belongs.
    fn owner_of(&self, request: Option<Id>) -> Owner {
        if self.begun.is_none() {
            return Owner::Any;
        }
        let is_earlier =
            |id: &Id| self.previous_test_ids.contains(id) && !self.test_ids.contains(id);
        match request {
            Some(id) if is_earlier(&id) => Owner::PreviousTest,
            Some(id) => Owner::Request(id),
            None if self.is_between_tests => Owner::PreviousTest,
            None => Owner::None,
        }
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
            self.show(StepFrame { by_server: false, is_complete: false, text });
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

//! Sorts what comes in: a request to serve, an answer to a question, a
//! cancellation, or something that is refused.

use sparring_wire::types::LogLevel;
use sparring_wire::{ErrorObject, Frame, FrameKind, Id, Json, RawJson, Revision, Rule, Side, code};

use super::opening::Admitted;
use super::{Batch, Call, Core, Event, Job, Time};
use crate::link::{Cause, Envelope, Faults, Incoming, LinkKind, Outgoing, Stream};
use crate::notices;

impl<A> Core<A> {
    /// Takes in what the link gave.
    pub fn receive(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Frame { frame, envelope, .. } => self.frame(frame, None, envelope),
            Incoming::Noise { frame, .. } => self.unreadable(&frame, None),
            Incoming::StreamEnded { stream: Stream::Request(id), .. } => self.stream_ended(&id),
            Incoming::StreamEnded { stream: Stream::Standing, .. } | Incoming::Missed(_) => {}
            Incoming::Closed(cause) => self.end(cause),
        }
    }

    fn frame(&mut self, frame: Frame, batch: Option<u64>, envelope: Option<Envelope>) {
        match frame.kind() {
            FrameKind::Request => self.request(frame, batch, envelope),
            FrameKind::Notification => self.notification(frame),
            FrameKind::Result | FrameKind::Error => self.answered(&frame),
            FrameKind::Batch if batch.is_none() => self.batch(&frame, envelope.as_ref()),
            // Nobody answers an answer, not even a bad one.
            FrameKind::Other if frame.result().is_some() || frame.error().is_some() => {
                self.answered(&frame);
            }
            FrameKind::Batch | FrameKind::Other => self.unreadable(&frame, batch),
        }
    }

    /// Answers what is no message: -32700 where it is not JSON, else -32600.
    /// The connection lives on.
    fn unreadable(&mut self, frame: &Frame, batch: Option<u64>) {
        self.count_request();
        let violations = frame.violations();
        let unparsable = |rule| matches!(rule, Rule::NotJson | Rule::InvalidUtf8 | Rule::TooDeep);
        let worst = violations.iter().find(|found| unparsable(found.rule));
        let code = match worst {
            Some(_) => code::PARSE_ERROR,
            None => code::INVALID_REQUEST,
        };
        let message = worst.or(violations.first()).map(|found| found.message.clone());
        let error = ErrorObject::new(code, message.unwrap_or_else(|| "not a message".to_owned()));
        // What could not be read has no id that could be trusted.
        let id = frame.id().filter(|_| worst.is_none());
        self.deliver(Frame::error_of(id, self.null_id(), &error), batch, id);
    }

    /// Since 2026-07-28 a stream given up is its request given up
    /// (basic/patterns/cancellation); before, it is only a broken connection.
    fn stream_ended(&mut self, id: &Id) {
        // On a shared channel it is a question of ours that could not be sent.
        if self.link == LinkKind::Shared {
            if let Some(waiting) = self.asks.remove(id) {
                let outcome = Err(ErrorObject::internal("the client does not read any more"));
                self.events.push_back(Event::Answered { waiter: waiting.waiter, outcome });
            }
            return;
        }
        if self.in_flight.get(id).is_some_and(|job| job.revision.is_modern()) {
            self.cancel(id);
        }
    }

    fn request(&mut self, frame: Frame, batch: Option<u64>, envelope: Option<Envelope>) {
        self.count_request();
        let id = frame.id().cloned();
        let wrong = frame.violations().iter().find(|found| is_fatal(found.rule));
        let admitted = match (&id, wrong) {
            (_, Some(found)) => Err(ErrorObject::invalid_request(found.message.clone())),
            (Some(id), None) if self.in_flight.contains_key(id) => {
                Err(ErrorObject::invalid_request(format!("the id {id} is in use")))
            }
            (Some(_), None) => self.admit(&frame, batch.is_some(), envelope.as_ref()),
            (None, None) => Err(ErrorObject::invalid_request("a request has an id")),
        };
        match (admitted, id) {
            (Ok(admitted), Some(id)) => {
                let (key, revision) = (self.key(), admitted.revision);
                self.admitted += 1;
                let faults = Faults::none();
                let job =
                    Job { key, revision, frame: frame.clone(), batch, faults, listening: None };
                self.in_flight.insert(id.clone(), job);
                self.serve(key, id, frame, admitted, envelope);
            }
            (Ok(_), None) => {}
            (Err(error), id) => self.deliver(
                Frame::error_of(id.as_ref(), self.null_id(), &error),
                batch,
                id.as_ref(),
            ),
        }
    }

    fn count_request(&mut self) {
        self.received += 1;
        self.counters.request();
    }

    /// Serves what the protocol itself defines, and hands out the rest.
    fn serve(
        &mut self,
        key: u64,
        id: Id,
        frame: Frame,
        admitted: Admitted,
        envelope: Option<Envelope>,
    ) {
        let Admitted { revision, log_level, wants_progress } = admitted;
        let params = frame.params();
        let outcome = match frame.method().unwrap_or_default() {
            "initialize" => self.initialize(params),
            "server/discover" => Ok(self.discover()),
            "ping" => Ok(RawJson::empty_object()),
            "logging/setLevel" => self.set_level(params),
            "subscriptions/listen" => match self.listen(&id, params) {
                Ok(()) => return,
                Err(error) => Err(error),
            },
            _ => {
                let client = match revision.is_modern() {
                    true => None,
                    false => self.session.as_ref().map(|session| session.client.clone()),
                };
                return self.events.push_back(Event::Call(Call {
                    log_level,
                    wants_progress,
                    key,
                    id,
                    frame,
                    revision,
                    envelope,
                    client,
                }));
            }
        };
        self.finish(&id, key, outcome.map(Into::into));
    }

    fn set_level(&mut self, params: Option<Json<'_>>) -> Result<RawJson, ErrorObject> {
        let name = params.and_then(|params| params.get("level")).and_then(Json::as_str);
        let level = name.as_deref().and_then(LogLevel::from_name);
        let Some(level) = level else {
            let found = name.unwrap_or("nothing".into());
            return Err(ErrorObject::invalid_params(format!(
                "level: expected a log level, found {found}"
            )));
        };
        if let Some(session) = &mut self.session {
            session.log_level = Some(level);
            self.other_level = Some(level);
        }
        Ok(RawJson::empty_object())
    }

    fn notification(&mut self, frame: Frame) {
        self.counters.notification();
        let params = frame.params();
        match frame.method().unwrap_or_default() {
            "notifications/initialized" => {
                if let Some(session) = &mut self.session {
                    session.ready = true;
                }
            }
            "notifications/cancelled" => {
                let id = params.and_then(|params| params.get("requestId")).and_then(Id::read);
                if let Some(id) = id {
                    self.cancel(&id);
                }
            }
            _ => {}
        }
        self.events.push_back(Event::Notification(frame));
    }

    /// Stops a request; nothing more is said about it.
    fn cancel(&mut self, id: &Id) {
        let late = |job: &Job| job.faults.get().is_some_and(|fault| fault.late);
        if self.in_flight.get(id).is_some_and(late) {
            return;
        }
        let Some(job) = self.in_flight.remove(id) else { return };
        self.other_uris |= job.listening.is_some();
        if job.listening.is_none() {
            self.events.push_back(Event::Cancelled(job.key));
        }
        if let Some(batch) = job.batch {
            self.settle_batch(batch, None);
        }
        let asked = self.asks.iter().filter(|(_, waiting)| waiting.with == *id);
        let asked: Vec<Id> = asked.map(|(id, _)| id.clone()).collect();
        for ask in asked {
            self.withdraw(&ask, "the request it belongs to was cancelled");
        }
    }

    /// Takes a question back: the client need not answer it any more.
    fn withdraw(&mut self, ask: &Id, reason: &str) {
        let Some(waiting) = self.asks.remove(ask) else { return };
        let frame = notices::cancelled(ask, Some(reason));
        let stream = self.stream_of(&waiting.with);
        self.actions.push_back(Outgoing::on(stream, frame));
        let outcome = Err(ErrorObject::internal(reason));
        self.events.push_back(Event::Answered { waiter: waiting.waiter, outcome });
    }

    /// The client answers a question.
    fn answered(&mut self, frame: &Frame) {
        let waiting = frame.id().and_then(|id| self.asks.remove(id));
        let Some(waiting) = waiting else { return };
        let outcome = match (frame.result(), frame.error_object()) {
            (Some(_), Some(_)) => Err(ErrorObject::internal("the answer has result and error")),
            (Some(result), None) => Ok(RawJson::from(result)),
            (None, Some(error)) => Err(error),
            (None, None) => Err(ErrorObject::internal("the answer has neither result nor error")),
        };
        self.events.push_back(Event::Answered { waiter: waiting.waiter, outcome });
    }

    /// Several frames at once, where the session's revision has that
    /// (2025-03-26, basic#batching).
    fn batch(&mut self, frame: &Frame, envelope: Option<&Envelope>) {
        let frames: Vec<Frame> = frame.batch().collect();
        if frames.is_empty() || !self.revision().is_some_and(Revision::has_batches) {
            self.count_request();
            let message = if frames.is_empty() {
                "an empty batch"
            } else {
                "batches are not part of this revision"
            };
            return self.refuse(None, &ErrorObject::invalid_request(message));
        }
        let number = self.key();
        let wants_answer = |frame: &&Frame| match frame.kind() {
            FrameKind::Request | FrameKind::Batch => true,
            FrameKind::Other => frame.result().is_none() && frame.error().is_none(),
            _ => false,
        };
        let missing = frames.iter().filter(wants_answer).count();
        if missing > 0 {
            let first = frames.iter().filter(wants_answer).find_map(|frame| frame.id().cloned());
            self.batches.insert(number, Batch { missing, frames: Vec::new(), first });
        }
        for frame in frames {
            self.frame(frame, Some(number), envelope.cloned());
        }
    }

    /// Says that time has passed.
    pub fn tick(&mut self, now: Time) {
        let overdue: Vec<Id> = self
            .asks
            .iter()
            .filter(|(_, waiting)| waiting.deadline <= now)
            .map(|(id, _)| id.clone())
            .collect();
        for id in overdue {
            self.withdraw(&id, "the client did not answer in time");
        }
    }

    /// Nobody will answer what was asked.
    pub fn fail_asks(&mut self, why: &str) {
        for (_, waiting) in self.asks.drain() {
            let outcome = Err(ErrorObject::internal(why));
            self.events.push_back(Event::Answered { waiter: waiting.waiter, outcome });
        }
    }

    fn end(&mut self, cause: Cause) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.fail_asks(&format!("the client is gone: {cause}"));
        self.events.push_back(Event::Closed(cause));
    }
}

/// Whether a request with this breach is refused outright.
fn is_fatal(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::WrongJsonrpc
            | Rule::IdNull
            | Rule::IdFractional
            | Rule::IdWrongType
            | Rule::ParamsWrongType
            | Rule::RequestAndResponse
            | Rule::InvalidUtf8
            | Rule::DuplicateKey
    )
}

impl<A> Core<A> {
    /// Whether the session's revision spells out the id that is not there.
    pub(super) fn null_id(&self) -> bool {
        let newest = self.profile.revisions.iter().max().copied().unwrap_or(Revision::LATEST);
        !self.revision().unwrap_or(newest).error_without_id()
    }

    /// Which revision, if any, has this request from a client.
    pub(super) fn elsewhere(method: &str) -> bool {
        Revision::ALL.into_iter().any(|revision| revision.request(Side::Client, method).is_some())
    }
}

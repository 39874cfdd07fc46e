//! Handles incoming events: requests, responses of the client, notifications and
//! invalid messages.

use sparring_wire::types::LogLevel;
use sparring_wire::{ErrorObject, Frame, FrameKind, Id, Json, RawJson, Revision, Rule, Side, code};

use super::admission::Admission;
use super::{Batch, Core, Event, HandlerRequest, InFlightRequest, Time};
use crate::cancellation::cancelled_notification;
use crate::link::{Cause, Envelope, Faults, Incoming, LinkKind, Outgoing, Stream};

/// The maximum number of messages in a batch.
pub const MAX_BATCH_FRAMES: usize = 1_000;

impl<A> Core<A> {
    /// Handles an event of the link.
    pub fn receive(&mut self, incoming: Incoming) {
        match incoming {
            Incoming::Frame { frame, envelope, .. } => self.handle_frame(frame, None, envelope),
            Incoming::Noise { frame, .. } => self.reject_unreadable(&frame, None),
            Incoming::StreamEnded { stream: Stream::Request(id), .. } => {
                self.handle_stream_ended(&id)
            }
            Incoming::StreamEnded { stream: Stream::Connection, .. }
            | Incoming::MessagesLost(_)
            | Incoming::Restarted
            | Incoming::NotRestarted => {}
            Incoming::Closed(cause) => self.close_with(cause),
        }
    }

    fn handle_frame(&mut self, frame: Frame, batch: Option<u64>, envelope: Option<Envelope>) {
        match frame.kind() {
            FrameKind::Request => self.handle_request(frame, batch, envelope),
            FrameKind::Notification => self.handle_notification(frame),
            FrameKind::Result | FrameKind::Error => self.handle_client_response(&frame),
            FrameKind::Batch if batch.is_none() => self.handle_batch(&frame, envelope.as_ref()),
            // Responses are never answered, not even malformed ones.
            FrameKind::Other if frame.result().is_some() || frame.error().is_some() => {
                self.handle_client_response(&frame);
            }
            FrameKind::Batch | FrameKind::Other => self.reject_unreadable(&frame, batch),
        }
    }

    /// Answers an invalid message: with -32700 if it is not JSON, otherwise with
    /// -32600. The connection stays open.
    fn reject_unreadable(&mut self, frame: &Frame, batch: Option<u64>) {
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
        // The id of an unreadable message is not reliable.
        let id = frame.id().filter(|_| worst.is_none());
        self.send_response(Frame::error_response(id, self.null_id(), &error), batch, id);
    }

    /// Cancels the request of an aborted stream (since 2026-07-28,
    /// basic/patterns/cancellation). Before that, an aborted stream is only a
    /// broken connection.
    fn handle_stream_ended(&mut self, id: &Id) {
        // On a shared channel, a request to the client could not be sent.
        if self.link == LinkKind::Shared {
            if let Some(request) = self.outgoing_requests.remove(id) {
                let outcome = Err(ErrorObject::internal("the client stopped reading"));
                self.events.push_back(Event::ClientResponse { waiter: request.waiter, outcome });
            }
            return;
        }
        if self.in_flight.get(id).is_some_and(|request| request.revision.is_modern()) {
            self.cancel(id);
        }
    }

    fn handle_request(&mut self, frame: Frame, batch: Option<u64>, envelope: Option<Envelope>) {
        self.count_request();
        let id = frame.id().cloned();
        let fatal = frame.violations().iter().find(|found| is_fatal(found.rule));
        let admission = match (&id, fatal) {
            (_, Some(found)) => Err(ErrorObject::invalid_request(found.message.clone())),
            (Some(id), None) if self.in_flight.contains_key(id) => {
                Err(ErrorObject::invalid_request(format!("id {id} is already in use")))
            }
            (Some(_), None) => self.admit(&frame, batch.is_some(), envelope.as_ref()),
            (None, None) => Err(ErrorObject::invalid_request("the request has no id")),
        };
        match (admission, id) {
            (Ok(admission), Some(id)) => {
                let (key, revision) = (self.next_key(), admission.revision);
                self.admitted_count += 1;
                let faults = Faults::none();
                let request = InFlightRequest {
                    key,
                    revision,
                    frame: frame.clone(),
                    batch,
                    on_response: self.observer.received(&frame),
                    faults,
                    subscription: None,
                };
                self.in_flight.insert(id.clone(), request);
                self.dispatch_request(key, id, frame, admission, envelope);
            }
            (Ok(_), None) => {}
            (Err(error), id) => {
                let response = Frame::error_response(id.as_ref(), self.null_id(), &error);
                if let Some(on_response) = self.observer.received(&frame) {
                    on_response(&response);
                }
                self.send_response(response, batch, id.as_ref());
                self.report_refusal(id, frame, envelope, error);
            }
        }
    }

    /// Reports a request that was not admitted. Its revision is that of the session; without
    /// one, the newest of the server.
    fn report_refusal(
        &mut self,
        id: Option<Id>,
        frame: Frame,
        envelope: Option<Envelope>,
        error: ErrorObject,
    ) {
        let newest = self.profile.revisions.iter().max().copied();
        let Some((id, newest)) = id.zip(newest) else { return };
        let revision = self.revision().unwrap_or(newest);
        let admission =
            Admission { revision, log_level: None, wants_progress: false, in_batch: false };
        let key = self.next_key();
        let request = self.handler_request(key, id, frame, admission, envelope);
        self.events.push_back(Event::Answered(request, Err(error)));
    }

    fn count_request(&mut self) {
        self.received_count += 1;
        self.counters.count_request();
    }

    /// Answers the requests that the protocol defines, and passes the others to
    /// the handler.
    fn dispatch_request(
        &mut self,
        key: u64,
        id: Id,
        frame: Frame,
        admission: Admission,
        envelope: Option<Envelope>,
    ) {
        let params = frame.params();
        let outcome = match frame.method().unwrap_or_default() {
            "initialize" => self.handle_initialize(params),
            "server/discover" => Ok(self.discover_result()),
            "ping" => Ok(RawJson::empty_object()),
            "logging/setLevel" => self.set_log_level(params),
            "subscriptions/listen" => match self.open_subscription(&id, params) {
                Ok(()) => {
                    let request = self.handler_request(key, id, frame, admission, envelope);
                    // The answer follows when the subscription ends, and is always the same.
                    let answer = Ok(RawJson::empty_object());
                    return self.events.push_back(Event::Answered(request, answer));
                }
                Err(error) => Err(error),
            },
            _ => {
                let request = self.handler_request(key, id, frame, admission, envelope);
                return self.events.push_back(Event::Request(request));
            }
        };
        self.finish(&id, key, outcome.clone().map(Into::into));
        let request = self.handler_request(key, id, frame, admission, envelope);
        self.events.push_back(Event::Answered(request, outcome));
    }

    fn handler_request(
        &self,
        key: u64,
        id: Id,
        frame: Frame,
        admission: Admission,
        envelope: Option<Envelope>,
    ) -> HandlerRequest {
        let Admission { revision, log_level, wants_progress, in_batch } = admission;
        let client = match revision.is_modern() {
            true => None,
            false => self.session.as_ref().map(|session| session.client.clone()),
        };
        HandlerRequest {
            key,
            id,
            frame,
            is_in_batch: in_batch,
            revision,
            envelope,
            client,
            log_level,
            wants_progress,
        }
    }

    fn set_log_level(&mut self, params: Option<Json<'_>>) -> Result<RawJson, ErrorObject> {
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
            self.changed_log_level = Some(level);
        }
        Ok(RawJson::empty_object())
    }

    fn handle_notification(&mut self, frame: Frame) {
        self.counters.count_notification();
        let params = frame.params();
        match frame.method().unwrap_or_default() {
            "notifications/initialized" => {
                if let Some(session) = &mut self.session {
                    session.ready = true;
                }
            }
            "notifications/cancelled" => {
                let id = params.and_then(|params| params.get("requestId")).and_then(Id::from_json);
                if let Some(id) = id {
                    self.cancel(&id);
                }
            }
            _ => {}
        }
        self.events.push_back(Event::Notification(frame));
    }

    /// Stops a request. It gets no response.
    fn cancel(&mut self, id: &Id) {
        let late = |request: &InFlightRequest| {
            request.faults.get().is_some_and(|fault| fault.ignore_cancellation)
        };
        if self.in_flight.get(id).is_some_and(late) {
            return;
        }
        let Some(request) = self.in_flight.remove(id) else { return };
        self.uris_changed |= request.subscription.is_some();
        if request.subscription.is_none() {
            self.events.push_back(Event::Cancelled(request.key));
        }
        if let Some(batch) = request.batch {
            self.add_to_batch(batch, None);
        }
        let outgoing =
            self.outgoing_requests.iter().filter(|(_, request)| request.caused_by == *id);
        let outgoing: Vec<Id> = outgoing.map(|(id, _)| id.clone()).collect();
        for id in outgoing {
            self.cancel_outgoing_request(&id, "the request that caused it was cancelled");
        }
    }

    /// Cancels a request to the client.
    fn cancel_outgoing_request(&mut self, id: &Id, reason: &str) {
        let Some(request) = self.outgoing_requests.remove(id) else { return };
        let frame = cancelled_notification(id, Some(reason));
        let stream = self.stream_for(&request.caused_by);
        self.actions.push_back(Outgoing::send_on(stream, frame));
        let outcome = Err(ErrorObject::internal(reason));
        self.events.push_back(Event::ClientResponse { waiter: request.waiter, outcome });
    }

    /// Handles a response of the client.
    fn handle_client_response(&mut self, frame: &Frame) {
        let request = frame.id().and_then(|id| self.outgoing_requests.remove(id));
        let Some(request) = request else { return };
        let outcome = match (frame.result(), frame.error_object()) {
            (Some(_), Some(_)) => {
                Err(ErrorObject::internal("the response has both result and error"))
            }
            (Some(result), None) => Ok(RawJson::from(result)),
            (None, Some(error)) => Err(error),
            (None, None) => Err(ErrorObject::internal("the response has neither result nor error")),
        };
        self.events.push_back(Event::ClientResponse { waiter: request.waiter, outcome });
    }

    /// Handles a batch, if the session's revision has batches (2025-03-26,
    /// basic#batching).
    fn handle_batch(&mut self, frame: &Frame, envelope: Option<&Envelope>) {
        let frames: Vec<Frame> = frame.batch_items().take(MAX_BATCH_FRAMES + 1).collect();
        if frames.len() > MAX_BATCH_FRAMES {
            self.count_request();
            let message = format!("the batch has more than {MAX_BATCH_FRAMES} messages");
            return self.reject(None, &ErrorObject::invalid_request(message));
        }
        if frames.is_empty() || !self.revision().is_some_and(Revision::has_batches) {
            self.count_request();
            let message = if frames.is_empty() {
                "the batch is empty"
            } else {
                "this revision has no batches"
            };
            return self.reject(None, &ErrorObject::invalid_request(message));
        }
        let number = self.next_key();
        let expects_response = |frame: &&Frame| match frame.kind() {
            FrameKind::Request | FrameKind::Batch => true,
            FrameKind::Other => frame.result().is_none() && frame.error().is_none(),
            _ => false,
        };
        let pending = frames.iter().filter(expects_response).count();
        if pending > 0 {
            let first_id =
                frames.iter().filter(expects_response).find_map(|frame| frame.id().cloned());
            self.batches.insert(number, Batch { pending, frames: Vec::new(), first_id });
        }
        for frame in frames {
            self.handle_frame(frame, Some(number), envelope.cloned());
        }
    }

    /// Handles all deadlines up to `now`.
    pub fn tick(&mut self, now: Time) {
        let overdue: Vec<Id> = self
            .outgoing_requests
            .iter()
            .filter(|(_, request)| request.deadline <= now)
            .map(|(id, _)| id.clone())
            .collect();
        for id in overdue {
            self.cancel_outgoing_request(&id, "the client did not answer in time");
        }
    }

    /// Fails all pending requests to the client.
    pub fn fail_outgoing_requests(&mut self, reason: &str) {
        for (_, request) in self.outgoing_requests.drain() {
            let outcome = Err(ErrorObject::internal(reason));
            self.events.push_back(Event::ClientResponse { waiter: request.waiter, outcome });
        }
    }

    fn close_with(&mut self, cause: Cause) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.fail_outgoing_requests(&format!("the client disconnected: {cause}"));
        self.events.push_back(Event::Closed(cause));
    }
}

/// Returns true if a request with this violation is rejected.
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
    /// Returns true if the session's revision writes a missing id as `null`.
    pub(super) fn null_id(&self) -> bool {
        let newest = self.profile.revisions.iter().max().copied().unwrap_or(Revision::LATEST);
        !self.revision().unwrap_or(newest).omits_unknown_error_id()
    }

    /// Returns true if any revision has this request of a client.
    pub(super) fn exists_in_any_revision(method: &str) -> bool {
        Revision::ALL.into_iter().any(|revision| revision.request(Side::Client, method).is_some())
    }
}

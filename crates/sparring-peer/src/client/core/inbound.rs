//! Handles incoming events: responses, server requests, notifications and noise.

use sparring_wire::{Frame, FrameKind, Id, Json, RawJson, Rule};

use super::lifecycle::Phase;
use super::pending::{PendingRequest, Recipient};
use super::{Core, Event, ServerRequestId, Time, UnclaimedReason};
use crate::client::error::Error;
use crate::client::response::Response;
use crate::link::{Cause, Envelope, Incoming, LinkKind, Stream};

/// The path of the subscription id in a notification
/// (basic/patterns/subscriptions).
const SUBSCRIPTION_ID_PATH: [&str; 2] = ["_meta", "io.modelcontextprotocol/subscriptionId"];

impl<W> Core<W> {
    /// Handles an event of the link.
    pub fn receive(&mut self, now: Time, incoming: Incoming) {
        match incoming {
            Incoming::Frame { frame, stream, envelope } => {
                // A log line in JSON is a banner, not a frame.
                self.received_frame |= frame.kind() != FrameKind::Other;
                self.handle_frame(now, frame, &stream, envelope.as_ref());
            }
            Incoming::Noise { frame, stream } => self.handle_noise(now, frame, &stream),
            Incoming::StreamEnded { stream: Stream::Connection, cause }
            | Incoming::MessagesLost(cause) => {
                self.events.push_back(Event::BackgroundError(cause));
            }
            Incoming::StreamEnded { stream: Stream::Request(id), cause } => {
                self.handle_stream_ended(now, &id, cause);
            }
            Incoming::Restarted => self.handle_restarted(now),
            Incoming::NotRestarted => self.handle_not_restarted(),
            Incoming::Closed(cause) => self.close_with(&cause),
        }
    }

    fn handle_frame(
        &mut self,
        now: Time,
        frame: Frame,
        stream: &Stream,
        envelope: Option<&Envelope>,
    ) {
        match frame.kind() {
            FrameKind::Result | FrameKind::Error => {
                self.handle_response(now, frame, stream, envelope)
            }
            FrameKind::Notification => self.handle_notification(now, frame),
            FrameKind::Request => self.handle_server_request(now, &frame, stream),
            FrameKind::Batch => {
                let frames: Vec<Frame> = frame.batch_items().collect();
                for frame in frames {
                    match frame.kind() {
                        FrameKind::Batch => self.handle_noise(now, frame, stream),
                        _ => self.handle_frame(now, frame, stream, envelope),
                    }
                }
            }
            FrameKind::Other if frame.is_response_like() => {
                self.handle_response(now, frame, stream, envelope);
            }
            FrameKind::Other => self.handle_noise(now, frame, stream),
        }
    }

    fn handle_response(
        &mut self,
        now: Time,
        frame: Frame,
        stream: &Stream,
        envelope: Option<&Envelope>,
    ) {
        let id = match (frame.id(), stream) {
            (Some(id), _) => id.clone(),
            // An error without an id on a request's own stream belongs to that
            // request.
            (None, Stream::Request(id)) if frame.error().is_some() => id.clone(),
            (None, _) => return self.handle_response_without_id(now, frame, stream),
        };
        if let Some(pending) = self.pending.remove(&id) {
            return match is_invalid_response(&frame) {
                true => self.fail_invalid_response(now, id, pending, frame),
                false => self.complete_request(now, id, pending, frame, envelope.cloned()),
            };
        }
        let lookalike =
            self.pending.keys().find(|waiting| waiting.differs_only_in_type(&id)).cloned();
        if let Some(pending) = lookalike.as_ref().and_then(|id| self.pending.remove(id)) {
            let expected = lookalike.unwrap_or_else(|| id.clone());
            let request_id = expected.clone();
            // Nothing more is expected on its stream.
            self.abort_stream(&request_id);
            let error =
                Error::ForeignId { method: pending.method.to_string(), expected, found: id, frame };
            return self.fail_request(now, request_id, pending, error);
        }
        if let Some(index) = self.superseded.iter().position(|superseded| *superseded == id) {
            self.superseded.remove(index);
            return;
        }
        let reason = self.classify_unclaimed(&id);
        if reason == UnclaimedReason::Foreign {
            self.defer_failure(now, stream, |expected, method| Error::ForeignId {
                method: method.to_owned(),
                expected: expected.clone(),
                found: id.clone(),
                frame: frame.clone(),
            });
        }
        self.events.push_back(Event::Unclaimed { frame, reason });
    }

    /// Handles an error without an id. The server could not read something, which
    /// may have been any request in flight.
    fn handle_response_without_id(&mut self, now: Time, frame: Frame, stream: &Stream) {
        match frame.error_object() {
            Some(error) => self.defer_failure(now, stream, |_, method| Error::ErrorResponse {
                method: method.to_owned(),
                error: Box::new(error.clone()),
            }),
            None => return self.handle_noise(now, frame, stream),
        }
        self.events.push_back(Event::Unclaimed { frame, reason: UnclaimedReason::Foreign });
    }

    fn fail_invalid_response(
        &mut self,
        now: Time,
        id: Id,
        pending: PendingRequest<W>,
        frame: Frame,
    ) {
        self.abort_stream(&id);
        let error = Error::InvalidResponse {
            method: pending.method.to_string(),
            violations: frame.violations().to_vec(),
            frame,
        };
        self.fail_request(now, id, pending, error);
    }

    fn complete_request(
        &mut self,
        now: Time,
        id: Id,
        pending: PendingRequest<W>,
        frame: Frame,
        envelope: Option<Envelope>,
    ) {
        let pending = match pending.recipient {
            Recipient::Discover => return self.handle_discover_response(now, frame),
            Recipient::Initialize => return self.handle_initialize_response(now, frame),
            Recipient::ToolsPage { call, pages } => {
                return self.handle_tools_page(now, call, pages, Some(&frame));
            }
            Recipient::Caller(_) => pending,
        };
        let modern = self.session.as_ref().is_some_and(|session| session.revision.is_modern());
        if modern && !pending.raw && requires_input(&frame) {
            return self.start_input_round(now, id, pending, frame);
        }
        if modern && self.is_header_mismatch(&pending, &frame) {
            return self.list_tools_and_retry(now, id, pending, frame, envelope);
        }
        if pending.method == "tools/list"
            && let Some(result) = frame.result()
        {
            self.store_mirrored_arguments(result);
        }
        if let (Recipient::Caller(waiter), method) = pending.into_parts() {
            let outcome = Ok(Response::new(method, frame, envelope));
            self.events.push_back(Event::Completed { id, waiter, outcome });
        }
    }

    /// Handles noise. Before the first frame it is a banner; later it may be a
    /// broken response.
    fn handle_noise(&mut self, now: Time, frame: Frame, stream: &Stream) {
        let printed = self.link == LinkKind::Shared;
        // A request's own stream has no banner.
        if self.received_frame || *stream != Stream::Connection {
            self.defer_failure(now, stream, |_, method| Error::Noise {
                method: method.to_owned(),
                frame: frame.clone(),
                printed,
            });
        }
        if !self.received_frame {
            self.early_noise = Some(frame.clone());
        }
        self.events.push_back(Event::Unclaimed { frame, reason: UnclaimedReason::Noise });
    }

    fn handle_notification(&mut self, now: Time, frame: Frame) {
        let params = frame.params();
        let mut subscription = None;
        match frame.method().unwrap_or_default() {
            "notifications/progress" => {
                let id =
                    params.and_then(|params| params.get("progressToken")).and_then(Id::from_json);
                let pending = id.as_ref().and_then(|id| self.pending.get_mut(id));
                if let (Some(pending), Some(id)) = (pending, id)
                    && pending.progress
                {
                    pending.clear_deferred_failure();
                    self.events.push_back(Event::Progress { id, frame: frame.clone() });
                }
            }
            "notifications/cancelled" => {
                let id = params.and_then(|params| params.get("requestId")).and_then(Id::from_json);
                if let Some(id) = id {
                    self.handle_cancellation(now, &id, params);
                }
            }
            method => {
                let id = params
                    .and_then(|params| params.get_path(&SUBSCRIPTION_ID_PATH))
                    .and_then(Id::from_json);
                subscription = id.filter(|id| self.pending.contains_key(id));
                if method == "notifications/subscriptions/acknowledged"
                    && let Some(pending) =
                        subscription.as_ref().and_then(|id| self.pending.get_mut(id))
                {
                    pending.remove_deadline();
                }
            }
        }
        self.events.push_back(Event::Notification { frame, subscription });
    }

    /// Handles a cancellation: of a server request, or of a subscription.
    fn handle_cancellation(&mut self, now: Time, id: &Id, params: Option<Json<'_>>) {
        if self.finish_server_request(now, id) {
            self.events
                .push_back(Event::ServerRequestCancelled(ServerRequestId::Request(id.clone())));
        } else if self
            .pending
            .get(id)
            .is_some_and(|pending| pending.method == "subscriptions/listen")
            && let Some(pending) = self.pending.remove(id)
        {
            self.abort_stream(id);
            let reason = params.and_then(|params| params.get("reason")).and_then(Json::as_str);
            let cause =
                reason.map_or(Cause::EndOfInput, |reason| Cause::Broken(reason.into_owned()));
            let method = pending.method.to_string();
            self.fail_request(now, id.clone(), pending, Error::Closed { method, cause });
        }
    }

    fn handle_server_request(&mut self, now: Time, frame: &Frame, stream: &Stream) {
        let modern = self.session.as_ref().is_some_and(|session| session.revision.is_modern());
        // Since 2026-07-28 a server sends no requests and a client no responses
        // (basic/transports/stdio#sending-messages).
        let (Some(id), Some(method), false) = (frame.id(), frame.method(), modern) else { return };
        if matches!(self.phase, Phase::Closed(_)) {
            return;
        }
        if method == "ping" {
            return self.send(Frame::result_response(id, Json::EMPTY_OBJECT, &[]));
        }
        self.pause_for_server_request(now, id, stream);
        self.events.push_back(Event::ServerRequest {
            request: ServerRequestId::Request(id.clone()),
            method: method.to_owned(),
            params: frame.params().map(RawJson::from),
            caused_by: match stream {
                Stream::Request(id) => Some(id.clone()),
                Stream::Connection => None,
            },
        });
    }

    fn handle_stream_ended(&mut self, now: Time, id: &Id, cause: Cause) {
        // Its response has arrived and is held back.
        if self.pending.get(id).is_some_and(PendingRequest::is_listing_tools) {
            return;
        }
        if let Some(mut pending) = self.pending.remove(id) {
            let closed = Error::Closed { method: pending.method.to_string(), cause };
            // The frame that arrived instead of the response explains more.
            let error = pending.take_deferred_error().unwrap_or(closed);
            self.fail_request(now, id.clone(), pending, error);
        }
    }
}

/// Returns true if a response is unusable. Other violations are only recorded.
fn is_invalid_response(frame: &Frame) -> bool {
    frame.violations().iter().any(|violation| {
        matches!(
            violation.rule,
            Rule::NotJson
                | Rule::TooDeep
                | Rule::TooLarge
                | Rule::WrongJsonrpc
                | Rule::ResultAndError
                | Rule::EmptyMessage
        )
    })
}

fn requires_input(frame: &Frame) -> bool {
    let kind = frame.result().and_then(|result| result.get("resultType")).and_then(Json::as_str);
    kind.as_deref() == Some("input_required")
}

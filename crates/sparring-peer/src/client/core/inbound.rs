//! Sorts what comes in: whose answer it is, what it asks, or that it is
//! nobody's.

use sparring_wire::{Frame, FrameKind, Id, Json, RawJson, Rule};

use super::lifecycle::Phase;
use super::pending::{Owner, Pending};
use super::{Ask, Core, Event, Time, Unclaimed};
use crate::client::error::Error;
use crate::client::response::Response;
use crate::link::{Cause, Envelope, Incoming, Stream};

/// Where a notification names its subscription (basic/patterns/subscriptions).
const SUBSCRIPTION: [&str; 2] = ["_meta", "io.modelcontextprotocol/subscriptionId"];

impl<W> Core<W> {
    /// Takes in what the link gave.
    pub fn receive(&mut self, now: Time, incoming: Incoming) {
        match incoming {
            Incoming::Frame { frame, stream, envelope } => {
                // A log line in JSON is a banner like any other.
                self.heard |= frame.kind() != FrameKind::Other;
                self.frame(now, frame, &stream, envelope.as_ref());
            }
            Incoming::Noise { frame, stream } => self.noise(now, frame, &stream),
            Incoming::StreamEnded { stream: Stream::Standing, cause } | Incoming::Missed(cause) => {
                self.events.push_back(Event::Mishap(cause));
            }
            Incoming::StreamEnded { stream: Stream::Request(id), cause } => {
                self.stream_ended(now, &id, cause);
            }
            Incoming::Closed(cause) => self.end(&cause),
        }
    }

    fn frame(&mut self, now: Time, frame: Frame, stream: &Stream, envelope: Option<&Envelope>) {
        match frame.kind() {
            FrameKind::Result | FrameKind::Error => self.reply(now, frame, stream, envelope),
            FrameKind::Notification => self.notification(now, frame),
            FrameKind::Request => self.server_request(now, &frame, stream),
            FrameKind::Batch => {
                let frames: Vec<Frame> = frame.batch().collect();
                for frame in frames {
                    match frame.kind() {
                        FrameKind::Batch => self.noise(now, frame, stream),
                        _ => self.frame(now, frame, stream, envelope),
                    }
                }
            }
            FrameKind::Other if frame.is_response_like() => {
                self.reply(now, frame, stream, envelope);
            }
            FrameKind::Other => self.noise(now, frame, stream),
        }
    }

    fn reply(&mut self, now: Time, frame: Frame, stream: &Stream, envelope: Option<&Envelope>) {
        let id = match (frame.id(), stream) {
            (Some(id), _) => id.clone(),
            // An error without an id on a request's own stream is about that one.
            (None, Stream::Request(id)) if frame.error().is_some() => id.clone(),
            (None, _) => return self.reply_without_id(now, frame, stream),
        };
        if let Some(pending) = self.pending.remove(&id) {
            return match is_wrong(&frame) {
                true => self.wrong_answer(now, id, pending, frame),
                false => self.settle(now, id, pending, frame, envelope.cloned()),
            };
        }
        let twin = self.pending.keys().find(|waiting| waiting.differs_only_in_type(&id)).cloned();
        if let Some(pending) = twin.as_ref().and_then(|twin| self.pending.remove(twin)) {
            let expected = twin.unwrap_or_else(|| id.clone());
            let settled = expected.clone();
            // Nothing that its stream would still bring is wanted.
            self.abort(&settled);
            let error =
                Error::ForeignId { method: pending.method.to_string(), expected, found: id, frame };
            return self.fail(now, settled, pending, error);
        }
        if let Some(index) = self.outrun.iter().position(|outrun| *outrun == id) {
            self.outrun.remove(index);
            return;
        }
        let why = self.unclaimed(&id);
        if why == Unclaimed::Foreign {
            self.suspect(now, stream, |expected, method| Error::ForeignId {
                method: method.to_owned(),
                expected: expected.clone(),
                found: id.clone(),
                frame: frame.clone(),
            });
        }
        self.events.push_back(Event::Unclaimed { frame, why });
    }

    /// An error without an id tells that the server could not read something;
    /// it may have been any request in flight.
    fn reply_without_id(&mut self, now: Time, frame: Frame, stream: &Stream) {
        match frame.error_object() {
            Some(error) => self.suspect(now, stream, |_, method| Error::Refused {
                method: method.to_owned(),
                error: Box::new(error.clone()),
            }),
            None => return self.noise(now, frame, stream),
        }
        self.events.push_back(Event::Unclaimed { frame, why: Unclaimed::Foreign });
    }

    fn wrong_answer(&mut self, now: Time, id: Id, pending: Pending<W>, frame: Frame) {
        self.abort(&id);
        let error = Error::WrongAnswer {
            method: pending.method.to_string(),
            violations: frame.violations().to_vec(),
            frame,
        };
        self.fail(now, id, pending, error);
    }

    fn settle(
        &mut self,
        now: Time,
        id: Id,
        pending: Pending<W>,
        frame: Frame,
        envelope: Option<Envelope>,
    ) {
        let pending = match pending.owner {
            Owner::Discover => return self.discovered(now, frame),
            Owner::Initialize => return self.initialized(now, frame),
            Owner::Relist { call, pages } => {
                return self.relisted(now, call, pages, Some(&frame));
            }
            Owner::Caller(_) => pending,
        };
        let modern = self.session.as_ref().is_some_and(|session| session.revision.is_modern());
        if modern && !pending.raw && wants_input(&frame) {
            return self.gather(now, id, pending, frame);
        }
        if modern && self.lacks_headers(&pending, &frame) {
            return self.relist(now, id, pending, frame, envelope);
        }
        if pending.method == "tools/list"
            && let Some(result) = frame.result()
        {
            self.learn_tools(result);
        }
        if let (Owner::Caller(waiter), method) = pending.into_parts() {
            let outcome = Ok(Response::new(method, frame, envelope));
            self.events.push_back(Event::Settled { id, waiter, outcome });
        }
    }

    /// Noise before the first frame is a banner; later it may have been meant
    /// as an answer.
    fn noise(&mut self, now: Time, frame: Frame, stream: &Stream) {
        // On a request's own stream there is no banner.
        if self.heard || *stream != Stream::Standing {
            self.suspect(now, stream, |_, method| Error::Noise {
                method: method.to_owned(),
                frame: frame.clone(),
            });
        }
        if !self.heard {
            self.noise_before = Some(frame.clone());
        }
        self.events.push_back(Event::Unclaimed { frame, why: Unclaimed::Noise });
    }

    fn notification(&mut self, now: Time, frame: Frame) {
        let params = frame.params();
        let mut subscription = None;
        match frame.method().unwrap_or_default() {
            "notifications/progress" => {
                let id = params.and_then(|params| params.get("progressToken")).and_then(Id::read);
                let pending = id.as_ref().and_then(|id| self.pending.get_mut(id));
                if let (Some(pending), Some(id)) = (pending, id)
                    && pending.progress
                {
                    pending.absolve();
                    self.events.push_back(Event::Progress { id, frame: frame.clone() });
                }
            }
            "notifications/cancelled" => {
                let id = params.and_then(|params| params.get("requestId")).and_then(Id::read);
                if let Some(id) = id {
                    self.cancelled_by_server(now, &id, params);
                }
            }
            method => {
                let id = params.and_then(|params| params.at(&SUBSCRIPTION)).and_then(Id::read);
                subscription = id.filter(|id| self.pending.contains_key(id));
                if method == "notifications/subscriptions/acknowledged"
                    && let Some(pending) =
                        subscription.as_ref().and_then(|id| self.pending.get_mut(id))
                {
                    pending.wait_for_ever();
                }
            }
        }
        self.events.push_back(Event::Notification { frame, subscription });
    }

    /// The server takes a question back, or ends a subscription.
    fn cancelled_by_server(&mut self, now: Time, id: &Id, params: Option<Json<'_>>) {
        if self.let_go_on(now, id) {
            self.events.push_back(Event::Withdrawn(Ask::Request(id.clone())));
        } else if self
            .pending
            .get(id)
            .is_some_and(|pending| pending.method == "subscriptions/listen")
            && let Some(pending) = self.pending.remove(id)
        {
            self.abort(id);
            let reason = params.and_then(|params| params.get("reason")).and_then(Json::as_str);
            let cause =
                reason.map_or(Cause::EndOfInput, |reason| Cause::Broken(reason.into_owned()));
            let method = pending.method.to_string();
            self.fail(now, id.clone(), pending, Error::Closed { method, cause });
        }
    }

    fn server_request(&mut self, now: Time, frame: &Frame, stream: &Stream) {
        let modern = self.session.as_ref().is_some_and(|session| session.revision.is_modern());
        // Since 2026-07-28 a server sends no requests and a client no responses
        // (basic/transports/stdio#sending-messages).
        let (Some(id), Some(method), false) = (frame.id(), frame.method(), modern) else { return };
        if matches!(self.phase, Phase::Closed(_)) {
            return;
        }
        if method == "ping" {
            return self.send(Frame::result_of(id, Json::EMPTY_OBJECT, &[]));
        }
        self.hold_for(now, id, stream);
        self.events.push_back(Event::Asked {
            ask: Ask::Request(id.clone()),
            method: method.to_owned(),
            params: frame.params().map(RawJson::from),
            with: match stream {
                Stream::Request(id) => Some(id.clone()),
                Stream::Standing => None,
            },
        });
    }

    fn stream_ended(&mut self, now: Time, id: &Id, cause: Cause) {
        // Its answer came, and is being held back.
        if self.pending.get(id).is_some_and(Pending::is_held_back) {
            return;
        }
        if let Some(mut pending) = self.pending.remove(id) {
            let closed = Error::Closed { method: pending.method.to_string(), cause };
            // What came instead of the answer says more than that none came.
            let error = pending.suspicion().unwrap_or(closed);
            self.fail(now, id.clone(), pending, error);
        }
    }
}

/// Whether a frame that should be an answer is none: these breaches leave no
/// answer to read. Others are only noted.
fn is_wrong(frame: &Frame) -> bool {
    frame.violations().iter().any(|violation| {
        matches!(
            violation.rule,
            Rule::NotJson
                | Rule::TooDeep
                | Rule::TooLarge
                | Rule::WrongJsonrpc
                | Rule::ResultAndError
                | Rule::NothingInside
        )
    })
}

fn wants_input(frame: &Frame) -> bool {
    let kind = frame.result().and_then(|result| result.get("resultType")).and_then(Json::as_str);
    kind.as_deref() == Some("input_required")
}

//! What goes out: answers, with what the revision wants in them, and what a
//! handler says while it serves.

use serde_json::json;
use sparring_wire::types::LogLevel;
use sparring_wire::{ErrorObject, Frame, Headers, Id, Json, RawJson, Side};

use super::{Core, Event, Job, Profile, Time, Waiting};
use crate::link::{Faults, LinkKind, Outgoing, Stream};
use crate::server::handler::Reply;

const RESULT_TYPE: &str = "resultType";
const META: &str = "_meta";
const TTL: &str = "ttlMs";
const SCOPE: &str = "cacheScope";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

impl<A> Core<A> {
    /// Answers a call. One that is not in flight any more, being cancelled, is
    /// not answered.
    pub fn finish(&mut self, id: &Id, key: u64, outcome: Result<Reply, ErrorObject>) {
        if self.in_flight.get(id).is_none_or(|job| job.key != key) {
            return;
        }
        let Some(job) = self.in_flight.remove(id) else { return };
        self.other_uris |= job.listening.is_some();
        let frame = match outcome {
            Ok(result) => {
                self.remember(&job);
                match job.revision.is_modern() {
                    true => self.complete(id, &job, result.json()),
                    false => Frame::result_of(id, result.json(), &[]),
                }
            }
            Err(error) => Frame::error_of(Some(id), false, &error),
        };
        match job.batch {
            None => self.deliver_with(frame, Some(id), job.faults),
            batch => self.deliver(frame, batch, Some(id)),
        }
    }

    /// Lets something go wrong with the answer to a request in flight.
    pub fn fail_with(&mut self, id: &Id, faults: Faults) {
        if let Some(job) = self.in_flight.get_mut(id) {
            job.faults = faults;
        }
    }

    /// Adds what every result must have since 2026-07-28 (basic#responses,
    /// server/utilities/caching), where the handler has not said it.
    fn complete(&self, id: &Id, job: &Job, result: Json<'_>) -> Frame {
        let added = &self.added;
        let (mut kind, mut meta, mut ttl, mut scope) = (None, None, None, None);
        for (key, value) in result.members() {
            let known =
                [(RESULT_TYPE, &mut kind), (META, &mut meta), (TTL, &mut ttl), (SCOPE, &mut scope)];
            if let Some((_, place)) = known.into_iter().find(|(name, _)| key.is(name)) {
                *place = Some(value);
            }
        }
        if let Some(own) = meta.filter(|own| own.is_object() && own.get(SERVER_INFO).is_none()) {
            let info = [(SERVER_INFO, added.server_info.view())];
            let own = RawJson::from(own).with_more(info.into_iter());
            return self.complete(
                id,
                job,
                RawJson::from(result).with_member(META, own.view()).view(),
            );
        }
        let interim = kind.is_some_and(|kind| kind != added.complete.view());
        let rule = job.revision.request(Side::Client, job.frame.method().unwrap_or_default());
        let cacheable = !interim && rule.is_some_and(|rule| rule.cacheable);
        let all = [
            (RESULT_TYPE, kind, &added.complete),
            (META, meta, &added.meta),
            (TTL, ttl, &added.ttl),
            (SCOPE, scope, &added.scope),
        ];
        let wanted = if cacheable { &all[..] } else { &all[..2] };
        let (mut lacked, mut count) = ([("", Json::EMPTY_OBJECT); 4], 0);
        for (name, _, value) in wanted.iter().filter(|(_, said, _)| said.is_none()) {
            lacked[count] = (name, value.view());
            count += 1;
        }
        Frame::result_of(id, result, &lacked[..count])
    }

    /// A subscription to a resource counts, or not any more, once that is agreed
    /// to.
    fn remember(&mut self, job: &Job) {
        let subscribe = match job.frame.method() {
            Some("resources/subscribe") => true,
            Some("resources/unsubscribe") => false,
            _ => return,
        };
        let uri = job.frame.params().and_then(|params| params.get("uri")).and_then(Json::as_str);
        if let (Some(session), Some(uri)) = (&mut self.session, uri) {
            self.other_uris = true;
            match subscribe {
                true => session.subscribed.insert(uri.into_owned()),
                false => session.subscribed.remove(&*uri),
            };
        }
    }

    /// Answers what could not become a request.
    pub(super) fn refuse(&mut self, id: Option<&Id>, error: &ErrorObject) {
        self.deliver(Frame::error_of(id, self.null_id(), error), None, id);
    }

    /// Sends a response, alone or with the rest of its batch.
    pub(super) fn deliver(&mut self, frame: Frame, batch: Option<u64>, id: Option<&Id>) {
        self.counters.response(frame.error().is_some());
        match batch {
            Some(batch) => self.settle_batch(batch, Some(frame)),
            None => self.push(frame, id, Faults::none()),
        }
    }

    /// Sends a response with which something may go wrong.
    fn deliver_with(&mut self, frame: Frame, id: Option<&Id>, faults: Faults) {
        self.counters.response(frame.error().is_some());
        self.push(frame, id, faults);
    }

    fn push(&mut self, frame: Frame, id: Option<&Id>, faults: Faults) {
        let stream = id.map_or(Stream::Standing, |id| self.stream_of(id));
        self.actions.push_back(Outgoing::Send { frame, stream, headers: Headers::new(), faults });
    }

    pub(super) fn settle_batch(&mut self, number: u64, frame: Option<Frame>) {
        let Some(batch) = self.batches.get_mut(&number) else { return };
        batch.missing = batch.missing.saturating_sub(1);
        batch.frames.extend(frame);
        if batch.missing == 0
            && let Some(batch) = self.batches.remove(&number)
            && !batch.frames.is_empty()
        {
            let stream = batch.first.map_or(Stream::Standing, |id| self.stream_of(&id));
            self.actions.push_back(Outgoing::on(stream, Frame::batch_of(&batch.frames)));
        }
    }

    /// Sends a notification that belongs to a request in flight; afterwards it
    /// would come too late.
    pub fn notify_with(&mut self, id: &Id, method: &str, params: Option<&RawJson>) {
        if self.in_flight.contains_key(id) {
            let frame = Frame::notification(method, params);
            self.actions.push_back(Outgoing::on(self.stream_of(id), frame));
        }
    }

    /// Ends the connection that carries a request in flight, where its client
    /// can come back for the rest.
    pub fn break_off(&mut self, id: &Id) {
        let job = self.in_flight.get(id);
        if self.link == LinkKind::Streams && job.is_some_and(|it| it.revision.has_primed_streams())
        {
            self.actions.push_back(Outgoing::Abort(Stream::Request(id.clone())));
        }
    }

    /// Sends a log message with a request in flight, if the client asked for
    /// messages of that level: in its session, or since 2026-07-28 in the
    /// request itself (server/utilities/logging).
    pub fn log_with(&mut self, id: &Id, level: LogLevel, params: &RawJson) {
        let Some(job) = self.in_flight.get(id) else { return };
        let wanted = if job.revision.is_modern() {
            let path = ["_meta", "io.modelcontextprotocol/logLevel"];
            let name =
                job.frame.params().and_then(|params| params.at(&path)).and_then(Json::as_str);
            name.and_then(|name| LogLevel::from_name(&name)).is_some_and(|least| level >= least)
        } else {
            let least = self.session.as_ref().and_then(|session| session.log_level);
            least.is_none_or(|least| level >= least)
        };
        if wanted && self.profile.capabilities.has("logging") {
            self.notify_with(id, "notifications/message", Some(params));
        }
    }

    /// Asks the client, along with a request in flight.
    pub fn ask(&mut self, deadline: Time, with: &Id, method: &str, params: &RawJson, waiter: A) {
        if !self.in_flight.contains_key(with) || self.closed {
            let outcome = Err(ErrorObject::internal("nobody is there to be asked"));
            return self.events.push_back(Event::Answered { waiter, outcome });
        }
        let id = self.ids.generate();
        let frame = Frame::request(&id, method, Some(params));
        self.actions.push_back(Outgoing::on(self.stream_of(with), frame));
        self.asks.insert(id, Waiting { waiter, with: with.clone(), deadline });
    }

    pub(super) fn stream_of(&self, id: &Id) -> Stream {
        match self.link {
            LinkKind::Shared => Stream::Standing,
            LinkKind::Streams => Stream::Request(id.clone()),
        }
    }
}

/// What results are completed with, spelled once for a connection.
#[derive(Debug)]
pub(in crate::server) struct Added {
    complete: RawJson,
    server_info: RawJson,
    meta: RawJson,
    ttl: RawJson,
    scope: RawJson,
}

impl Added {
    pub(in crate::server) fn new(profile: &Profile) -> Self {
        let server_info = json!(profile.info);
        Added {
            complete: json!("complete").into(),
            meta: json!({SERVER_INFO: server_info}).into(),
            server_info: server_info.into(),
            ttl: json!(0).into(),
            scope: json!("private").into(),
        }
    }
}

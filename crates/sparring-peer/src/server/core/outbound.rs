//! Sends responses, completed as the revision requires, and the messages of
//! handlers.

use serde_json::json;
use sparring_wire::types::LogLevel;
use sparring_wire::{ErrorObject, Frame, Headers, Id, Json, RawJson, Side};

use super::{Core, Event, InFlightRequest, OutgoingRequest, Profile, Time};
use crate::link::{Faults, LinkKind, Outgoing, Stream};
use crate::server::handler::Reply;

const RESULT_TYPE: &str = "resultType";
const META: &str = "_meta";
const TTL_MS: &str = "ttlMs";
const CACHE_SCOPE: &str = "cacheScope";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

impl<A> Core<A> {
    /// Answers a request. A request that was cancelled gets no response.
    pub fn finish(&mut self, id: &Id, key: u64, outcome: Result<Reply, ErrorObject>) {
        if self.in_flight.get(id).is_none_or(|request| request.key != key) {
            return;
        }
        let Some(request) = self.in_flight.remove(id) else { return };
        self.uris_changed |= request.subscription.is_some();
        let frame = match outcome {
            Ok(result) => {
                self.update_subscriptions(&request);
                if let (Some(session), Some(method)) = (&mut self.session, request.frame.method()) {
                    session.seen_lists.record(method, result.json());
                }
                match request.revision.is_modern() {
                    true => self.complete_result(id, &request, result.json()),
                    false => Frame::result_response(id, result.json(), &[]),
                }
            }
            Err(error) => Frame::error_response(Some(id), false, &error),
        };
        if let Some(on_response) = request.on_response {
            on_response(&frame);
        }
        match request.batch {
            None => self.send_response_with_faults(frame, Some(id), request.faults),
            batch => self.send_response(frame, batch, Some(id)),
        }
    }

    /// Sets the faults of the response to a request in flight.
    pub fn set_faults(&mut self, id: &Id, faults: Faults) {
        if let Some(request) = self.in_flight.get_mut(id) {
            request.faults = faults;
        }
    }

    /// Adds the members that every result must have since 2026-07-28
    /// (basic#responses, server/utilities/caching), unless the handler has set
    /// them.
    fn complete_result(&self, id: &Id, request: &InFlightRequest, result: Json<'_>) -> Frame {
        let defaults = &self.result_defaults;
        let (mut kind, mut meta, mut ttl, mut scope) = (None, None, None, None);
        for (key, value) in result.members() {
            let known = [
                (RESULT_TYPE, &mut kind),
                (META, &mut meta),
                (TTL_MS, &mut ttl),
                (CACHE_SCOPE, &mut scope),
            ];
            if let Some((_, slot)) = known.into_iter().find(|(name, _)| key.is(name)) {
                *slot = Some(value);
            }
        }
        if let Some(own) = meta.filter(|own| own.is_object() && own.get(SERVER_INFO).is_none()) {
            let info = [(SERVER_INFO, defaults.server_info.view())];
            let own = RawJson::from(own).with_members(info.into_iter());
            return self.complete_result(
                id,
                request,
                RawJson::from(result).with_member(META, own.view()).view(),
            );
        }
        let interim = kind.is_some_and(|kind| kind != defaults.complete.view());
        let rule =
            request.revision.request(Side::Client, request.frame.method().unwrap_or_default());
        let cacheable = !interim && rule.is_some_and(|rule| rule.cacheable);
        let all = [
            (RESULT_TYPE, kind, &defaults.complete),
            (META, meta, &defaults.meta),
            (TTL_MS, ttl, &defaults.ttl),
            (CACHE_SCOPE, scope, &defaults.scope),
        ];
        let wanted = if cacheable { &all[..] } else { &all[..2] };
        let (mut missing, mut count) = ([("", Json::EMPTY_OBJECT); 4], 0);
        for (name, _, value) in wanted.iter().filter(|(_, given, _)| given.is_none()) {
            missing[count] = (name, value.view());
            count += 1;
        }
        Frame::result_response(id, result, &missing[..count])
    }

    /// Stores or removes a subscription to a resource once the handler has
    /// accepted it.
    fn update_subscriptions(&mut self, request: &InFlightRequest) {
        let subscribe = match request.frame.method() {
            Some("resources/subscribe") => true,
            Some("resources/unsubscribe") => false,
            _ => return,
        };
        let uri =
            request.frame.params().and_then(|params| params.get("uri")).and_then(Json::as_str);
        if let (Some(session), Some(uri)) = (&mut self.session, uri) {
            self.uris_changed = true;
            match subscribe {
                true => session.subscribed.insert(uri.into_owned()),
                false => session.subscribed.remove(&*uri),
            };
        }
    }

    /// Answers a message that is not a valid request.
    pub(super) fn reject(&mut self, id: Option<&Id>, error: &ErrorObject) {
        self.send_response(Frame::error_response(id, self.null_id(), error), None, id);
    }

    /// Sends a response, alone or with the rest of its batch.
    pub(super) fn send_response(&mut self, frame: Frame, batch: Option<u64>, id: Option<&Id>) {
        self.counters.count_response(frame.error().is_some());
        match batch {
            Some(batch) => self.add_to_batch(batch, Some(frame)),
            None => self.queue_response(frame, id, Faults::none()),
        }
    }

    /// Sends a response with faults.
    fn send_response_with_faults(&mut self, frame: Frame, id: Option<&Id>, faults: Faults) {
        self.counters.count_response(frame.error().is_some());
        self.queue_response(frame, id, faults);
    }

    fn queue_response(&mut self, frame: Frame, id: Option<&Id>, faults: Faults) {
        let stream = id.map_or(Stream::Connection, |id| self.stream_for(id));
        self.actions.push_back(Outgoing::Send { frame, stream, headers: Headers::new(), faults });
    }

    pub(super) fn add_to_batch(&mut self, number: u64, frame: Option<Frame>) {
        let Some(batch) = self.batches.get_mut(&number) else { return };
        batch.pending = batch.pending.saturating_sub(1);
        batch.frames.extend(frame);
        if batch.pending == 0
            && let Some(batch) = self.batches.remove(&number)
            && !batch.frames.is_empty()
        {
            let stream = batch.first_id.map_or(Stream::Connection, |id| self.stream_for(&id));
            self.actions.push_back(Outgoing::send_on(stream, Frame::from_batch(&batch.frames)));
        }
    }

    /// Sends a notification that belongs to a request, while it is in flight.
    pub fn notify_for_request(&mut self, id: &Id, method: &str, params: Option<&RawJson>) {
        if self.in_flight.contains_key(id) {
            let frame = Frame::notification(method, params);
            self.actions.push_back(Outgoing::send_on(self.stream_for(id), frame));
        }
    }

    /// Closes the HTTP connection of a request in flight, if its client can
    /// reconnect for the rest.
    pub fn close_stream(&mut self, id: &Id) {
        let request = self.in_flight.get(id);
        if self.link == LinkKind::Streams
            && request.is_some_and(|it| it.revision.starts_streams_with_id_event())
        {
            self.actions.push_back(Outgoing::Abort(Stream::Request(id.clone())));
        }
    }

    /// Sends a log message that belongs to a request in flight, if the client
    /// wants messages of that level: as set in its session, or since 2026-07-28
    /// in the request (server/utilities/logging).
    pub fn log_for_request(&mut self, id: &Id, level: LogLevel, params: &RawJson) {
        let Some(request) = self.in_flight.get(id) else { return };
        let wanted = if request.revision.is_modern() {
            let path = ["_meta", "io.modelcontextprotocol/logLevel"];
            let name = request
                .frame
                .params()
                .and_then(|params| params.get_path(&path))
                .and_then(Json::as_str);
            name.and_then(|name| LogLevel::from_name(&name)).is_some_and(|lowest| level >= lowest)
        } else {
            let lowest = self.session.as_ref().and_then(|session| session.log_level);
            lowest.is_none_or(|lowest| level >= lowest)
        };
        if wanted && self.profile.capabilities.has("logging") {
            self.notify_for_request(id, "notifications/message", Some(params));
        }
    }

    /// Sends a request to the client that belongs to a request in flight.
    pub fn ask(
        &mut self,
        deadline: Time,
        caused_by: &Id,
        method: &str,
        params: &RawJson,
        waiter: A,
    ) {
        if !self.in_flight.contains_key(caused_by) || self.closed {
            let outcome = Err(ErrorObject::internal(
                "cannot ask the client: the request or the connection has ended",
            ));
            return self.events.push_back(Event::ClientResponse { waiter, outcome });
        }
        let id = self.ids.next_id();
        let frame = Frame::request(&id, method, Some(params));
        self.actions.push_back(Outgoing::send_on(self.stream_for(caused_by), frame));
        self.outgoing_requests
            .insert(id, OutgoingRequest { waiter, caused_by: caused_by.clone(), deadline });
    }

    pub(super) fn stream_for(&self, id: &Id) -> Stream {
        match self.link {
            LinkKind::Shared => Stream::Connection,
            LinkKind::Streams => Stream::Request(id.clone()),
        }
    }
}

/// The members that complete results, serialized once for all connections.
#[derive(Debug)]
pub(in crate::server) struct ResultDefaults {
    complete: RawJson,
    server_info: RawJson,
    meta: RawJson,
    ttl: RawJson,
    scope: RawJson,
}

impl ResultDefaults {
    pub(in crate::server) fn new(profile: &Profile) -> Self {
        let server_info = json!(profile.info);
        ResultDefaults {
            complete: json!("complete").into(),
            meta: json!({SERVER_INFO: server_info}).into(),
            server_info: server_info.into(),
            ttl: json!(0).into(),
            scope: json!("private").into(),
        }
    }
}

//! Checks all frames of one connection in order: responses without a request,
//! messages at the wrong time, undeclared features.
//!
//! It reports nothing that is uncertain. Before the revision is known, it reports only
//! violations that every revision has.

mod capabilities;
mod http;
mod notifications;
mod questions;
mod request_tracker;
mod responses;
mod results;
mod sensitive;
mod tasks;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

pub use self::http::HttpObservation;
use self::request_tracker::{
    FinishedState, LogLevel, PendingRequest, RequestTracker, Subscription,
};
use self::tasks::TaskTracker;
use super::checker::{Checker, RequestContext, rebase_path};
use crate::frame::{Frame, FrameKind};
use crate::id::Id;
use crate::json::{Json, RawJson};
use crate::revision::{Revision, Side};
use crate::rule::Rule;
use crate::violation::{self, Violation};

/// Keys of the metadata of modern messages.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";
const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// The maximum length of an id, name or cursor that is remembered. Checks leave out longer ones.
const MAX_KEPT_BYTES: usize = 1024;

/// The maximum number of subscriptions, and of responses of the client, that are remembered.
const MAX_SUBSCRIPTIONS: usize = 1024;

/// The maximum number of malformed requests that are remembered.
const MAX_MALFORMED: usize = 256;

/// Checks the frames of one connection, in the order in which they were sent.
#[derive(Debug, Default)]
pub struct ConnectionChecker {
    /// The result of the last handshake.
    session: Option<Session>,
    /// True if `initialize` has no response yet.
    is_initializing: bool,
    /// The revision in the metadata of the client's requests.
    modern: Option<Revision>,
    /// True if the server has answered as only a modern server does.
    server_is_modern: bool,
    /// The capabilities that a modern server declares.
    discovered_capabilities: Option<RawJson>,
    client_requests: RequestTracker,
    server_requests: RequestTracker,
    /// The level of log messages that the client has set, and the number of the next
    /// request at that time.
    log_level: Option<(LogLevel, u64)>,
    tasks: TaskTracker,
    /// The ids of the server's elicitations with a URL.
    elicitations: HashSet<String>,
    /// The resources that a legacy client has subscribed to, each with the number of the next
    /// request when the subscription had ended.
    subscribed: HashMap<Box<str>, Option<u64>>,
    /// The ids of all `subscriptions/listen` requests.
    listens: HashSet<Id>,
    /// The client's responses, each with the number of the client's next request.
    client_answers: HashMap<Id, u64>,
    /// The `cacheScope` of the page before each cursor of a method.
    page_scopes: HashMap<(&'static str, Box<str>), Box<str>>,
    /// The ids of the events over HTTP.
    event_ids: HashSet<String>,
    /// True if the client has sent a frame whose id the server perhaps could not read, and
    /// which cannot be answered by its id.
    client_frame_was_malformed: bool,
    /// The ids of the client's malformed requests that have no response.
    malformed_requests: HashSet<Id>,
}

/// The result of a handshake.
#[derive(Debug)]
struct Session {
    revision: Revision,
    client_capabilities: Option<RawJson>,
    server_capabilities: Option<RawJson>,
    /// True if the client has sent `notifications/initialized`.
    ready: bool,
}

impl ConnectionChecker {
    /// Creates a checker for a new connection.
    pub fn new() -> ConnectionChecker {
        ConnectionChecker::default()
    }

    /// Returns the revision of the connection, if it is known.
    pub fn revision(&self) -> Option<Revision> {
        match &self.session {
            Some(session) if !self.server_is_modern => Some(session.revision),
            session => self.modern.or(session.as_ref().map(|it| it.revision)),
        }
    }

    /// Checks the next frame; returns the violations of the frame and of its order.
    pub fn check(&mut self, from: Side, frame: &Frame) -> Vec<Violation> {
        let mut found = match frame.kind() {
            FrameKind::Request => self.check_request(from, frame),
            FrameKind::Notification => self.check_notification(from, frame),
            FrameKind::Result | FrameKind::Error => self.check_response(from, frame),
            FrameKind::Batch => self.check_batch(from, frame),
            FrameKind::Other => self.envelope_violations(self.revision(), frame),
        };
        let is_malformed = frame.kind() == FrameKind::Other || !found.is_empty();
        if from == Side::Client && is_malformed {
            self.learn_malformed(frame);
        } else if let Some(id) = frame.id().filter(|_| from == Side::Server) {
            self.malformed_requests.remove(id);
        }
        violation::truncate(&mut found);
        found
    }

    /// Remembers a malformed frame of the client, which can get an error without an id. One
    /// that has been answered with its id gets no other.
    fn learn_malformed(&mut self, frame: &Frame) {
        let is_request = frame.kind() == FrameKind::Request && frame.violations().is_empty();
        let has_room = self.malformed_requests.len() < MAX_MALFORMED;
        match frame.id().filter(|id| is_request && has_room && can_keep_id(id)) {
            Some(id) => {
                self.malformed_requests.insert(id.clone());
            }
            None => self.client_frame_was_malformed = true,
        }
    }

    fn check_batch(&mut self, from: Side, frame: &Frame) -> Vec<Violation> {
        let revision = self.revision();
        let mut found = self.envelope_violations(revision, frame);
        let forbidden = revision.filter(|it| !it.has_batches());
        if let Some(revision) = forbidden {
            found = Checker::for_revision(revision).check(frame, from, None);
        }
        for (index, item) in frame.batch_items().enumerate() {
            if item.kind() == FrameKind::Batch {
                continue;
            }
            let answered = item.id().filter(|_| from == Side::Server && item.is_response_like());
            let answered = answered.and_then(|id| self.client_requests.pending(id));
            let is_handshake =
                answered.and_then(|it| it.definition).is_some_and(|it| it.name == "initialize");
            // The frames of a forbidden batch still count as sent.
            let mut inside = self.check(from, &item);
            if forbidden.is_some() {
                continue;
            }
            if is_handshake {
                let message = "the response to initialize must not be in a batch";
                let (rule, revision) = (Rule::BatchNotAllowed, Revision::V2025_03_26);
                inside.push(violation(revision, rule, "$", message, MESSAGES_SECTION));
            }
            let base = format!("$[{index}]");
            found.extend(inside.into_iter().map(|mut violation| {
                violation.path = rebase_path(&violation.path, &base);
                violation
            }));
            violation::truncate(&mut found);
        }
        found
    }

    /// Returns the violations that every revision has.
    fn envelope_violations(&self, revision: Option<Revision>, frame: &Frame) -> Vec<Violation> {
        match revision {
            Some(revision) => Checker::for_revision(revision).check_envelope(frame),
            None => frame.violations().to_vec(),
        }
    }

    fn requests_from(&mut self, side: Side) -> &mut RequestTracker {
        match side {
            Side::Client => &mut self.client_requests,
            Side::Server => &mut self.server_requests,
        }
    }

    fn check_request(&mut self, from: Side, frame: &Frame) -> Vec<Violation> {
        let meta = RequestMeta::from_params(frame.params());
        let revision = self.revision_of_request(from, frame, &meta);
        let mut found = match revision {
            Some(revision) => Checker::for_revision(revision).check(frame, from, None),
            None => self.envelope_violations(None, frame),
        };
        let mut request = pending_request(revision, from, frame, &meta);
        self.check_early_message(from, frame, &mut found);
        if from == Side::Server {
            self.learn_elicitation(frame.params());
            if let Some(revision) = revision {
                self.check_server_question(revision, frame, &mut found);
            }
        } else if frame.method() == Some("tools/call") {
            request.lacks_task = self.tasks.requires_task(frame.params());
        }
        if let Some(revision) = revision {
            self.check_reused_id(revision, from, frame, &mut found);
            self.check_reused_token(revision, from, &request, &mut found);
            self.check_order(revision, from, frame, &mut found);
            self.check_request_capability(revision, from, frame, &mut found);
        }
        if from == Side::Client && frame.method() == Some("initialize") {
            self.is_initializing = true;
            self.client_requests.start_session();
        }
        if let Some(revision) = revision.filter(|it| it.is_modern() && from == Side::Client) {
            self.modern = Some(revision);
        }
        if let Some(id) = frame.id() {
            if from == Side::Client {
                self.learn_subscription(id, frame.method().unwrap_or_default(), &request);
            }
            self.requests_from(from).add(id, request);
        }
        found
    }

    /// Remembers the subscriptions of a client.
    fn learn_subscription(&mut self, id: &Id, method: &str, request: &PendingRequest) {
        if request.subscription.is_some() && self.listens.len() < MAX_SUBSCRIPTIONS {
            self.listens.insert(id.clone());
        }
        let has_room = self.subscribed.len() < MAX_SUBSCRIPTIONS;
        if let Some(uri) =
            request.subject.as_ref().filter(|_| has_room && method == "resources/subscribe")
        {
            self.subscribed.insert(uri.clone(), None);
        }
    }

    /// Returns the revision of a request, if it is certain.
    fn revision_of_request(
        &self,
        from: Side,
        frame: &Frame,
        meta: &RequestMeta<'_>,
    ) -> Option<Revision> {
        let session = self.session.as_ref().map(|session| session.revision);
        if from == Side::Server {
            return session.or(self.modern.filter(|_| self.server_is_modern));
        }
        if frame.method() == Some("initialize") {
            let requested = frame.params()?.get("protocolVersion")?.as_str()?;
            return Revision::from_name(&requested).filter(|it| !it.is_modern());
        }
        match meta.version {
            Some(version) => Revision::from_name(&version.as_str()?).filter(|it| it.is_modern()),
            None if self.is_initializing => session,
            None => session.or(self.modern),
        }
    }

    /// Checks that an id is new. Legacy revisions require ids that are new in the
    /// session; the modern one requires ids that no pending request has.
    fn check_reused_id(
        &self,
        revision: Revision,
        from: Side,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        let Some(id) = frame.id() else { return };
        let tracker = match from {
            Side::Client => &self.client_requests,
            Side::Server => &self.server_requests,
        };
        let is_pending = tracker.pending(id).is_some();
        let handshake = frame.method() == Some("initialize");
        let used = !revision.is_modern() && !handshake && tracker.finished(id).is_some();
        if is_pending || used {
            let owner = match is_pending {
                true => "a pending request",
                false => "an earlier request of this session",
            };
            let message = format!("id {id} belongs to {owner}");
            out.push(violation(revision, Rule::IdReused, "$.id", message, MESSAGES_SECTION));
        }
    }

    fn check_reused_token(
        &mut self,
        revision: Revision,
        from: Side,
        request: &PendingRequest,
        out: &mut Vec<Violation>,
    ) {
        let Some(token) = &request.token else { return };
        let tracker = self.requests_from(from);
        let has_token = |it: &PendingRequest| it.token.as_ref() == Some(token);
        if tracker.has_token(token) && tracker.all_pending().any(has_token) {
            let path = "$.params._meta.progressToken";
            let message = format!("progress token {token} belongs to another pending request");
            let section = progress_section(revision);
            out.push(violation(revision, Rule::InvalidProgress, path, message, section));
        }
    }

    /// Reports a server's message before its response to `initialize`.
    fn check_early_message(&self, from: Side, frame: &Frame, out: &mut Vec<Violation>) {
        let is_early = self.is_initializing && self.session.is_none() && !self.server_is_modern;
        let method = frame.method().unwrap_or_default();
        // Log messages are allowed, and the other two are about `initialize` itself.
        let allowed =
            ["ping", "notifications/message", "notifications/progress", "notifications/cancelled"];
        if from == Side::Client || !is_early || allowed.contains(&method) {
            return;
        }
        let rule = Rule::EarlyMessage;
        let message = format!("{method} came before the response to initialize");
        let section = rule.entry().section;
        out.push(violation(Revision::LATEST_LEGACY, rule, "$.method", message, section));
    }

    /// Checks that requests other than `ping` wait for the one handshake.
    fn check_order(&self, revision: Revision, from: Side, frame: &Frame, out: &mut Vec<Violation>) {
        let Some(session) = self.session.as_ref().filter(|_| !revision.is_modern()) else {
            return;
        };
        let message = match frame.method() {
            Some("ping") => return,
            Some("initialize") if from == Side::Client => {
                "the session is already initialized".to_owned()
            }
            Some(method) if !session.ready => {
                format!("{method} came before notifications/initialized")
            }
            _ => return,
        };
        let section = "basic/lifecycle#initialization";
        out.push(violation(revision, Rule::OutOfOrder, "$.method", message, section));
    }
}

/// Extracts the data of a request that the check of its response needs.
fn pending_request(
    revision: Option<Revision>,
    from: Side,
    frame: &Frame,
    meta: &RequestMeta<'_>,
) -> PendingRequest {
    let method = frame.method().unwrap_or_default();
    let definition = revision.and_then(|revision| revision.request(from, method));
    let definition = definition.or_else(|| match method {
        "initialize" => Revision::LATEST_LEGACY.request(from, method),
        _ => None,
    });
    let params = frame.params();
    let modern = revision.is_some_and(Revision::is_modern);
    let (version, capabilities) = match (modern, method) {
        (true, _) => (meta.version, meta.capabilities),
        (false, "initialize") => (
            params.and_then(|it| it.get("protocolVersion")),
            params.and_then(|it| it.get("capabilities")),
        ),
        _ => (None, None),
    };
    let extensions = capabilities.and_then(|it| it.get("extensions"));
    let is_listen = modern && from == Side::Client && method == "subscriptions/listen";
    let filter = params.filter(|_| is_listen).map(|it| it.get("notifications"));
    PendingRequest {
        definition,
        revision,
        version: version
            .and_then(Json::as_str)
            .filter(|_| from == Side::Client)
            .map(|it| known_version(&it)),
        // Only a client declares them in a request.
        capabilities: capabilities.filter(|_| from == Side::Client).map(RawJson::from),
        task: params.is_some_and(|it| it.get("task").is_some()),
        extensions: extensions.is_some_and(|it| it.members().next().is_some()),
        token: meta.token.and_then(Id::from_json),
        log_level: match (modern, method) {
            (true, _) => meta.log_level.map(|level| parse_log_level(Some(level))),
            (false, "logging/setLevel") => {
                Some(parse_log_level(params.and_then(|it| it.get("level"))))
            }
            _ => None,
        },
        subject: match method {
            _ if from == Side::Server => None,
            "tasks/result" => params.and_then(|it| it.get("taskId")),
            "resources/subscribe" | "resources/unsubscribe" => params.and_then(|it| it.get("uri")),
            _ if modern => params.and_then(|it| it.get("cursor")),
            _ => None,
        }
        .and_then(Json::as_str)
        .map(|it| it.into_owned().into_boxed_str()),
        lacks_task: false,
        number: 0,
        subscription: filter.map(|filter| Subscription {
            filter: filter.map_or_else(RawJson::empty_object, RawJson::from),
            acknowledged: false,
        }),
        copies: 0,
    }
}

/// Returns true if a text is short enough to be remembered.
fn can_keep(text: &str) -> bool {
    text.len() <= MAX_KEPT_BYTES
}

/// Returns true if an id is short enough to be remembered.
fn can_keep_id(id: &Id) -> bool {
    match id {
        Id::Integer(_) => true,
        Id::BigInteger(text) | Id::String(text) => can_keep(text),
    }
}

/// Returns a level of log messages. A level that is not known allows all messages.
fn parse_log_level(level: Option<Json<'_>>) -> LogLevel {
    let level = level.and_then(Json::as_str);
    level.and_then(|it| LogLevel::from_name(&it)).unwrap_or(LogLevel::LOWEST)
}

fn known_version(name: &str) -> Cow<'static, str> {
    match Revision::from_name(name) {
        Some(revision) => revision.name().into(),
        None => name.to_owned().into(),
    }
}

/// The metadata of a request, read in one pass. The last of duplicate keys counts, as
/// everywhere.
#[derive(Default)]
struct RequestMeta<'a> {
    version: Option<Json<'a>>,
    capabilities: Option<Json<'a>>,
    token: Option<Json<'a>>,
    log_level: Option<Json<'a>>,
}

impl<'a> RequestMeta<'a> {
    fn from_params(params: Option<Json<'a>>) -> Self {
        let mut meta = RequestMeta::default();
        let found = params.and_then(|params| params.get("_meta"));
        for (key, value) in found.unwrap_or(Json::EMPTY_OBJECT).members() {
            let field = if key.is(VERSION_KEY) {
                &mut meta.version
            } else if key.is(CAPABILITIES_KEY) {
                &mut meta.capabilities
            } else if key.is(LOG_LEVEL_KEY) {
                &mut meta.log_level
            } else if key.is("progressToken") {
                &mut meta.token
            } else {
                continue;
            };
            *field = Some(value);
        }
        meta
    }
}

/// Stands for the revision's section about messages.
const MESSAGES_SECTION: &str = "";

fn violation(
    revision: Revision,
    rule: Rule,
    path: impl Into<String>,
    message: impl Into<String>,
    section: &str,
) -> Violation {
    let section = match section {
        MESSAGES_SECTION => revision.definition().messages,
        other => other,
    };
    Violation::new(rule, path, message, format!("{revision}/{section}"))
}

/// A message for a request whose cancellation the server has received.
fn late_message(revision: Revision, path: &str, id: &Id) -> Violation {
    let rule = Rule::MessageAfterCancellation;
    let message = format!("the server has received the cancellation of {id}");
    violation(revision, rule, path, message, rule.entry().section)
}

fn progress_section(revision: Revision) -> &'static str {
    revision
        .notification(Side::Server, "notifications/progress")
        .map_or(MESSAGES_SECTION, |definition| definition.section)
}

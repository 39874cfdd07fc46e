//! Watches a whole conversation and calls what single frames cannot show:
//! replies that fit no request, things before their time, features that were
//! not declared.
//!
//! It would rather miss something than accuse wrongly. Before the revision is
//! known, only what is wrong in every revision is reported.

mod features;
mod ledger;
mod notifications;
mod replies;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use self::ledger::{Finished, Ledger, Pending, Subscription};
use super::checker::{Answered, Checker, rebased};
use super::findings::MOST;
use crate::frame::{Frame, FrameKind};
use crate::id::Id;
use crate::json::{Json, RawJson};
use crate::revision::{Revision, Side};
use crate::violation::{Rule, Violation};

/// Keys of the metadata that modern messages carry.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Judges the frames of one conversation, given in the order of the wire.
#[derive(Debug, Default)]
pub struct Referee {
    /// What a handshake has agreed on.
    session: Option<Session>,
    /// Whether a handshake has begun, and not ended.
    shaking_hands: bool,
    /// The revision that the client's requests name.
    modern: Option<Revision>,
    /// Whether the server has answered as only a modern one does.
    server_is_modern: bool,
    /// What a modern server says it can do.
    discovered: Option<RawJson>,
    asked_by_client: Ledger,
    asked_by_server: Ledger,
}

/// What a handshake has agreed on.
#[derive(Debug)]
struct Session {
    revision: Revision,
    client: Option<RawJson>,
    server: Option<RawJson>,
    /// Whether the client has said that it is ready.
    ready: bool,
}

impl Referee {
    /// A referee who has seen nothing yet.
    pub fn new() -> Referee {
        Referee::default()
    }

    /// The revision that is spoken, as far as that is known.
    pub fn revision(&self) -> Option<Revision> {
        match &self.session {
            Some(session) if !self.server_is_modern => Some(session.revision),
            session => self.modern.or(session.as_ref().map(|it| it.revision)),
        }
    }

    /// Judges the next frame: everything wrong with it, alone and in its place.
    pub fn observe(&mut self, from: Side, frame: &Frame) -> Vec<Violation> {
        let mut found = match frame.kind() {
            FrameKind::Request => self.request(from, frame),
            FrameKind::Notification => self.notification(from, frame),
            FrameKind::Result | FrameKind::Error => self.reply(from, frame),
            FrameKind::Batch => self.batch(from, frame),
            FrameKind::Other => self.on_its_own(self.revision(), frame),
        };
        found.truncate(MOST);
        found
    }

    fn batch(&mut self, from: Side, frame: &Frame) -> Vec<Violation> {
        let revision = self.revision();
        let mut found = self.on_its_own(revision, frame);
        let forbidden = revision.filter(|it| !it.has_batches());
        if let Some(revision) = forbidden {
            found = Checker::of(revision).check(frame, from, None);
        }
        for (index, item) in frame.batch().enumerate() {
            if item.kind() == FrameKind::Batch {
                continue;
            }
            // Frames that should not have come together still count as sent.
            let inside = self.observe(from, &item);
            if forbidden.is_some() || found.len() >= MOST {
                continue;
            }
            let base = format!("$[{index}]");
            found.extend(inside.into_iter().map(|mut violation| {
                violation.path = rebased(&violation.path, &base);
                violation
            }));
        }
        found
    }

    /// What is wrong with the frame in every revision.
    fn on_its_own(&self, revision: Option<Revision>, frame: &Frame) -> Vec<Violation> {
        match revision {
            Some(revision) => Checker::of(revision).frame_level(frame),
            None => frame.violations().to_vec(),
        }
    }

    fn asked_by(&mut self, side: Side) -> &mut Ledger {
        match side {
            Side::Client => &mut self.asked_by_client,
            Side::Server => &mut self.asked_by_server,
        }
    }

    fn request(&mut self, from: Side, frame: &Frame) -> Vec<Violation> {
        let meta = Meta::of(frame.params());
        let revision = self.revision_of_request(from, frame, &meta);
        let mut found = match revision {
            Some(revision) => Checker::of(revision).check(frame, from, None),
            None => self.on_its_own(None, frame),
        };
        let request = pending(revision, from, frame, &meta);
        if let Some(revision) = revision {
            self.reused_id(revision, from, frame, &mut found);
            self.reused_token(revision, from, &request, &mut found);
            self.out_of_order(revision, from, frame, &mut found);
            self.undeclared_request(revision, from, frame, &mut found);
        }
        if from == Side::Client && frame.method() == Some("initialize") {
            self.shaking_hands = true;
            self.asked_by_client.new_session();
        }
        if let Some(revision) = revision.filter(|it| it.is_modern() && from == Side::Client) {
            self.modern = Some(revision);
        }
        if let Some(id) = frame.id() {
            self.asked_by(from).ask(id, request);
        }
        found
    }

    /// By which revision a request is to be judged, if that is certain.
    fn revision_of_request(&self, from: Side, frame: &Frame, meta: &Meta<'_>) -> Option<Revision> {
        let session = self.session.as_ref().map(|session| session.revision);
        if from == Side::Server {
            return session.or(self.modern.filter(|_| self.server_is_modern));
        }
        if frame.method() == Some("initialize") {
            let asked = frame.params()?.get("protocolVersion")?.as_str()?;
            return Revision::from_name(&asked).filter(|it| !it.is_modern());
        }
        match meta.version {
            Some(version) => Revision::from_name(&version.as_str()?).filter(|it| it.is_modern()),
            None if self.shaking_hands => session,
            None => session.or(self.modern),
        }
    }

    /// Legacy revisions want ids that the session has not seen; the modern one
    /// only ids that are not in flight.
    fn reused_id(&self, revision: Revision, from: Side, frame: &Frame, out: &mut Vec<Violation>) {
        let Some(id) = frame.id() else { return };
        let ledger = match from {
            Side::Client => &self.asked_by_client,
            Side::Server => &self.asked_by_server,
        };
        let in_flight = ledger.pending(id).is_some();
        let handshake = frame.method() == Some("initialize");
        let used = !revision.is_modern() && !handshake && ledger.finished(id).is_some();
        if in_flight || used {
            let what = match in_flight {
                true => "of a request in flight",
                false => "of an earlier request of this session",
            };
            let message = format!("{id} is the id {what}");
            out.push(violation(revision, Rule::IdReused, "$.id", message, MESSAGES));
        }
    }

    fn reused_token(
        &mut self,
        revision: Revision,
        from: Side,
        request: &Pending,
        out: &mut Vec<Violation>,
    ) {
        let Some(token) = &request.token else { return };
        let ledger = self.asked_by(from);
        let in_flight = |it: &Pending| it.token.as_ref() == Some(token);
        if ledger.has_token(token) && ledger.all_pending().any(in_flight) {
            let path = "$.params._meta.progressToken";
            let message = format!("{token} is the token of another request in flight");
            let section = progress_section(revision);
            out.push(violation(revision, Rule::WrongProgress, path, message, section));
        }
    }

    /// Requests other than pings wait for the handshake, which comes once.
    fn out_of_order(
        &self,
        revision: Revision,
        from: Side,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        let Some(session) = self.session.as_ref().filter(|_| !revision.is_modern()) else {
            return;
        };
        let message = match frame.method() {
            Some("ping") => return,
            Some("initialize") if from == Side::Client => {
                "the session is initialized already".to_owned()
            }
            Some(method) if !session.ready => {
                format!("{method} before notifications/initialized")
            }
            _ => return,
        };
        let section = "basic/lifecycle#initialization";
        out.push(violation(revision, Rule::OutOfOrder, "$.method", message, section));
    }
}

/// What is worth keeping of a request until its answer comes.
fn pending(revision: Option<Revision>, from: Side, frame: &Frame, meta: &Meta<'_>) -> Pending {
    let method = frame.method().unwrap_or_default();
    let rule = revision.and_then(|revision| revision.request(from, method));
    let rule = rule.or_else(|| match method {
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
    let listens = modern && method == "subscriptions/listen";
    let filter = params.filter(|_| listens).map(|it| it.get("notifications"));
    Pending {
        rule,
        revision,
        version: version.and_then(Json::as_str).map(|it| known_version(&it)),
        capabilities: capabilities.map(RawJson::from),
        task: params.is_some_and(|it| it.get("task").is_some()),
        extensions: extensions.is_some_and(|it| it.members().next().is_some()),
        token: meta.token.and_then(Id::read),
        wants_logs: modern && meta.log_level.is_some(),
        subscription: filter.map(|filter| Subscription {
            filter: filter.map_or_else(RawJson::empty_object, RawJson::from),
            acknowledged: false,
        }),
        copies: 0,
    }
}

fn known_version(name: &str) -> Cow<'static, str> {
    match Revision::from_name(name) {
        Some(revision) => revision.name().into(),
        None => name.to_owned().into(),
    }
}

/// What a request says of itself, found in one pass; of a key that stands twice
/// the last, as everywhere.
#[derive(Default)]
struct Meta<'a> {
    version: Option<Json<'a>>,
    capabilities: Option<Json<'a>>,
    token: Option<Json<'a>>,
    log_level: Option<Json<'a>>,
}

impl<'a> Meta<'a> {
    fn of(params: Option<Json<'a>>) -> Self {
        let mut meta = Meta::default();
        let found = params.and_then(|params| params.get("_meta"));
        for (key, value) in found.unwrap_or(Json::EMPTY_OBJECT).members() {
            let place = if key.is(VERSION) {
                &mut meta.version
            } else if key.is(CAPABILITIES) {
                &mut meta.capabilities
            } else if key.is(LOG_LEVEL) {
                &mut meta.log_level
            } else if key.is("progressToken") {
                &mut meta.token
            } else {
                continue;
            };
            *place = Some(value);
        }
        meta
    }
}

/// Stands for the revision's own section on messages.
const MESSAGES: &str = "";

fn violation(
    revision: Revision,
    rule: Rule,
    path: impl Into<String>,
    message: impl Into<String>,
    section: &str,
) -> Violation {
    let section = match section {
        MESSAGES => revision.rules().messages,
        other => other,
    };
    Violation::new(rule, path, message, format!("{revision}/{section}"))
}

fn progress_section(revision: Revision) -> &'static str {
    revision
        .notification(Side::Server, "notifications/progress")
        .map_or(MESSAGES, |rule| rule.section)
}

//! Holds replies against the requests they answer, and learns from them which
//! revision is spoken.

use super::ledger::Pending;
use super::{Answered, Finished, MESSAGES, Referee, SUBSCRIPTION, Session, features, violation};
use crate::check::checker::Checker;
use crate::check::path::Path;
use crate::error::code;
use crate::frame::Frame;
use crate::id::Id;
use crate::json::{Json, RawJson};
use crate::mirror::Mirrored;
use crate::revision::{Revision, Side};
use crate::violation::{Rule, Violation};

impl Referee {
    pub(super) fn reply(&mut self, from: Side, frame: &Frame) -> Vec<Violation> {
        let asker = from.other();
        let Some(id) = frame.id() else {
            // An error without an id answers what could not be read, perhaps
            // from a server that is not of the client's era.
            let certain = |it: &Revision| !it.is_modern() || self.server_is_modern;
            let revision = self.revision().filter(certain);
            return self.judge(revision, from, frame, Answered::default());
        };
        match self.asked_by(asker).answer(id) {
            Some(request) => self.answer(from, frame, id, &request),
            None => self.stray(from, frame, id),
        }
    }

    /// A reply that answers no request in flight.
    fn stray(&mut self, from: Side, frame: &Frame, id: &Id) -> Vec<Violation> {
        let revision = self.revision();
        let mut found = self.judge(revision, from, frame, Answered::default());
        let ledger = self.asked_by(from.other());
        let (rule, message) = match (ledger.finished(id), other_type(id)) {
            (Some(Finished::Cancelled), _) => {
                ledger.late_reply(id);
                return found;
            }
            (Some(Finished::Replied), _) => {
                (Rule::DuplicateReply, format!("the request {id} has been answered"))
            }
            (None, Some(twin)) if ledger.pending(&twin).is_some() => {
                (Rule::ReplyIdType, format!("the request in flight has the id {twin}, not {id}"))
            }
            (None, _) if ledger.blind => return found,
            (None, _) => (Rule::UnknownReply, format!("{id} is the id of no request in flight")),
        };
        // Wrong in every revision, and so also while none is known.
        let revision = revision.unwrap_or(Revision::LATEST);
        found.push(violation(revision, rule, "$.id", message, MESSAGES));
        found
    }

    fn answer(&mut self, from: Side, frame: &Frame, id: &Id, request: &Pending) -> Vec<Violation> {
        if let Some(token) = &request.token {
            let lasts = outlives(request, frame);
            self.asked_by(from.other()).release(token, lasts);
        }
        let method = request.rule.map(|rule| rule.name);
        if from == Side::Server && method == Some("initialize") {
            return self.initialized(frame, request);
        }
        let modern = request.revision.filter(|it| it.is_modern());
        if from == Side::Server && modern.is_some() {
            self.learn_era(frame, request);
        }
        let revision = match modern {
            // A legacy server answers a modern request with what error it likes.
            Some(_) if frame.error().is_some() && !self.server_is_modern => None,
            _ => request.revision,
        };
        let answered =
            Answered { method, task: Some(request.task), extensions: request.extensions };
        let mut found = self.judge(revision, from, frame, answered);
        if let Some(revision) = modern {
            self.modern_answer(revision, frame, id, request, &mut found);
        }
        found
    }

    fn judge(
        &self,
        revision: Option<Revision>,
        from: Side,
        frame: &Frame,
        answered: Answered<'_>,
    ) -> Vec<Violation> {
        match revision {
            Some(revision) => Checker::of(revision).check_answer(frame, from, answered),
            None => self.on_its_own(None, frame),
        }
    }

    /// The end of a handshake: from here on the revision is known.
    fn initialized(&mut self, frame: &Frame, request: &Pending) -> Vec<Violation> {
        self.shaking_hands = false;
        let Some(result) = frame.result() else {
            return self.judge(request.revision, Side::Server, frame, Answered::default());
        };
        let version = result.get("protocolVersion").and_then(Json::as_str);
        let known = version.as_deref().and_then(Revision::from_name);
        let revision = known.filter(|it| !it.is_modern());
        if let Some(revision) = revision {
            self.session = Some(Session {
                revision,
                client: request.capabilities.clone(),
                server: result.get("capabilities").map(RawJson::from),
                ready: false,
            });
        }
        let judged_by = revision.or(request.revision);
        let answered = Answered { method: Some("initialize"), ..Answered::default() };
        let mut found = self.judge(judged_by, Side::Server, frame, answered);
        let asked = request.version.as_deref();
        if let Some(version) = version
            && revision.is_none()
            && asked != Some(&version)
        {
            let message = format!("{version:?} was not asked for, and no handshake leads to it");
            found.push(violation(
                judged_by.unwrap_or(Revision::LATEST_LEGACY),
                Rule::WrongVersion,
                "$.result.protocolVersion",
                message,
                "basic/lifecycle#version-negotiation",
            ));
        }
        found
    }

    /// Only modern servers have result types, discovery and certain errors.
    fn learn_era(&mut self, frame: &Frame, request: &Pending) {
        let discovers = request.rule.is_some_and(|it| it.name == "server/discover");
        if let Some(result) = frame.result() {
            self.server_is_modern |= discovers || result.get("resultType").is_some();
            if discovers {
                let capabilities = result.get("capabilities");
                self.discovered = capabilities.map(RawJson::from);
            }
        }
        let error = frame.error().and_then(|it| it.get("code"));
        self.server_is_modern |= matches!(
            error.and_then(Json::as_i64),
            Some(
                code::HEADER_MISMATCH
                    | code::MISSING_REQUIRED_CLIENT_CAPABILITY
                    | code::UNSUPPORTED_PROTOCOL_VERSION
            )
        );
    }

    fn modern_answer(
        &self,
        revision: Revision,
        frame: &Frame,
        id: &Id,
        request: &Pending,
        out: &mut Vec<Violation>,
    ) {
        if let (Some(result), Some(declared)) = (frame.result(), &request.capabilities) {
            for (key, lacking) in features::lacking_inputs(revision, declared.view(), result) {
                out.push(violation(
                    revision,
                    Rule::Undeclared,
                    Path::new("$.result.inputRequests").name(&key).to_string(),
                    format!("the request has not declared {lacking}"),
                    "basic/patterns/mrtr#server-requirements-basic-workflow",
                ));
            }
        }
        if request.rule.is_some_and(|rule| rule.name == "tools/list") {
            let tools = frame.result().and_then(|result| result.get("tools"));
            for (index, tool) in tools.unwrap_or(Json::EMPTY_OBJECT).items().enumerate() {
                let schema = tool.get("inputSchema");
                let Some(Err(why)) = schema.map(Mirrored::read) else { continue };
                out.push(violation(
                    revision,
                    Rule::WrongValue,
                    format!("$.result.tools[{index}].inputSchema"),
                    why,
                    "server/tools#x-mcp-header",
                ));
            }
        }
        let closes = frame.result().filter(|_| request.subscription.is_some());
        let named = closes.and_then(|it| it.at(&["_meta", SUBSCRIPTION]));
        if let Some(named) = named.and_then(Id::read).filter(|named| named != id) {
            out.push(violation(
                revision,
                Rule::WrongSubscription,
                format!("$.result._meta[\"{SUBSCRIPTION}\"]"),
                format!("the subscription is {id}, not {named}"),
                "basic/patterns/subscriptions#graceful-closure",
            ));
        }
        if let Some(message) = contradicts_itself(frame, request) {
            let path = "$.error.data.supported";
            let section = "basic/versioning#protocol-version-negotiation";
            out.push(violation(revision, Rule::WrongVersion, path, message, section));
        }
    }
}

/// Whether a version is refused and in the same breath said to be supported.
fn contradicts_itself(frame: &Frame, request: &Pending) -> Option<String> {
    let error = frame.error()?;
    if error.get("code")?.as_i64()? != code::UNSUPPORTED_PROTOCOL_VERSION {
        return None;
    }
    let asked = request.version.as_deref()?;
    let mut supported = error.at(&["data", "supported"])?.items();
    supported
        .any(|it| it.as_str().as_deref() == Some(asked))
        .then(|| format!("{asked} is refused, and listed as supported"))
}

/// Whether the work goes on after the reply, as a task does.
fn outlives(request: &Pending, frame: &Frame) -> bool {
    let result = frame.result();
    let result_type = result.and_then(|it| it.get("resultType"));
    let result_type = result_type.and_then(Json::as_str);
    let task = request.task && result.is_some_and(|it| it.get("task").is_some());
    let core = ["complete", "input_required"];
    task || request.extensions && result_type.is_some_and(|it| !core.contains(&&*it))
}

/// The id with the same letters and the other type.
fn other_type(id: &Id) -> Option<Id> {
    match id {
        Id::Integer(number) => Some(Id::from(number.to_string().as_str())),
        Id::BigInteger(digits) => Some(Id::String(digits.clone())),
        Id::String(text) => {
            let json = RawJson::parse(text).ok()?;
            Id::read(json.view()).filter(|it| it.differs_only_in_type(id))
        }
    }
}

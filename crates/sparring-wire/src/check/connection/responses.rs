//! Matches responses with their requests, and learns the revision of the connection
//! from them.

use super::questions::{check_inputs, check_required_elicitations};
use super::request_tracker::PendingRequest;
use super::results::{check_required_capabilities, check_supported_versions};
use super::{
    ConnectionChecker, FinishedState, MESSAGES_SECTION, RequestContext, SUBSCRIPTION_KEY, Session,
    capabilities, late_message, violation,
};
use crate::check::checker::Checker;
use crate::check::json_path::JsonPath;
use crate::error::code;
use crate::frame::Frame;
use crate::id::Id;
use crate::json::{Json, RawJson};
use crate::mirrored_headers::MirroredArguments;
use crate::revision::{Revision, Side};
use crate::rule::Rule;
use crate::violation::Violation;

impl ConnectionChecker {
    pub(super) fn check_response(&mut self, from: Side, frame: &Frame) -> Vec<Violation> {
        let requester = from.other();
        let Some(id) = frame.id() else {
            // An error without an id answers an unreadable message, perhaps from a
            // server of the other era.
            let certain = |it: &Revision| !it.is_modern() || self.server_is_modern;
            let revision = self.revision().filter(certain);
            return self.response_violations(revision, from, frame, RequestContext::default());
        };
        let has_room = self.client_answers.len() < super::MAX_SUBSCRIPTIONS;
        if from == Side::Client && has_room && super::can_keep_id(id) {
            self.client_answers.insert(id.clone(), self.client_requests.next_number);
        }
        match self.requests_from(requester).take(id) {
            Some(request) => self.check_answer(from, frame, id, &request),
            None => self.check_unmatched(from, frame, id),
        }
    }

    /// Checks a response that answers no pending request.
    fn check_unmatched(&mut self, from: Side, frame: &Frame, id: &Id) -> Vec<Violation> {
        let revision = self.revision();
        let mut found = self.response_violations(revision, from, frame, RequestContext::default());
        let tracker = self.requests_from(from.other());
        let (rule, message) = match (tracker.finished(id), with_other_type(id)) {
            (Some(FinishedState::Cancelled(before)), _) => {
                let is_late = tracker.has_received(before);
                tracker.mark_answered(id);
                if let Some(revision) = revision.filter(|it| it.is_modern() && is_late) {
                    found.push(late_message(revision, "$.id", id));
                }
                return found;
            }
            (Some(FinishedState::Answered), _) => {
                (Rule::DuplicateResponse, format!("request {id} already has a response"))
            }
            (None, Some(twin)) if tracker.pending(&twin).is_some() => {
                (Rule::ResponseIdType, format!("the pending request has the id {twin}, not {id}"))
            }
            (None, _) if tracker.has_forgotten => return found,
            (None, _) => (Rule::UnknownResponse, format!("no pending request has the id {id}")),
        };
        // Every revision has this rule, so it holds before the revision is known.
        let revision = revision.unwrap_or(Revision::LATEST);
        found.push(violation(revision, rule, "$.id", message, MESSAGES_SECTION));
        found
    }

    fn check_answer(
        &mut self,
        from: Side,
        frame: &Frame,
        id: &Id,
        request: &PendingRequest,
    ) -> Vec<Violation> {
        if let Some(token) = &request.token {
            let retain = continues_after(request, frame);
            self.requests_from(from.other()).release_token(token, retain);
        }
        let method = request.definition.map(|definition| definition.name);
        if from == Side::Server && method == Some("initialize") {
            return self.finish_handshake(frame, request);
        }
        let modern = request.revision.filter(|it| it.is_modern());
        if from == Side::Server && modern.is_some() {
            self.detect_modern_server(frame, request);
        }
        let revision = match modern {
            // A legacy server can answer a modern request with any error.
            Some(_) if frame.error().is_some() && !self.server_is_modern => None,
            _ => request.revision,
        };
        let context =
            RequestContext { method, task: Some(request.task), extensions: request.extensions };
        let mut found = self.response_violations(revision, from, frame, context);
        if let Some(revision) = request.revision.filter(|_| from == Side::Server) {
            // A malformed result does not show that the server supports the feature.
            if found.iter().all(Violation::is_warning) {
                self.check_declared(revision, frame, request, &mut found);
                self.check_embedded_resources(revision, frame, request, &mut found);
            }
            let is_certain = !revision.is_modern() || self.server_is_modern;
            if is_certain {
                self.check_implemented(revision, frame, request, &mut found);
            }
            self.learn_from_answer(frame, request);
            check_required_elicitations(revision, frame, &mut found);
            if Rule::WrongTaskStatus.applies_in(revision) {
                self.check_task_answer(revision, frame, request, &mut found);
            }
        }
        if let Some(revision) = modern {
            self.check_cache_scope(revision, frame, request, &mut found);
            check_required_capabilities(revision, frame, request, &mut found);
            check_supported_versions(revision, frame, request, &mut found);
            self.check_modern_answer(revision, frame, id, request, &mut found);
        }
        found
    }

    /// Remembers the level of log messages, and elicitations that an error requires.
    fn learn_from_answer(&mut self, frame: &Frame, request: &PendingRequest) {
        let is_level = request.definition.is_some_and(|it| it.name == "logging/setLevel");
        if let Some(level) = request.log_level.filter(|_| is_level && frame.result().is_some()) {
            self.log_level = Some((level, self.client_requests.next_number));
        }
        let unsubscribed = request.definition.filter(|it| it.name == "resources/unsubscribe");
        if let (Some(_), Some(uri), Some(_)) = (unsubscribed, &request.subject, frame.result())
            && let Some(ended) = self.subscribed.get_mut(uri)
        {
            *ended = Some(self.client_requests.next_number);
        }
        let elicitations = frame.error().and_then(|it| it.get_path(&["data", "elicitations"]));
        for elicitation in elicitations.unwrap_or(Json::EMPTY_OBJECT).items() {
            self.learn_elicitation(Some(elicitation));
        }
    }

    fn response_violations(
        &self,
        revision: Option<Revision>,
        from: Side,
        frame: &Frame,
        context: RequestContext<'_>,
    ) -> Vec<Violation> {
        match revision {
            Some(revision) => {
                Checker::for_revision(revision).check_with_request(frame, from, context)
            }
            None => self.envelope_violations(None, frame),
        }
    }

    /// Handles the response to `initialize`, which determines the revision.
    fn finish_handshake(&mut self, frame: &Frame, request: &PendingRequest) -> Vec<Violation> {
        self.is_initializing = false;
        let Some(result) = frame.result() else {
            return self.response_violations(
                request.revision,
                Side::Server,
                frame,
                RequestContext::default(),
            );
        };
        let version = result.get("protocolVersion").and_then(Json::as_str);
        let known = version.as_deref().and_then(Revision::from_name);
        let revision = known.filter(|it| !it.is_modern());
        if let Some(revision) = revision {
            self.session = Some(Session {
                revision,
                client_capabilities: request.capabilities.clone(),
                server_capabilities: result.get("capabilities").map(RawJson::from),
                ready: false,
            });
        }
        let checked_revision = revision.or(request.revision);
        let context = RequestContext { method: Some("initialize"), ..RequestContext::default() };
        let mut found = self.response_violations(checked_revision, Side::Server, frame, context);
        let requested = request.version.as_deref();
        if let Some(version) = version
            && revision.is_none()
            && requested != Some(&version)
        {
            let message = format!(
                "the client did not request version {version:?}, and initialize cannot select it"
            );
            found.push(violation(
                checked_revision.unwrap_or(Revision::LATEST_LEGACY),
                Rule::WrongVersion,
                "$.result.protocolVersion",
                message,
                "basic/lifecycle#version-negotiation",
            ));
        }
        found
    }

    /// Recognizes a modern server by result types, discovery and its error codes.
    fn detect_modern_server(&mut self, frame: &Frame, request: &PendingRequest) {
        let is_discovery = request.definition.is_some_and(|it| it.name == "server/discover");
        if let Some(result) = frame.result() {
            self.server_is_modern |= is_discovery || result.get("resultType").is_some();
            if is_discovery {
                let capabilities = result.get("capabilities");
                self.discovered_capabilities = capabilities.map(RawJson::from);
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

    fn check_modern_answer(
        &self,
        revision: Revision,
        frame: &Frame,
        id: &Id,
        request: &PendingRequest,
        out: &mut Vec<Violation>,
    ) {
        if let (Some(result), Some(declared)) = (frame.result(), &request.capabilities) {
            for (key, capability) in
                capabilities::undeclared_inputs(revision, declared.view(), result)
            {
                out.push(violation(
                    revision,
                    Rule::Undeclared,
                    JsonPath::new("$.result.inputRequests").name(&key).to_string(),
                    format!("the request did not declare {capability}"),
                    "basic/patterns/mrtr#server-requirements-basic-workflow",
                ));
            }
        }
        if let Some(result) = frame.result() {
            let declared = request.capabilities.as_ref();
            let declared = declared.map_or(Json::EMPTY_OBJECT, |it| it.view());
            check_inputs(revision, declared, result, out);
        }
        if request.definition.is_some_and(|it| it.name == "tools/list") {
            let tools = frame.result().and_then(|result| result.get("tools"));
            for (index, tool) in tools.unwrap_or(Json::EMPTY_OBJECT).items().enumerate() {
                let schema = tool.get("inputSchema");
                let Some(Err(reason)) = schema.map(MirroredArguments::from_schema) else {
                    continue;
                };
                out.push(violation(
                    revision,
                    Rule::WrongValue,
                    format!("$.result.tools[{index}].inputSchema"),
                    reason,
                    "server/tools#x-mcp-header",
                ));
            }
        }
        let closing = frame.result().filter(|_| request.subscription.is_some());
        let named = closing.and_then(|it| it.get_path(&["_meta", SUBSCRIPTION_KEY]));
        if let Some(named) = named.and_then(Id::from_json).filter(|named| named != id) {
            out.push(violation(
                revision,
                Rule::InvalidSubscription,
                format!("$.result._meta[\"{SUBSCRIPTION_KEY}\"]"),
                format!("the id of the subscription is {id}, not {named}"),
                "basic/patterns/subscriptions#graceful-closure",
            ));
        }
        if let Some(message) = version_contradiction(frame, request) {
            let path = "$.error.data.supported";
            let section = "basic/versioning#protocol-version-negotiation";
            out.push(violation(revision, Rule::WrongVersion, path, message, section));
        }
    }
}

/// Returns a message if an error rejects a version and lists it as supported.
fn version_contradiction(frame: &Frame, request: &PendingRequest) -> Option<String> {
    let error = frame.error()?;
    if error.get("code")?.as_i64()? != code::UNSUPPORTED_PROTOCOL_VERSION {
        return None;
    }
    let requested = request.version.as_deref()?;
    let mut supported = error.get_path(&["data", "supported"])?.items();
    supported
        .any(|it| it.as_str().as_deref() == Some(requested))
        .then(|| format!("the error rejects version {requested} but lists it as supported"))
}

/// Returns true if the work continues after the response, as a task does.
fn continues_after(request: &PendingRequest, frame: &Frame) -> bool {
    let result = frame.result();
    let result_type = result.and_then(|it| it.get("resultType"));
    let result_type = result_type.and_then(Json::as_str);
    let task = request.task && result.is_some_and(|it| it.get("task").is_some());
    let core = ["complete", "input_required"];
    task || request.extensions && result_type.is_some_and(|it| !core.contains(&&*it))
}

/// Returns the id with the same characters and the other type.
fn with_other_type(id: &Id) -> Option<Id> {
    match id {
        Id::Integer(number) => Some(Id::from(number.to_string().as_str())),
        Id::BigInteger(digits) => Some(Id::String(digits.clone())),
        Id::String(text) => {
            let json = RawJson::parse(text).ok()?;
            Id::from_json(json.view()).filter(|it| it.differs_only_in_type(id))
        }
    }
}

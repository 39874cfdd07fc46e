//! Checks notifications: initialization, cancellation, progress and subscriptions.

use super::capabilities::declares;
use super::request_tracker::{FinishedState, ProgressViolation};
use super::{
    ConnectionChecker, SUBSCRIPTION_KEY, can_keep, progress_section, sensitive, violation,
};
use crate::check::checker::Checker;
use crate::check::json_path::JsonPath;
use crate::frame::Frame;
use crate::id::Id;
use crate::json::Json;
use crate::revision::{Revision, Side};
use crate::rule::Rule;
use crate::violation::Violation;

/// The maximum number of elicitations that are remembered.
const MAX_ELICITATIONS: usize = 1024;

/// The capability that each kind of a subscription needs.
const FILTER_CAPABILITIES: [(&str, &str); 4] = [
    ("toolsListChanged", "tools.listChanged"),
    ("promptsListChanged", "prompts.listChanged"),
    ("resourcesListChanged", "resources.listChanged"),
    ("resourceSubscriptions", "resources.subscribe"),
];

const RECEIVING_SECTION: &str = "basic/patterns/subscriptions#receiving-notifications";

impl ConnectionChecker {
    pub(super) fn check_notification(&mut self, from: Side, frame: &Frame) -> Vec<Violation> {
        let subscription = frame.params().and_then(|it| it.get_path(&["_meta", SUBSCRIPTION_KEY]));
        let revision = self.revision_of_notification(from, subscription.is_some());
        let mut found = match revision {
            Some(revision) => Checker::for_revision(revision).check(frame, from, None),
            None => self.envelope_violations(None, frame),
        };
        let method = frame.method().unwrap_or_default();
        self.check_early_message(from, frame, &mut found);
        if let Some(revision) = revision {
            if let Some(definition) = revision.notification(from, method) {
                self.check_notification_capability(revision, from, definition, &mut found);
            }
            let modern = revision.is_modern() && from == Side::Server;
            if from == Side::Server && method == "notifications/resources/updated" && !modern {
                self.check_update(revision, frame, &mut found);
            }
            if from == Side::Server && method == "notifications/message" {
                check_sensitive_log(revision, frame, &mut found);
                match modern {
                    true => self.check_log_requested(revision, frame, &mut found),
                    false => self.check_log_level(revision, frame, &mut found),
                }
            }
            if from == Side::Server && method == "notifications/tasks/status" {
                self.check_task_status(revision, frame, &mut found);
            }
            if from == Side::Server && method == "notifications/elicitation/complete" {
                self.check_elicitation_complete(revision, frame, &mut found);
            }
            if modern {
                self.check_subscription(revision, frame, subscription, &mut found);
            }
        }
        match method {
            "notifications/initialized" if from == Side::Client => {
                if let Some(session) = &mut self.session {
                    session.ready = true;
                }
            }
            "notifications/cancelled" => self.check_cancelled(revision, from, frame, &mut found),
            "notifications/progress" => self.check_progress(revision, from, frame, &mut found),
            _ => {}
        }
        found
    }

    /// Returns the revision of a notification, if it is certain.
    fn revision_of_notification(&self, from: Side, subscribed: bool) -> Option<Revision> {
        let session = self.session.as_ref().map(|session| session.revision);
        let modern = match from {
            Side::Client => self.modern.filter(|_| !self.is_initializing),
            Side::Server => self.modern.filter(|_| self.server_is_modern),
        };
        match (session, modern) {
            (Some(_), Some(modern)) if subscribed => Some(modern),
            // A server of both eras can mean either.
            (Some(_), Some(_)) if from == Side::Server => None,
            (session, modern) => session.or(modern),
        }
    }

    fn check_cancelled(
        &mut self,
        revision: Option<Revision>,
        from: Side,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        let id = frame.params().and_then(|it| it.get("requestId"));
        let Some(id) = id.and_then(Id::from_json) else {
            return;
        };
        let modern = revision.filter(|it| it.is_modern() && from == Side::Server);
        let issuer = match modern {
            Some(_) => Side::Client,
            None => from,
        };
        let tracker = self.requests_from(issuer);
        let is_known = tracker.pending(&id).is_some()
            || tracker.finished(&id).is_some()
            || tracker.has_forgotten;
        if let Some(revision) = revision.filter(|_| !is_known) {
            let section = match revision.is_modern() {
                true => "basic/patterns/cancellation#behavior-requirements",
                false => "basic/utilities/cancellation#behavior-requirements",
            };
            let message = match modern {
                Some(_) => format!("no subscription has the id {id}"),
                None => format!("the {from} has sent no request with the id {id}"),
            };
            let path = "$.params.requestId";
            out.push(violation(revision, Rule::UnknownCancellation, path, message, section));
            return;
        }
        let Some(modern) = modern else {
            if let Some(revision) = revision.filter(|_| from == Side::Server) {
                self.check_finished_cancellation(revision, &id, out);
            }
            return self.requests_from(from).cancel(&id);
        };
        let revision = modern;
        // A modern server can only cancel subscriptions of the client.
        let request = self.client_requests.pending(&id);
        let other = request.is_some_and(|it| it.subscription.is_none() && it.copies == 0);
        let was_other = request.is_none()
            && !self.listens.contains(&id)
            && self.listens.len() < super::MAX_SUBSCRIPTIONS
            && !self.client_requests.has_forgotten;
        if other || was_other {
            out.push(violation(
                revision,
                Rule::InvalidSubscription,
                "$.params.requestId",
                format!("request {id} is not a subscription"),
                "basic/patterns/cancellation#behavior-requirements",
            ));
            return;
        }
        self.client_requests.cancel(&id);
    }

    /// Reports the cancellation of a request whose response the server has certainly
    /// received: it has answered a request that came after the response.
    fn check_finished_cancellation(&self, revision: Revision, id: &Id, out: &mut Vec<Violation>) {
        let is_answered = self.server_requests.finished(id) == Some(FinishedState::Answered);
        let answered = self.client_answers.get(id).filter(|_| is_answered);
        if answered.is_some_and(|before| self.client_requests.has_received(*before)) {
            let rule = Rule::FinishedCancellation;
            let message = format!("request {id} already has a response");
            let section = "basic/utilities/cancellation#behavior-requirements";
            out.push(violation(revision, rule, "$.params.requestId", message, section));
        }
    }

    /// Reports a change of a resource that the client has not subscribed to. The resource can
    /// be a part of a subscribed one.
    fn check_update(&self, revision: Revision, frame: &Frame, out: &mut Vec<Violation>) {
        let uri = frame.params().and_then(|it| it.get("uri")).and_then(Json::as_str);
        let Some(uri) = uri.filter(|_| self.subscribed.len() < super::MAX_SUBSCRIPTIONS) else {
            return;
        };
        let requests = &self.client_requests;
        let mut active = self
            .subscribed
            .iter()
            .filter(|(_, ended)| ended.is_none_or(|before| !requests.has_received(before)));
        if !active.any(|(subscribed, _)| is_part_of(&uri, subscribed)) {
            let rule = Rule::UnrequestedUpdate;
            let message = format!("the client has no subscription to {uri:?}");
            out.push(violation(revision, rule, "$.params.uri", message, rule.entry().section));
        }
    }

    /// Checks that an acknowledgment names only what was requested, and what the server
    /// declares.
    fn check_acknowledgment(
        &self,
        revision: Revision,
        frame: &Frame,
        id: &Id,
        out: &mut Vec<Violation>,
    ) {
        let pending = self.client_requests.pending(id).filter(|it| it.copies == 0);
        let requested = pending.and_then(|it| it.subscription.as_ref());
        let granted = frame.params().and_then(|it| it.get("notifications"));
        let (Some(requested), Some(granted)) = (requested, granted) else { return };
        let requested = requested.filter.view();
        for (key, value) in granted.members() {
            let name = key.name();
            let path = JsonPath::new("$.params.notifications").name(&name).to_string();
            let asked = requested.get(&name);
            let uris = |list: Option<Json<'_>>| -> Vec<String> {
                let items = list.unwrap_or(Json::EMPTY_OBJECT).items();
                items.filter_map(|it| it.as_str().map(Into::into)).collect()
            };
            let asked_uris = uris(asked);
            let other = uris(Some(value)).into_iter().find(|it| !asked_uris.contains(it));
            let wanted = asked.and_then(Json::as_bool) == Some(true);
            let unrequested = match (value.as_bool(), other) {
                (Some(true), _) if !wanted => Some(format!("the client did not request {name}")),
                (_, Some(uri)) => Some(format!("the client did not request {uri:?}")),
                _ => None,
            };
            if let Some(message) = unrequested {
                let rule = Rule::WrongAcknowledgment;
                out.push(violation(revision, rule, path, message, rule.entry().section));
                continue;
            }
            let grants = value.as_bool() == Some(true) || value.items().next().is_some();
            let declared = self.discovered_capabilities.as_ref();
            let capability = FILTER_CAPABILITIES.iter().find(|(known, _)| name == *known);
            if let (true, Some(declared), Some((_, capability))) = (grants, declared, capability)
                && !declares(declared.view(), capability)
            {
                let rule = Rule::UndeclaredSubscription;
                let message = format!("the server did not declare {capability}");
                out.push(violation(revision, rule, path, message, rule.entry().section));
            }
        }
    }

    fn check_progress(
        &mut self,
        revision: Option<Revision>,
        from: Side,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        let params = frame.params();
        let token = params.and_then(|it| it.get("progressToken"));
        let Some(token) = token.and_then(Id::from_json) else {
            return;
        };
        let value = params.and_then(|it| it.get("progress"));
        let value = value.and_then(Json::as_f64);
        let has_tasks = revision.filter(|it| Rule::WrongTaskStatus.applies_in(*it));
        if let Some(revision) = has_tasks.filter(|_| from == Side::Server) {
            self.check_task_progress(revision, &token, frame, out);
        }
        let invalid = self.requests_from(from.other()).check_progress(&token, value);
        let (Some(invalid), Some(revision)) = (invalid, revision) else {
            return;
        };
        let (path, message) = match invalid {
            ProgressViolation::Cancelled => {
                if revision.is_modern() {
                    out.push(super::late_message(revision, "$.params.progressToken", &token));
                }
                return;
            }
            ProgressViolation::UnknownToken => (
                "$.params.progressToken",
                format!("no pending request has the progress token {token}"),
            ),
            ProgressViolation::NotIncreasing(last) => (
                "$.params.progress",
                format!("progress must increase; the previous value was {last}"),
            ),
        };
        let section = progress_section(revision);
        out.push(violation(revision, Rule::InvalidProgress, path, message, section));
    }

    /// Remembers the id of an elicitation with a URL, from a request or from an error.
    pub(super) fn learn_elicitation(&mut self, params: Option<Json<'_>>) {
        let id = params.and_then(|it| it.get("elicitationId")).and_then(Json::as_str);
        if let Some(id) = id.filter(|id| self.remembers_elicitation(id)) {
            self.elicitations.insert(id.into_owned());
        }
    }

    fn remembers_elicitation(&self, id: &str) -> bool {
        can_keep(id) && self.elicitations.len() < MAX_ELICITATIONS
    }

    /// Checks that a complete elicitation is one that the server has requested.
    fn check_elicitation_complete(
        &self,
        revision: Revision,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        let id = frame.params().and_then(|it| it.get("elicitationId")).and_then(Json::as_str);
        let Some(id) = id.filter(|id| self.remembers_elicitation(id)) else { return };
        if !self.elicitations.contains(&*id) {
            let rule = Rule::UnknownElicitation;
            let message = format!("the server has requested no elicitation with the id {id:?}");
            let path = "$.params.elicitationId";
            out.push(violation(revision, rule, path, message, rule.entry().section));
        }
    }

    /// Checks that a notification of a subscription belongs to one that is open,
    /// acknowledged and has requested it.
    fn check_subscription(
        &mut self,
        revision: Revision,
        frame: &Frame,
        subscription: Option<Json<'_>>,
        out: &mut Vec<Violation>,
    ) {
        let method = frame.method().unwrap_or_default();
        let acknowledgment = method == "notifications/subscriptions/acknowledged";
        let filter_key = match method {
            "notifications/tools/list_changed" => "toolsListChanged",
            "notifications/prompts/list_changed" => "promptsListChanged",
            "notifications/resources/list_changed" => "resourcesListChanged",
            "notifications/resources/updated" => "resourceSubscriptions",
            _ if acknowledgment => "",
            "notifications/message" if subscription.is_some() => {
                let message = "a log message belongs to a request, not to a subscription";
                let path = format!("$.params._meta[\"{SUBSCRIPTION_KEY}\"]");
                let section = "server/utilities/logging#per-request-log-level";
                out.push(violation(revision, Rule::InvalidSubscription, path, message, section));
                return;
            }
            "notifications/progress" if subscription.is_some() => {
                let message = "progress belongs to a request, not to a subscription";
                let path = format!("$.params._meta[\"{SUBSCRIPTION_KEY}\"]");
                let rule = Rule::InvalidSubscription;
                out.push(violation(revision, rule, path, message, RECEIVING_SECTION));
                return;
            }
            _ => return,
        };
        let id = subscription.and_then(Id::from_json);
        let uri = frame.params().and_then(|it| it.get("uri")).and_then(Json::as_str);
        let message = match &id {
            None => Some(format!("{method} must name its subscription")),
            Some(id) => self.subscription_problem(id, filter_key, acknowledgment, uri.as_deref()),
        };
        if let Some(id) = id.as_ref().filter(|_| acknowledgment) {
            self.check_acknowledgment(revision, frame, id, out);
        }
        if let Some(message) = message {
            let path = format!("$.params._meta[\"{SUBSCRIPTION_KEY}\"]");
            let rule = Rule::InvalidSubscription;
            out.push(violation(revision, rule, path, message, RECEIVING_SECTION));
        }
        if let Some(subscription) =
            id.filter(|_| acknowledgment).and_then(|id| self.client_requests.subscription(&id))
        {
            subscription.acknowledged = true;
        }
    }

    fn subscription_problem(
        &self,
        id: &Id,
        filter_key: &str,
        acknowledgment: bool,
        uri: Option<&str>,
    ) -> Option<String> {
        let tracker = &self.client_requests;
        let Some(request) = tracker.pending(id) else {
            // Notifications sent before the cancellation arrived can still come.
            let late = matches!(tracker.finished(id), Some(FinishedState::Cancelled(_)))
                || tracker.has_forgotten;
            return (!late).then(|| format!("no open subscription has the id {id}"));
        };
        if request.copies > 0 {
            return None;
        }
        let Some(subscription) = &request.subscription else {
            return Some(format!("request {id} is not a subscription"));
        };
        if acknowledgment {
            return None;
        }
        if !subscription.acknowledged {
            return Some(format!("subscription {id} is not acknowledged yet"));
        }
        let filter = subscription.filter.view();
        let requested = filter.get(filter_key).unwrap_or(Json::EMPTY_OBJECT);
        if requested.as_bool() != Some(true) && requested.items().next().is_none() {
            return Some(format!("subscription {id} did not request {filter_key}"));
        }
        // The resource can be a part of a requested one.
        let is_covered = |uri: &str| {
            let mut uris = requested.items().filter_map(Json::as_str);
            uris.any(|it| is_part_of(uri, &it))
        };
        let uri = uri.filter(|it| filter_key == "resourceSubscriptions" && !is_covered(it))?;
        Some(format!("subscription {id} did not request {uri:?}"))
    }
}

/// Returns true if a URI is a subscribed one, or that of a part of its resource.
fn is_part_of(uri: &str, subscribed: &str) -> bool {
    let ends = ['/', '?', '#'];
    uri.strip_prefix(subscribed)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(ends) || subscribed.ends_with(ends))
}

/// Reports credentials and stack traces in a log message.
fn check_sensitive_log(revision: Revision, frame: &Frame, out: &mut Vec<Violation>) {
    let data = frame.params().and_then(|it| it.get("data"));
    if let Some(found) = data.and_then(sensitive::in_value) {
        let rule = Rule::SensitiveLog;
        let message = format!("the log message contains {found}");
        out.push(violation(revision, rule, "$.params.data", message, rule.entry().section));
    }
}

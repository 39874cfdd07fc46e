//! Checks notifications: initialization, cancellation, progress and subscriptions.

use super::request_tracker::{FinishedState, ProgressViolation};
use super::{ConnectionChecker, SUBSCRIPTION_KEY, progress_section, violation};
use crate::check::checker::Checker;
use crate::frame::Frame;
use crate::id::Id;
use crate::json::Json;
use crate::revision::{Revision, Side};
use crate::rule::Rule;
use crate::violation::Violation;

/// The maximum number of elicitations that are remembered.
const MAX_ELICITATIONS: usize = 1024;

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
            if from == Side::Server && method == "notifications/message" {
                match modern {
                    true => self.check_log_requested(revision, frame, &mut found),
                    false => self.check_log_level(revision, frame, &mut found),
                }
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
        let Some(revision) = modern else {
            return self.requests_from(from).cancel(&id);
        };
        // A modern server can only cancel subscriptions of the client.
        let request = self.client_requests.pending(&id);
        let other = request.filter(|it| it.subscription.is_none() && it.copies == 0);
        if other.is_some() {
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
        if let Some(id) = id.filter(|_| self.elicitations.len() < MAX_ELICITATIONS) {
            self.elicitations.insert(id.into_owned());
        }
    }

    /// Checks that a complete elicitation is one that the server has requested.
    fn check_elicitation_complete(
        &self,
        revision: Revision,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        let id = frame.params().and_then(|it| it.get("elicitationId")).and_then(Json::as_str);
        let Some(id) = id.filter(|_| self.elicitations.len() < MAX_ELICITATIONS) else { return };
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
            _ => return,
        };
        let id = subscription.and_then(Id::from_json);
        let message = match &id {
            None => Some(format!("{method} must name its subscription")),
            Some(id) => self.subscription_problem(id, filter_key, acknowledgment),
        };
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
        let requested = subscription
            .filter
            .view()
            .get(filter_key)
            .is_some_and(|it| it.as_bool() == Some(true) || it.items().next().is_some());
        (!requested).then(|| format!("subscription {id} did not request {filter_key}"))
    }
}

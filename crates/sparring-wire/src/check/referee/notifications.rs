//! Judges notifications in their place: readiness, cancellation, progress and
//! subscriptions.

use super::ledger::{Finished, ProgressFault};
use super::{Referee, SUBSCRIPTION, progress_section, violation};
use crate::check::checker::Checker;
use crate::frame::Frame;
use crate::id::Id;
use crate::json::Json;
use crate::revision::{Revision, Side};
use crate::violation::{Rule, Violation};

const RECEIVING: &str = "basic/patterns/subscriptions#receiving-notifications";

impl Referee {
    pub(super) fn notification(&mut self, from: Side, frame: &Frame) -> Vec<Violation> {
        let subscription = frame.params().and_then(|it| it.at(&["_meta", SUBSCRIPTION]));
        let revision = self.revision_of_notification(from, subscription.is_some());
        let mut found = match revision {
            Some(revision) => Checker::of(revision).check(frame, from, None),
            None => self.on_its_own(None, frame),
        };
        let method = frame.method().unwrap_or_default();
        if let Some(revision) = revision {
            if let Some(rule) = revision.notification(from, method) {
                self.undeclared_notification(revision, from, rule, &mut found);
            }
            let modern = revision.is_modern() && from == Side::Server;
            if modern && method == "notifications/message" {
                self.unwanted_log(revision, &mut found);
            }
            if modern {
                self.subscribed(revision, frame, subscription, &mut found);
            }
        }
        match method {
            "notifications/initialized" if from == Side::Client => {
                if let Some(session) = &mut self.session {
                    session.ready = true;
                }
            }
            "notifications/cancelled" => self.cancelled(revision, from, frame, &mut found),
            "notifications/progress" => self.progress(revision, from, frame, &mut found),
            _ => {}
        }
        found
    }

    /// By which revision a notification is to be judged, if that is certain.
    fn revision_of_notification(&self, from: Side, subscribed: bool) -> Option<Revision> {
        let session = self.session.as_ref().map(|session| session.revision);
        let modern = match from {
            Side::Client => self.modern.filter(|_| !self.shaking_hands),
            Side::Server => self.modern.filter(|_| self.server_is_modern),
        };
        match (session, modern) {
            (Some(_), Some(modern)) if subscribed => Some(modern),
            // A server of both eras may mean either.
            (Some(_), Some(_)) if from == Side::Server => None,
            (session, modern) => session.or(modern),
        }
    }

    fn cancelled(
        &mut self,
        revision: Option<Revision>,
        from: Side,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        let id = frame.params().and_then(|it| it.get("requestId"));
        let Some(id) = id.and_then(Id::read) else {
            return;
        };
        let Some(revision) = revision.filter(|it| it.is_modern() && from == Side::Server) else {
            return self.asked_by(from).cancel(&id);
        };
        // A modern server cancels nothing but subscriptions of the client.
        let request = self.asked_by_client.pending(&id);
        let other = request.filter(|it| it.subscription.is_none() && it.copies == 0);
        if other.is_some() {
            out.push(violation(
                revision,
                Rule::WrongSubscription,
                "$.params.requestId",
                format!("{id} is not the id of a subscription"),
                "basic/patterns/cancellation#behavior-requirements",
            ));
            return;
        }
        self.asked_by_client.cancel(&id);
    }

    fn progress(
        &mut self,
        revision: Option<Revision>,
        from: Side,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        let params = frame.params();
        let token = params.and_then(|it| it.get("progressToken"));
        let Some(token) = token.and_then(Id::read) else {
            return;
        };
        let value = params.and_then(|it| it.get("progress"));
        let value = value.and_then(Json::as_f64);
        let fault = self.asked_by(from.other()).progress(&token, value);
        let (Some(fault), Some(revision)) = (fault, revision) else {
            return;
        };
        let (path, message) = match fault {
            ProgressFault::UnknownToken => {
                ("$.params.progressToken", format!("{token} is the token of no request in flight"))
            }
            ProgressFault::NotIncreasing(last) => {
                ("$.params.progress", format!("progress must increase, and was {last} before"))
            }
        };
        let section = progress_section(revision);
        out.push(violation(revision, Rule::WrongProgress, path, message, section));
    }

    /// What a subscription brings belongs to one that is open, acknowledged,
    /// and asked for it.
    fn subscribed(
        &mut self,
        revision: Revision,
        frame: &Frame,
        subscription: Option<Json<'_>>,
        out: &mut Vec<Violation>,
    ) {
        let method = frame.method().unwrap_or_default();
        let acknowledgment = method == "notifications/subscriptions/acknowledged";
        let wanted = match method {
            "notifications/tools/list_changed" => "toolsListChanged",
            "notifications/prompts/list_changed" => "promptsListChanged",
            "notifications/resources/list_changed" => "resourcesListChanged",
            "notifications/resources/updated" => "resourceSubscriptions",
            _ if acknowledgment => "",
            _ => return,
        };
        let id = subscription.and_then(Id::read);
        let message = match &id {
            None => Some(format!("{method} names its subscription")),
            Some(id) => self.subscription_fault(id, wanted, acknowledgment),
        };
        if let Some(message) = message {
            let path = format!("$.params._meta[\"{SUBSCRIPTION}\"]");
            let rule = Rule::WrongSubscription;
            out.push(violation(revision, rule, path, message, RECEIVING));
        }
        if let Some(subscription) =
            id.filter(|_| acknowledgment).and_then(|id| self.asked_by_client.subscription(&id))
        {
            subscription.acknowledged = true;
        }
    }

    fn subscription_fault(&self, id: &Id, wanted: &str, acknowledgment: bool) -> Option<String> {
        let ledger = &self.asked_by_client;
        let Some(request) = ledger.pending(id) else {
            // What was on its way when the client cancelled may still come.
            let late = ledger.finished(id) == Some(Finished::Cancelled) || ledger.blind;
            return (!late).then(|| format!("{id} is the id of no open subscription"));
        };
        if request.copies > 0 {
            return None;
        }
        let Some(subscription) = &request.subscription else {
            return Some(format!("{id} is not the id of a subscription"));
        };
        if acknowledgment {
            return None;
        }
        if !subscription.acknowledged {
            return Some(format!("subscription {id} is not acknowledged yet"));
        }
        let asked = subscription
            .filter
            .view()
            .get(wanted)
            .is_some_and(|it| it.as_bool() == Some(true) || it.items().next().is_some());
        (!asked).then(|| format!("subscription {id} did not ask for {wanted}"))
    }
}

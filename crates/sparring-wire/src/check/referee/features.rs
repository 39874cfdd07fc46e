//! What each side has declared, and what is used without it.

use super::{LOG_LEVEL, Referee, violation};
use crate::check::notation::Shapes;
use crate::frame::Frame;
use crate::json::Json;
use crate::revision::{NotificationRule, Revision, Side};
use crate::violation::{Rule, Violation};

const NEGOTIATION: &str = "basic/lifecycle#capability-negotiation";

impl Referee {
    /// A request for something the other side of a session has not declared.
    pub(super) fn undeclared_request(
        &self,
        revision: Revision,
        from: Side,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        let method = frame.method().unwrap_or_default();
        let Some(session) = self.session.as_ref().filter(|_| !revision.is_modern()) else {
            return;
        };
        let Some(rule) = revision.request(from, method) else {
            return;
        };
        let declared = match from {
            Side::Client => &session.server,
            Side::Server => &session.client,
        };
        // Capabilities that could not be read are no reason to accuse others.
        let Some(declared) = declared.as_ref().map(|it| it.view()) else {
            return;
        };
        let lacking = match from {
            Side::Client => rule.capability.filter(|it| !declares(declared, it)),
            Side::Server => lacking(revision, declared, method, frame.params()),
        };
        if let Some(capability) = lacking {
            let message = format!("the {} has not declared {capability}", from.other());
            out.push(violation(revision, Rule::Undeclared, "$.method", message, NEGOTIATION));
        }
    }

    /// A notification about something its own sender has not declared.
    pub(super) fn undeclared_notification(
        &self,
        revision: Revision,
        from: Side,
        rule: &NotificationRule,
        out: &mut Vec<Violation>,
    ) {
        let declared = match (revision.is_modern(), from, &self.session) {
            (true, Side::Server, _) => self.discovered.as_ref(),
            (true, Side::Client, _) | (false, _, None) => None,
            (false, Side::Server, Some(session)) => session.server.as_ref(),
            (false, Side::Client, Some(session)) => session.client.as_ref(),
        };
        let (Some(declared), Some(capability)) = (declared, rule.capability) else {
            return;
        };
        if !declares(declared.view(), capability) {
            let message = format!("the {from} has not declared {capability}");
            out.push(violation(revision, Rule::Undeclared, "$.method", message, rule.section));
        }
    }

    /// A modern server logs only for requests that ask for it.
    pub(super) fn unwanted_log(&self, revision: Revision, out: &mut Vec<Violation>) {
        let asked = &self.asked_by_client;
        let wanted = asked.all_pending().any(|it| it.wants_logs || it.copies > 0);
        if !wanted && !asked.late_logs && !asked.blind {
            let message = format!("no request in flight has {LOG_LEVEL}");
            out.push(violation(
                revision,
                Rule::Undeclared,
                "$.method",
                message,
                "server/utilities/logging#per-request-log-level",
            ));
        }
    }
}

/// Requests for input that the client has not declared, with their key.
pub(super) fn lacking_inputs(
    revision: Revision,
    declared: Json<'_>,
    result: Json<'_>,
) -> Vec<(String, &'static str)> {
    let requests = result.get("inputRequests").unwrap_or(Json::EMPTY_OBJECT).members();
    let lacking = requests.filter_map(|(key, request)| {
        let method = request.get("method")?.as_str()?;
        let capability = lacking(revision, declared, &method, request.get("params"))?;
        Some((key.name().into_owned(), capability))
    });
    lacking.collect()
}

/// The capability that a client lacks for what the server asks, if any.
fn lacking(
    revision: Revision,
    declared: Json<'_>,
    method: &str,
    params: Option<Json<'_>>,
) -> Option<&'static str> {
    let rules = revision.rules();
    let asks_with = |name| params.is_some_and(|params| params.get(name).is_some());
    let mode = params.and_then(|params| params.get("mode")).and_then(Json::as_str);
    match method {
        "sampling/createMessage" => {
            let has_tools = rules.sampling_content_kinds.contains(&"tool_use");
            if !declares(declared, "sampling") {
                return Some("sampling");
            }
            (has_tools && asks_with("tools") && !declares(declared, "sampling.tools"))
                .then_some("sampling.tools")
        }
        "elicitation/create" => {
            if !declares(declared, "elicitation") {
                return Some("elicitation");
            }
            let has_modes = Shapes::of(revision).named("ElicitRequestURLParams").is_some();
            let url = declares(declared, "elicitation.url");
            match mode.as_deref() {
                _ if !has_modes => None,
                Some("url") => (!url).then_some("elicitation.url"),
                // Without any mode, form is meant.
                _ => (url && !declares(declared, "elicitation.form")).then_some("elicitation.form"),
            }
        }
        "roots/list" => (!declares(declared, "roots")).then_some("roots"),
        other => {
            let rule = revision.request(Side::Server, other)?;
            rule.capability.filter(|it| !declares(declared, it))
        }
    }
}

/// Whether capabilities have one, given with dots between its levels.
fn declares(capabilities: Json<'_>, dotted: &str) -> bool {
    let mut names = dotted.split('.');
    let found = names.try_fold(capabilities, |json, name| json.get(name));
    found.is_some_and(|it| it.is_object() || it.as_bool() == Some(true))
}

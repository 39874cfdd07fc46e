//! Checks that a connection uses only declared capabilities.

use super::request_tracker::LogLevel;
use super::{ConnectionChecker, LOG_LEVEL_KEY, violation};
use crate::check::shape_parser::TypeShapes;
use crate::frame::Frame;
use crate::json::Json;
use crate::revision::{NotificationDefinition, Revision, Side};
use crate::rule::Rule;
use crate::violation::Violation;

const NEGOTIATION_SECTION: &str = "basic/lifecycle#capability-negotiation";

impl ConnectionChecker {
    /// Reports a request for a feature that the other side has not declared.
    pub(super) fn check_request_capability(
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
        let Some(definition) = revision.request(from, method) else {
            return;
        };
        let declared = match from {
            Side::Client => &session.server_capabilities,
            Side::Server => &session.client_capabilities,
        };
        // Unreadable capabilities make the check uncertain.
        let Some(declared) = declared.as_ref().map(|it| it.view()) else {
            return;
        };
        let missing = match from {
            Side::Client => definition.capability.filter(|it| !declares(declared, it)),
            Side::Server => missing_capability(revision, declared, method, frame.params()),
        };
        if let Some(capability) = missing {
            let message = format!("the {} did not declare {capability}", from.other());
            // Up to 2025-03-26, both sides only should keep to the negotiated capabilities.
            let (rule, section) = match Rule::NotNegotiated.applies_in(revision) {
                true => (Rule::NotNegotiated, Rule::NotNegotiated.entry().section),
                false => (Rule::Undeclared, NEGOTIATION_SECTION),
            };
            out.push(violation(revision, rule, "$.method", message, section));
        }
    }

    /// Reports a notification about a feature that its sender has not declared.
    pub(super) fn check_notification_capability(
        &self,
        revision: Revision,
        from: Side,
        definition: &NotificationDefinition,
        out: &mut Vec<Violation>,
    ) {
        let declared = match (revision.is_modern(), from, &self.session) {
            (true, Side::Server, _) => self.discovered_capabilities.as_ref(),
            (true, Side::Client, _) | (false, _, None) => None,
            (false, Side::Server, Some(session)) => session.server_capabilities.as_ref(),
            (false, Side::Client, Some(session)) => session.client_capabilities.as_ref(),
        };
        let (Some(declared), Some(capability)) = (declared, definition.capability) else {
            return;
        };
        if !declares(declared.view(), capability) {
            let message = format!("the {from} did not declare {capability}");
            // A server must declare `logging` and the features with lists in all revisions. Up
            // to 2025-03-26, it only should keep to `subscribe` and `listChanged` of a feature.
            let feature = capability.split_once('.').map(|(feature, _)| feature);
            let is_negotiated_only = feature.is_some_and(|it| declares(declared.view(), it))
                && Rule::NotNegotiated.applies_in(revision);
            let (rule, section) = match is_negotiated_only {
                true => (Rule::NotNegotiated, Rule::NotNegotiated.entry().section),
                false => (Rule::Undeclared, definition.section),
            };
            out.push(violation(revision, rule, "$.method", message, section));
        }
    }

    /// Reports a log message of a modern server if no pending request asks for it, or for
    /// its level.
    pub(super) fn check_log_requested(
        &self,
        revision: Revision,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        let requests = &self.client_requests;
        if requests.allows_late_logs || requests.has_forgotten {
            return;
        }
        if requests.all_pending().any(|it| it.copies > 0) {
            return;
        }
        let section = "server/utilities/logging#per-request-log-level";
        let Some(lowest) = requests.all_pending().filter_map(|it| it.log_level).min() else {
            let message =
                format!("a log message, but no pending request has a level in {LOG_LEVEL_KEY}");
            out.push(violation(revision, Rule::Undeclared, "$.method", message, section));
            return;
        };
        report_low_level(revision, frame, lowest, Rule::LogBelowLevel, out);
    }

    /// Reports a log message of a legacy server below the level that the client has set.
    /// Messages can be on their way until the client has sent its next request.
    pub(super) fn check_log_level(
        &self,
        revision: Revision,
        frame: &Frame,
        out: &mut Vec<Violation>,
    ) {
        let requests = &self.client_requests;
        let Some((level, _)) = self.log_level.filter(|(_, since)| requests.next_number > *since)
        else {
            return;
        };
        let pending = requests.all_pending().filter_map(|it| it.log_level);
        let lowest = pending.fold(level, LogLevel::min);
        report_low_level(revision, frame, lowest, Rule::LogBelowSetLevel, out);
    }
}

fn report_low_level(
    revision: Revision,
    frame: &Frame,
    lowest: LogLevel,
    rule: Rule,
    out: &mut Vec<Violation>,
) {
    let level = frame.params().and_then(|it| it.get("level")).and_then(Json::as_str);
    let Some(level) = level.and_then(|it| LogLevel::from_name(&it)) else { return };
    if level < lowest {
        let message = format!(
            "the message has the level {}, below the requested level {}",
            level.name(),
            lowest.name()
        );
        let section = rule.entry().section;
        out.push(violation(revision, rule, "$.params.level", message, section));
    }
}

/// Returns the keys of input requests that need an undeclared capability, with that
/// capability.
pub(super) fn undeclared_inputs(
    revision: Revision,
    declared: Json<'_>,
    result: Json<'_>,
) -> Vec<(String, &'static str)> {
    let requests = result.get("inputRequests").unwrap_or(Json::EMPTY_OBJECT).members();
    let undeclared = requests.filter_map(|(key, request)| {
        let method = request.get("method")?.as_str()?;
        let capability = missing_capability(revision, declared, &method, request.get("params"))?;
        Some((key.name().into_owned(), capability))
    });
    undeclared.collect()
}

/// Returns the capability that the client would need for a request of the server and
/// has not declared.
fn missing_capability(
    revision: Revision,
    declared: Json<'_>,
    method: &str,
    params: Option<Json<'_>>,
) -> Option<&'static str> {
    let rules = revision.definition();
    let has_param = |name| params.is_some_and(|params| params.get(name).is_some());
    let mode = params.and_then(|params| params.get("mode")).and_then(Json::as_str);
    match method {
        "sampling/createMessage" => {
            let has_tools = rules.sampling_content_kinds.contains(&"tool_use");
            if !declares(declared, "sampling") {
                return Some("sampling");
            }
            let uses_tools = has_param("tools") || has_param("toolChoice");
            (has_tools && uses_tools && !declares(declared, "sampling.tools"))
                .then_some("sampling.tools")
        }
        "elicitation/create" => {
            if !declares(declared, "elicitation") {
                return Some("elicitation");
            }
            let has_modes =
                TypeShapes::for_revision(revision).get("ElicitRequestURLParams").is_some();
            let url = declares(declared, "elicitation.url");
            match mode.as_deref() {
                _ if !has_modes => None,
                Some("url") => (!url).then_some("elicitation.url"),
                // The default mode is form.
                _ => (url && !declares(declared, "elicitation.form")).then_some("elicitation.form"),
            }
        }
        "roots/list" => (!declares(declared, "roots")).then_some("roots"),
        other => {
            let definition = revision.request(Side::Server, other)?;
            definition.capability.filter(|it| !declares(declared, it))
        }
    }
}

/// Returns true if a capability is declared, by its dotted name.
pub(super) fn declares(capabilities: Json<'_>, dotted: &str) -> bool {
    let mut names = dotted.split('.');
    let found = names.try_fold(capabilities, |json, name| json.get(name));
    found.is_some_and(|it| it.is_object() || it.as_bool() == Some(true))
}

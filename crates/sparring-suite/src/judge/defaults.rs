//! The default checks of every step: no broken `must` of the protocol, no `isError`, a result that
//! conforms to the tool's output schema, a listed tool, an `answer` for each request of
//! the server, and a result instead of an error. A step can expect the opposite of each.

use serde_json::Value;
use sparring_script::{Scope, Span};
use sparring_wire::{Rule, RuleLevel};

use super::value::short;
use crate::event::{Failure, Note};
use crate::model::{Aspect, Collection, Items, MatcherTemplate, Step};
use crate::step_result::{StepResult, violation_lines};

pub(super) fn check(
    step: &Step,
    result: &StepResult,
    scope: &dyn Scope,
    strict: bool,
) -> Vec<Failure> {
    let expect = &step.expect;
    let mut failures = Vec::new();
    if let Some(error) = result.answer.error().filter(|_| !expect.checks_aspect(Aspect::Error)) {
        failures.push(Failure::new(step.span, no_result(error)));
    }
    if step.cancel.is_some() && result.answer.result().is_some() {
        let message = "nothing to cancel: the answer came first";
        failures.push(Failure::new(step.span, message));
    }
    if result.answer.is_error() && !expect.checks_aspect(Aspect::IsError) {
        let text = short(&Value::from(result.answer.text()));
        failures.push(Failure::new(step.span, format!("tool returned isError: {text}")));
    }
    if let Some(reason) = &result.unchecked {
        let message = format!("the result was not checked against the output schema: {reason}");
        failures.push(Failure::new(step.span, message));
    }
    failures.extend(dropped_messages(step, result).map(|it| Failure::new(step.span, it)));
    let unexpected = unexpected(step, result, scope).filter(|it| strict || !is_warning(it));
    failures.extend(violation_failures(step.span, unexpected));
    failures
}

/// Returns the violations of rules that are only recommendations, as notes.
pub(super) fn warnings(step: &Step, result: &StepResult, scope: &dyn Scope) -> Vec<Note> {
    let warnings = unexpected(step, result, scope).filter(|it| is_warning(it));
    let notes = violation_lines(warnings).into_iter();
    notes.map(|message| Note { span: step.span, message }).collect()
}

/// Returns one failure for each different violation, with the number of its repetitions.
pub(crate) fn violation_failures<'a>(
    span: Span,
    violations: impl Iterator<Item = &'a Value>,
) -> Vec<Failure> {
    violation_lines(violations).into_iter().map(|it| Failure::new(span, it)).collect()
}

/// Returns the violations that no expectation of the step covers.
fn unexpected<'r>(
    step: &Step,
    result: &'r StepResult,
    scope: &dyn Scope,
) -> impl Iterator<Item = &'r Value> {
    result.violations.iter().filter(move |it| !is_expected(it, step, result, scope))
}

/// Returns true if a violation is only a warning.
fn is_warning(violation: &Value) -> bool {
    violation["level"] != RuleLevel::Must.name()
}

/// Describes messages of the server that were too many to keep, if the step must check them.
fn dropped_messages(step: &Step, result: &StepResult) -> Option<String> {
    let checks_frames = [Collection::Frames, Collection::Notifications]
        .into_iter()
        .any(|collection| step.expect.checks_items(collection));
    let (what, dropped) = match (result.dropped_requests, result.dropped_frames) {
        (requests @ 1.., _) => ("requests of the server", requests),
        (0, frames @ 1..) if checks_frames => ("frames of the server", frames),
        _ if result.dropped_violations > 0 => ("violations", result.dropped_violations),
        _ => return None,
    };
    Some(format!("{dropped} {what} were not checked: the step has too many of them"))
}

/// Returns true if an expectation of the step covers a violation.
fn is_expected(violation: &Value, step: &Step, result: &StepResult, scope: &dyn Scope) -> bool {
    let expect = &step.expect;
    if expect.items(Collection::Violations).any(|items| covers(items, violation, scope)) {
        return true;
    }
    match violation["rule"].as_str().and_then(Rule::from_id) {
        Some(Rule::UnlistedTool) => {
            expect.checks_aspect(Aspect::Error) || expect.checks_aspect(Aspect::IsError)
        }
        // In revisions that make it an error, the error is reported instead.
        Some(Rule::Unanswered) => {
            let kind = result.answer.error().and_then(|error| error["kind"].as_str());
            expect.checks_items(Collection::Requests) || kind == Some("unanswered")
        }
        _ => false,
    }
}

/// Returns true if `count` counts the violation, or if a matcher of `has` or `lacks` matches
/// it. The check of `lacks` reports such a violation itself.
fn covers(items: &Items, violation: &Value, scope: &dyn Scope) -> bool {
    let matches = |it: &MatcherTemplate| {
        it.check(Some(violation), scope).is_ok_and(|mismatches| mismatches.is_empty())
    };
    let counts_all = items.count.is_some() && items.has.is_empty();
    counts_all || items.has.iter().chain(&items.lacks).any(matches)
}

fn no_result(error: &Value) -> String {
    let message = error["message"].as_str().unwrap_or_default();
    match error.get("code") {
        Some(code) => format!("the server returned an error: {message} ({code})"),
        None => message.to_owned(),
    }
}

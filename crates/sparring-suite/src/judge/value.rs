//! Expectations of one value: an aspect of the answer, the HTTP response, or a text.

use serde_json::Value;
use sparring_script::{Mismatch, Problem, Scope, Span};

use crate::event::Failure;
use crate::model::{Aspect, Expectation, MatcherTemplate};
use crate::step_result::{REFUSED, StepResult};

/// The maximum number of characters of a value in a message.
const MAX_SHOWN_CHARS: usize = 200;

pub(super) fn check(
    aspect: Aspect,
    matcher: &MatcherTemplate,
    span: Span,
    result: &StepResult,
    scope: &dyn Scope,
) -> Vec<Failure> {
    if aspect == Aspect::Error && result.answer.error().is_none() {
        let found = result.answer.result().map(short).unwrap_or("a list".to_owned());
        return vec![Failure::new(span, format!("expected an error, found the result {found}"))];
    }
    match result.answer.aspect(aspect) {
        Ok(value) => {
            let failures = check_value(aspect.key(), matcher, value.as_ref(), scope);
            match result.answer.error() {
                Some(error) => unnamed_error(failures, matcher, error),
                None => failures,
            }
        }
        Err(message) => {
            let found = short(&Value::from(result.answer.text()));
            vec![Failure::new(matcher.span(), format!("{message}: {found}"))]
        }
    }
}

/// Replaces the mismatches of an error that the server did not send, and whose `kind` the step
/// does not expect, by one failure.
fn unnamed_error(failures: Vec<Failure>, matcher: &MatcherTemplate, error: &Value) -> Vec<Failure> {
    let text = |key: &str| error[key].as_str().unwrap_or_default();
    let (kind, message) = (text("kind"), text("message"));
    let is_implied =
        |it: &Failure| it.span == matcher.span() && it.message.starts_with("error.kind:");
    if kind == REFUSED || !failures.iter().any(is_implied) {
        return failures;
    }
    let message = format!(
        "expected an error that the server sent, found an error of `kind: {kind}`: {message}"
    );
    vec![Failure::new(matcher.span(), message)]
}

/// Checks the status or the headers of the HTTP response.
pub(super) fn check_response(
    expectation: &Expectation,
    matcher: &MatcherTemplate,
    span: Span,
    result: &StepResult,
    scope: &dyn Scope,
) -> Vec<Failure> {
    let is_status = matches!(expectation, Expectation::Status(_));
    let name = if is_status { "status" } else { "headers" };
    match &result.response {
        Some(response) => {
            let value = if is_status { &response.status } else { &response.headers };
            check_value(name, matcher, Some(value), scope)
        }
        None => {
            let why = match result.over_http {
                true => "the server sent no HTTP response",
                false => "the connection does not use HTTP",
            };
            vec![Failure::new(span, format!("no {name}: {why}"))]
        }
    }
}

/// Checks a text that is not part of an answer.
pub(super) fn check_text(
    name: &str,
    matcher: &MatcherTemplate,
    text: &str,
    scope: &dyn Scope,
) -> Vec<Failure> {
    check_value(name, matcher, Some(&Value::from(text)), scope)
}

/// Checks a value against a matcher; `name` names the value in messages.
pub(super) fn check_value(
    name: &str,
    matcher: &MatcherTemplate,
    value: Option<&Value>,
    scope: &dyn Scope,
) -> Vec<Failure> {
    match matcher.check(value, scope) {
        Ok(mismatches) => mismatches
            .into_iter()
            .map(|it| Failure {
                span: it.span,
                message: prefix(name, &it.mismatch),
                diff: it.mismatch.diff,
            })
            .collect(),
        Err(problem) => vec![invalid_matcher(problem)],
    }
}

/// A failure for a matcher that is invalid once its templates are rendered.
pub(super) fn invalid_matcher(problem: Problem) -> Failure {
    Failure::new(problem.span, problem.message)
}

fn prefix(name: &str, mismatch: &Mismatch) -> String {
    let dot = if mismatch.path.is_empty() || mismatch.path.starts_with('[') { "" } else { "." };
    format!("{name}{dot}{}: {}", mismatch.path, mismatch.message)
}

/// A value in one line, cut if it is long.
pub(super) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

//! Expectations of a part of the answer.

use serde_json::Value;
use sparring_script::{Mismatch, Problem, Scope, Span};

use crate::event::Failure;
use crate::model::{Aspect, Facet, Pattern};
use crate::run::Heard;

/// How much of a text is shown that should be something else.
const SHOWN: usize = 200;

pub(super) fn check(
    aspect: Aspect,
    pattern: &Pattern,
    span: Span,
    heard: &Heard,
    scope: &dyn Scope,
) -> Vec<Failure> {
    if aspect == Aspect::Error && heard.answer.error().is_none() {
        let result = heard.answer.result().map(short).unwrap_or("a list".to_owned());
        return vec![Failure::new(span, format!("expected an error, found the result {result}"))];
    }
    match heard.answer.aspect(aspect) {
        Ok(value) => held(aspect.key(), pattern, value.as_ref(), scope),
        Err(message) => {
            let found = short(&Value::from(heard.answer.text()));
            vec![Failure::new(pattern.span(), format!("{message}: {found}"))]
        }
    }
}

/// An expectation of what stood around an answer over HTTP.
pub(super) fn of_response(
    facet: &Facet,
    pattern: &Pattern,
    span: Span,
    heard: &Heard,
    scope: &dyn Scope,
) -> Vec<Failure> {
    let is_status = matches!(facet, Facet::Status(_));
    let (name, verb) = if is_status { ("status", "is") } else { ("headers", "are") };
    match &heard.response {
        Some(response) => {
            let value = if is_status { &response.status } else { &response.headers };
            held(name, pattern, Some(value), scope)
        }
        None => {
            let why = match heard.over_http {
                true => "nothing was answered over HTTP",
                false => "the server is not talked to over HTTP here",
            };
            vec![Failure::new(span, format!("there {verb} no {name}: {why}"))]
        }
    }
}

/// An expectation of a text that is no part of an answer.
pub(super) fn text(name: &str, pattern: &Pattern, text: &str, scope: &dyn Scope) -> Vec<Failure> {
    held(name, pattern, Some(&Value::from(text)), scope)
}

/// Holds a value against a pattern; `name` is what it is called.
pub(super) fn held(
    name: &str,
    pattern: &Pattern,
    value: Option<&Value>,
    scope: &dyn Scope,
) -> Vec<Failure> {
    match pattern.check(value, scope) {
        Ok(unfit) => unfit
            .into_iter()
            .map(|it| Failure {
                span: it.span,
                message: named(name, &it.mismatch),
                diff: it.mismatch.diff,
            })
            .collect(),
        Err(problem) => vec![unreadable(problem)],
    }
}

/// What fills the holes of a pattern makes no sense.
pub(super) fn unreadable(problem: Problem) -> Failure {
    Failure::new(problem.span, problem.message)
}

fn named(name: &str, mismatch: &Mismatch) -> String {
    let dot = if mismatch.path.is_empty() || mismatch.path.starts_with('[') { "" } else { "." };
    format!("{name}{dot}{}: {}", mismatch.path, mismatch.message)
}

/// A value in one line that is not too long.
pub(super) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

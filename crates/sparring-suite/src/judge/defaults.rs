//! The rules that are on without a key: a breach of the protocol, `isError`, a
//! result that breaks the tool's own output schema or cannot be checked against it, a
//! tool that is not listed, a
//! question that no `answer` covers, and no result at all. Each fails a step
//! that does not expect it.

use serde_json::Value;
use sparring_script::Scope;

use super::value::short;
use crate::event::Failure;
use crate::model::{Aspect, Collection, Items, Pattern, Step};
use crate::run::Heard;

pub(super) fn check(step: &Step, heard: &Heard, scope: &dyn Scope) -> Vec<Failure> {
    let expect = &step.expect;
    let mut failures = Vec::new();
    if let Some(error) = heard.answer.error().filter(|_| !expect.looks_at(Aspect::Error)) {
        failures.push(Failure::new(step.span, no_result(error)));
    }
    if step.cancel.is_some() && heard.answer.result().is_some() {
        let message = "there was nothing to cancel: the answer came before";
        failures.push(Failure::new(step.span, message));
    }
    if heard.answer.is_error() && !expect.looks_at(Aspect::IsError) {
        let said = short(&Value::from(heard.answer.text()));
        failures.push(Failure::new(step.span, format!("the tool says that it failed: {said}")));
    }
    if let Some(reason) = &heard.unchecked {
        let message = format!("the result was not checked against the output schema: {reason}");
        failures.push(Failure::new(step.span, message));
    }
    let unexpected = heard.violations.iter().filter(|it| !is_expected(it, step, heard, scope));
    failures.extend(unexpected.map(|it| Failure::new(step.span, breach(it))));
    failures
}

/// Whether what else is expected says that this breach is.
fn is_expected(violation: &Value, step: &Step, heard: &Heard, scope: &dyn Scope) -> bool {
    let expect = &step.expect;
    if expect.items(Collection::Violations).any(|items| covers(items, violation, scope)) {
        return true;
    }
    match violation["rule"].as_str().unwrap_or_default() {
        "unlisted-tool" => expect.looks_at(Aspect::Error) || expect.looks_at(Aspect::IsError),
        // Where the revision makes it an error, it is told as one.
        "unanswered" => {
            let kind = heard.answer.error().and_then(|error| error["kind"].as_str());
            expect.counts(Collection::Requests) || kind == Some("unanswered")
        }
        _ => false,
    }
}

/// Whether a breach is one of those that are counted or named. One that must
/// not be there is told where that is said.
fn covers(items: &Items, violation: &Value, scope: &dyn Scope) -> bool {
    let fits = |it: &Pattern| it.check(Some(violation), scope).is_ok_and(|unfit| unfit.is_empty());
    items.count.is_some() || items.has.iter().chain(&items.lacks).any(fits)
}

fn no_result(error: &Value) -> String {
    let message = error["message"].as_str().unwrap_or_default();
    match error.get("code") {
        Some(code) => format!("the server answered with an error: {message} ({code})"),
        None => message.to_owned(),
    }
}

/// A breach of the protocol in a line.
pub(crate) fn breach(violation: &Value) -> String {
    let text = |key: &str| violation[key].as_str().unwrap_or_default();
    let (rule, path, message) = (text("rule"), text("path"), text("message"));
    let place = if path == "$" { String::new() } else { format!(" at {path}") };
    let section = match text("section") {
        "" => String::new(),
        section => format!(" ({section})"),
    };
    format!("{rule}{place}: {message}{section}")
}

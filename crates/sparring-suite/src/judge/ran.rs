//! Expectations of an agent that ran to its end.

use serde_json::Value;
use sparring_script::{Scope, did_you_mean};

use super::value::{held, text};
use crate::event::Failure;
use crate::model::{Facet, FileExpect, Step};
use crate::run::{Found, Look, Ran};

/// One that did not end well, where nothing is said about its end.
pub(super) fn ended_badly(step: &Step, ran: &Ran) -> Option<Failure> {
    let expected = step.expect.0.iter().any(|(_, facet)| matches!(facet, Facet::Exit(_)));
    let bad = ran.ended.status != Some(0) && !expected;
    let told = ran.ended.told.strip_prefix("it ").unwrap_or(&ran.ended.told);
    bad.then(|| Failure::new(step.span, format!("the agent {told}")))
}

/// An expectation that only agents meet.
pub(super) fn check(facet: &Facet, ran: &Ran, scope: &dyn Scope) -> Vec<Failure> {
    match facet {
        Facet::Exit(pattern) => held("exit", pattern, Some(&ran.exit()), scope),
        Facet::Stdout(pattern) => text("stdout", pattern, &ran.stdout, scope),
        Facet::Files(wanted) => files(wanted, &ran.files, scope),
        _ => Vec::new(),
    }
}

/// The files of all expectations of them, in their order.
fn files(wanted: &[FileExpect], looks: &[Look], scope: &dyn Scope) -> Vec<Failure> {
    let pairs = wanted.iter().zip(looks);
    pairs.flat_map(|(wanted, look)| of_one(wanted, look, scope)).collect()
}

fn of_one(wanted: &FileExpect, look: &Look, scope: &dyn Scope) -> Vec<Failure> {
    let name = &wanted.name;
    let fail = |message: String| vec![Failure::new(wanted.span, message)];
    if let Some(trouble) = &look.trouble {
        return fail(format!("the folder cannot be looked through: {trouble}"));
    }
    if wanted.exists == Some(false) {
        let found = look.found.first();
        return found.map(|it| fail(format!("`{}` is there", it.path))).unwrap_or_default();
    }
    let mut failures = match &wanted.count {
        Some(count) => {
            let counted = format!("the count of files `{name}`");
            held(&counted, count, Some(&Value::from(look.found.len())), scope)
        }
        None if look.found.is_empty() => {
            fail(format!("there is no `{name}`{}", others(name, look)))
        }
        None => Vec::new(),
    };
    for found in &look.found {
        failures.extend(contents(wanted, found, scope));
    }
    failures
}

fn contents(wanted: &FileExpect, found: &Found, scope: &dyn Scope) -> Vec<Failure> {
    let path = &found.path;
    let mut failures = match &wanted.size {
        Some(size) => held(&format!("the size of `{path}`"), size, Some(&found.size.into()), scope),
        None => Vec::new(),
    };
    for ((reading, pattern), content) in wanted.contents.iter().zip(&found.contents) {
        match content {
            Ok(value) => {
                let name = format!("`{path}` as {}", reading.key());
                failures.extend(held(&name, pattern, Some(value), scope));
            }
            Err(why) => failures.push(Failure::new(pattern.span(), format!("`{path}`: {why}"))),
        }
    }
    failures
}

/// What is there instead.
fn others(name: &str, look: &Look) -> String {
    if look.others.is_empty() {
        return "; no file is there".to_owned();
    }
    match did_you_mean(name, look.others.iter().map(String::as_str)) {
        Some(meant) => format!("; {meant}"),
        None => format!("; there is {}", look.others.join(", ")),
    }
}

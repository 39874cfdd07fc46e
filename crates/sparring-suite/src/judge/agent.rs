//! Expectations of an agent: its exit status, its output and its files.

use serde_json::Value;
use sparring_script::{Scope, did_you_mean};

use super::value::{check_text, check_value};
use crate::event::Failure;
use crate::model::{Expectation, FileExpectation, Step};
use crate::step_result::{AgentResult, FileMatches, FoundFile};

/// A failure if the agent did not exit with 0 and the step expects no exit status.
pub(super) fn check_exit(step: &Step, agent: &AgentResult) -> Option<Failure> {
    let expected =
        step.expect.0.iter().any(|(_, expectation)| matches!(expectation, Expectation::Exit(_)));
    let failed = agent.ended.status != Some(0) && !expected;
    let how = agent.ended.description.strip_prefix("it ").unwrap_or(&agent.ended.description);
    failed.then(|| Failure::new(step.span, format!("the agent {how}")))
}

/// Checks an expectation that only agents can have.
pub(super) fn check(
    expectation: &Expectation,
    agent: &AgentResult,
    scope: &dyn Scope,
) -> Vec<Failure> {
    match expectation {
        Expectation::Exit(matcher) => check_value("exit", matcher, Some(&agent.exit()), scope),
        Expectation::Stdout(matcher) => check_text("stdout", matcher, &agent.stdout, scope),
        Expectation::Files(wanted) => check_files(wanted, &agent.files, scope),
        _ => Vec::new(),
    }
}

/// Checks all file expectations in their order.
fn check_files(
    wanted: &[FileExpectation],
    matches: &[FileMatches],
    scope: &dyn Scope,
) -> Vec<Failure> {
    let pairs = wanted.iter().zip(matches);
    pairs.flat_map(|(wanted, matches)| check_file(wanted, matches, scope)).collect()
}

fn check_file(wanted: &FileExpectation, matches: &FileMatches, scope: &dyn Scope) -> Vec<Failure> {
    let name = &wanted.name;
    let fail = |message: String| vec![Failure::new(wanted.span, message)];
    if let Some(error) = &matches.error {
        return fail(format!("cannot search the folder: {error}"));
    }
    if wanted.exists == Some(false) {
        let found = matches.found.first();
        return found.map(|it| fail(format!("`{}` exists", it.path))).unwrap_or_default();
    }
    let mut failures = match &wanted.count {
        Some(count) => {
            let counted = format!("the count of files `{name}`");
            check_value(&counted, count, Some(&Value::from(matches.found.len())), scope)
        }
        None if matches.found.is_empty() => {
            fail(format!("`{name}` does not exist{}", other_files(name, matches)))
        }
        None => Vec::new(),
    };
    for found in &matches.found {
        failures.extend(check_contents(wanted, found, scope));
    }
    failures
}

fn check_contents(wanted: &FileExpectation, found: &FoundFile, scope: &dyn Scope) -> Vec<Failure> {
    let path = &found.path;
    let mut failures = match &wanted.size {
        Some(size) => {
            check_value(&format!("the size of `{path}`"), size, Some(&found.size.into()), scope)
        }
        None => Vec::new(),
    };
    for ((form, matcher), content) in wanted.contents.iter().zip(&found.contents) {
        match content {
            Ok(value) => {
                let name = format!("`{path}` as {}", form.key());
                failures.extend(check_value(&name, matcher, Some(value), scope));
            }
            Err(why) => failures.push(Failure::new(matcher.span(), format!("`{path}`: {why}"))),
        }
    }
    failures
}

/// The files that exist instead, for a message.
fn other_files(name: &str, matches: &FileMatches) -> String {
    if matches.others.is_empty() {
        return "; the folder has no files".to_owned();
    }
    match did_you_mean(name, matches.others.iter().map(String::as_str)) {
        Some(meant) => format!("; {meant}"),
        None => format!("; the folder has {}", matches.others.join(", ")),
    }
}

//! Failures that are the same one: of a test in several variants, or of several
//! tests that fail of one thing, like a server that does not start.

use std::collections::HashMap;

use crate::{Failure, Outcome, Run, Test};

/// Tests that failed of the same; at least one.
pub(crate) struct Alike<'a> {
    pub(crate) first: &'a Test,
    pub(crate) others: Vec<&'a Test>,
}

/// The tests that failed, in the order of the run, those that did of the same
/// together.
pub(crate) fn failed(run: &Run) -> Vec<Alike<'_>> {
    let mut all: Vec<Alike<'_>> = Vec::new();
    let mut places = HashMap::new();
    for test in run.tests.iter().filter(|test| test.outcome == Outcome::Failed) {
        let failures = test.failure().map(|last| last.failures.as_slice()).unwrap_or_default();
        let key: Vec<_> = failures.iter().map(key).collect();
        let at = match key.is_empty() {
            true => all.len(),
            false => *places.entry(key).or_insert(all.len()),
        };
        match all.get_mut(at) {
            Some(alike) => alike.others.push(test),
            None => all.push(Alike { first: test, others: Vec::new() }),
        }
    }
    all
}

fn key(failure: &Failure) -> (&str, usize, usize, &str, Option<&str>) {
    let Failure { place, message, diff, .. } = failure;
    (&place.file, place.line, place.column, message, diff.as_deref())
}

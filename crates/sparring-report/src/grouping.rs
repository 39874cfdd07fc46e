//! Groups the tests of a run: tests with equal failures, and the variants of a test.

use std::collections::HashMap;

use crate::{Failure, Outcome, Run, Test};

/// Tests with equal failures: a test in several variants, or several tests that fail for
/// the same reason, such as a server that does not start.
#[derive(Debug)]
pub struct FailureGroup<'a> {
    /// The first test of the group.
    pub first: &'a Test,
    /// The position of the first test in the run.
    pub number: usize,
    /// The other tests.
    pub others: Vec<&'a Test>,
}

/// A test that fails in some variants and passes in others.
pub(crate) struct VariantDifference<'a> {
    /// One of the variants.
    pub(crate) test: &'a Test,
    pub(crate) fails_in: Vec<String>,
    pub(crate) passes_in: Vec<String>,
}

/// Groups the failed tests by their failures, in the order of the run.
pub fn group_failures(run: &Run) -> Vec<FailureGroup<'_>> {
    let mut groups: Vec<FailureGroup<'_>> = Vec::new();
    let mut indices = HashMap::new();
    let failed = |(_, test): &(usize, &Test)| test.outcome == Outcome::Failed;
    for (number, test) in run.tests.iter().enumerate().filter(failed) {
        let failures = test.failure().map(|last| last.failures.as_slice()).unwrap_or_default();
        let key: Vec<_> = failures.iter().map(failure_key).collect();
        let rule = test.rule.as_ref().map(|rule| rule.id.as_str());
        let index = match key.is_empty() {
            true => groups.len(),
            false => *indices.entry((rule, key)).or_insert(groups.len()),
        };
        match groups.get_mut(index) {
            Some(group) => group.others.push(test),
            None => groups.push(FailureGroup { first: test, number, others: Vec::new() }),
        }
    }
    groups
}

fn failure_key(failure: &Failure) -> (&str, usize, usize, &str, Option<&str>) {
    let Failure { place, message, diff, .. } = failure;
    (&place.file, place.line, place.column, message, diff.as_deref())
}

/// Returns the variant of a test, such as `[2025-11-25, http]`. The label is empty if the
/// plan has only one variant.
pub(crate) fn variant_label(test: &Test) -> String {
    test.title()[test.name.len()..].trim_start().to_owned()
}

/// Returns the identity of a test, which is the same for all its variants.
pub(crate) fn test_identity(test: &Test) -> (&str, &str, &str, usize, usize) {
    let place = &test.place;
    (&test.suite, &test.name, &place.file, place.line, place.column)
}

/// Returns the tests that fail in some variants and pass in others, in the order of the run.
pub(crate) fn variant_differences(run: &Run) -> Vec<VariantDifference<'_>> {
    let mut all: Vec<VariantDifference<'_>> = Vec::new();
    let mut indices = HashMap::new();
    for test in &run.tests {
        let index = *indices.entry(test_identity(test)).or_insert(all.len());
        if index == all.len() {
            all.push(VariantDifference { test, fails_in: Vec::new(), passes_in: Vec::new() });
        }
        match test.outcome {
            Outcome::Passed => all[index].passes_in.push(variant_label(test)),
            Outcome::Failed => all[index].fails_in.push(variant_label(test)),
            Outcome::Skipped | Outcome::NotRun => {}
        }
    }
    all.retain(|it| !it.fails_in.is_empty() && !it.passes_in.is_empty());
    all
}

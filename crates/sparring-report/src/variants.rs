//! The variants of a test, and where it does not come to the same in all of them.

use std::collections::HashMap;

use crate::{Outcome, Run, Test};

/// A test that fails in some variants and passes in others.
pub(crate) struct Difference<'a> {
    /// One of them.
    pub(crate) test: &'a Test,
    pub(crate) fails_in: Vec<String>,
    pub(crate) passes_in: Vec<String>,
}

/// The variant that a test was run in, as `[2025-11-25, http]`; nothing where the
/// plan has only one.
pub(crate) fn variant(test: &Test) -> String {
    test.title()[test.name.len()..].trim_start().to_owned()
}

/// What is the same for all variants of a test.
pub(crate) fn identity(test: &Test) -> (&str, &str, &str, usize, usize) {
    let place = &test.place;
    (&test.suite, &test.name, &place.file, place.line, place.column)
}

/// Every test that is not the same in all of its variants, in the order of the
/// run.
pub(crate) fn differences(run: &Run) -> Vec<Difference<'_>> {
    let mut all: Vec<Difference<'_>> = Vec::new();
    let mut places = HashMap::new();
    for test in &run.tests {
        let at = *places.entry(identity(test)).or_insert(all.len());
        if at == all.len() {
            all.push(Difference { test, fails_in: Vec::new(), passes_in: Vec::new() });
        }
        match test.outcome {
            Outcome::Passed => all[at].passes_in.push(variant(test)),
            Outcome::Failed => all[at].fails_in.push(variant(test)),
            Outcome::Skipped | Outcome::NotRun => {}
        }
    }
    all.retain(|it| !it.fails_in.is_empty() && !it.passes_in.is_empty());
    all
}

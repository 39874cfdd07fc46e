//! The tests that pass in one variant and fail in another.

use std::collections::HashMap;

use sparring_report::{Outcome, Run};
use sparring_suite::{Plan, PlannedTest};

use crate::output::{Paint, line};

/// The variants of a test by outcome.
struct VariantOutcomes<'a> {
    planned: PlannedTest<'a>,
    passed: Vec<String>,
    failed: Vec<String>,
}

/// Renders every test whose outcome differs between its variants, or nothing.
pub(super) fn render_differences(plan: &Plan, run: &Run, paint: Paint) -> String {
    let mut all: Vec<VariantOutcomes<'_>> = Vec::new();
    let mut places = HashMap::new();
    for (planned, test) in plan.tests().zip(&run.tests) {
        let at = *places.entry(std::ptr::from_ref(planned.test)).or_insert(all.len());
        if at == all.len() {
            all.push(VariantOutcomes { planned, passed: Vec::new(), failed: Vec::new() });
        }
        let outcomes = &mut all[at];
        let variant = planned.variant.to_string().trim().to_owned();
        match test.outcome {
            Outcome::Passed => outcomes.passed.push(variant),
            Outcome::Failed => outcomes.failed.push(variant),
            _ => {}
        }
    }
    all.retain(|outcomes| !outcomes.passed.is_empty() && !outcomes.failed.is_empty());
    if all.is_empty() {
        return String::new();
    }
    let lines = all.iter().map(|outcomes| {
        let (suite, test) =
            (outcomes.planned.suite.name(), line::clean(&outcomes.planned.test.name));
        let (passed, failed) = (outcomes.passed.join(" "), outcomes.failed.join(" "));
        format!("  {suite}: {test}\n    failed: {failed}\n    passed: {passed}\n")
    });
    format!("\n{}\n{}", paint.dim("outcome differs between variants:"), lines.collect::<String>())
}

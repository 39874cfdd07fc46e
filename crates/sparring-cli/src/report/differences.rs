//! Where the same test passes in one variant and fails in another.

use std::collections::HashMap;

use sparring_suite::{End, Outcome, Plan, Planned};

use crate::output::{Paint, line};

/// A test and its variants.
struct Told<'a> {
    planned: Planned<'a>,
    passed: Vec<String>,
    failed: Vec<String>,
}

/// Every test that is not the same in all of its variants; nothing where none
/// is.
pub(super) fn told(plan: &Plan, ends: &[Option<End>], paint: Paint) -> String {
    let mut all: Vec<Told<'_>> = Vec::new();
    let mut places = HashMap::new();
    for (planned, end) in plan.tests().zip(ends) {
        let at = *places.entry(std::ptr::from_ref(planned.test)).or_insert(all.len());
        if at == all.len() {
            all.push(Told { planned, passed: Vec::new(), failed: Vec::new() });
        }
        let told = &mut all[at];
        let variant = planned.variant.to_string().trim().to_owned();
        match end.as_ref().map(|end| &end.outcome) {
            Some(Outcome::Passed) => told.passed.push(variant),
            Some(Outcome::Failed(_)) => told.failed.push(variant),
            _ => {}
        }
    }
    all.retain(|told| !told.passed.is_empty() && !told.failed.is_empty());
    if all.is_empty() {
        return String::new();
    }
    let lines = all.iter().map(|told| {
        let (suite, test) = (told.planned.suite.name(), line::clean(&told.planned.test.name));
        let (passed, failed) = (told.passed.join(" "), told.failed.join(" "));
        format!("  {suite}: {test}\n    fails in {failed}\n    passes in {passed}\n")
    });
    format!("\n{}\n{}", paint.aside("not the same everywhere:"), lines.collect::<String>())
}

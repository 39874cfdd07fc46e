//! Collects the violations of one frame up to a limit, or only tests a value for a match.

use super::json_path::JsonPath;
use crate::rule::Rule;
use crate::violation::{Violation, has_room};

/// The violations found so far, and the section of the specification for the next
/// ones.
pub(super) struct ViolationCollector<'a> {
    revision: &'a str,
    section: &'a str,
    found: Vec<Violation>,
    /// If true, nothing is collected and the check ends at the first mismatch.
    probing: bool,
}

impl<'a> ViolationCollector<'a> {
    pub(super) fn new(revision: &'a str, section: &'a str) -> Self {
        ViolationCollector { revision, section, found: Vec::new(), probing: false }
    }

    /// A collector for a check that only tests a value for a match.
    pub(super) fn for_probe() -> Self {
        ViolationCollector { probing: true, ..ViolationCollector::new("", "") }
    }

    /// An empty collector with the same section, to try one alternative.
    pub(super) fn for_trial(&self) -> Self {
        ViolationCollector::new(self.revision, self.section)
    }

    /// Sets the section for the next violations.
    pub(super) fn set_section(&mut self, section: &'a str) {
        self.section = section;
    }

    pub(super) fn is_probing(&self) -> bool {
        self.probing
    }

    /// Returns true if a check can stop after a mismatch, since no broken requirement is added
    /// any more.
    pub(super) fn is_full(&self) -> bool {
        self.probing || !has_room(&self.found, Rule::NotJson)
    }

    pub(super) fn add(
        &mut self,
        rule: Rule,
        path: &JsonPath<'_>,
        message: impl FnOnce() -> String,
    ) {
        if !self.probing && has_room(&self.found, rule) {
            self.push(rule, path, message(), self.section);
        }
    }

    /// Adds a violation with the section of its rule.
    pub(super) fn add_in_own_section(
        &mut self,
        rule: Rule,
        path: &JsonPath<'_>,
        message: impl FnOnce() -> String,
    ) {
        self.add_in_section(rule.entry().section, rule, path, message);
    }

    /// Adds a violation with this section.
    pub(super) fn add_in_section(
        &mut self,
        section: &str,
        rule: Rule,
        path: &JsonPath<'_>,
        message: impl FnOnce() -> String,
    ) {
        if !self.probing && has_room(&self.found, rule) {
            self.push(rule, path, message(), section);
        }
    }

    fn push(&mut self, rule: Rule, path: &JsonPath<'_>, message: String, section: &str) {
        let section = match section.is_empty() {
            true => String::new(),
            false => format!("{}/{section}", self.revision),
        };
        let violation = Violation::new(rule, path.to_string(), message, section);
        self.found.push(violation);
    }

    /// Adds violations that already have a section.
    pub(super) fn extend(&mut self, violations: impl IntoIterator<Item = Violation>) {
        for violation in violations {
            if has_room(&self.found, violation.rule) {
                self.found.push(violation);
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.found.len()
    }

    pub(super) fn into_violations(self) -> Vec<Violation> {
        self.found
    }
}

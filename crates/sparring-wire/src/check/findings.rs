//! Collects what is wrong with one frame, up to a limit, or only asks whether
//! anything is.

use super::path::Path;
use crate::violation::{Rule, Violation};

/// The most violations that are reported for one frame.
pub(super) const MOST: usize = 64;

/// Violations found so far, and which section of the specification they are
/// held against.
pub(super) struct Findings<'a> {
    revision: &'a str,
    section: &'a str,
    found: Vec<Violation>,
    /// Nothing is collected; the first mismatch ends the walk.
    probing: bool,
}

impl<'a> Findings<'a> {
    pub(super) fn new(revision: &'a str, section: &'a str) -> Self {
        Findings { revision, section, found: Vec::new(), probing: false }
    }

    /// For a walk that only asks whether a value fits.
    pub(super) fn probe() -> Self {
        Findings { probing: true, ..Findings::new("", "") }
    }

    /// For a walk on trial: the same section, and nothing found yet.
    pub(super) fn trial(&self) -> Self {
        Findings::new(self.revision, self.section)
    }

    /// What is found from here on is held against another section.
    pub(super) fn section(&mut self, section: &'a str) {
        self.section = section;
    }

    pub(super) fn probing(&self) -> bool {
        self.probing
    }

    /// Whether nothing more is wanted after a mismatch.
    pub(super) fn satisfied(&self) -> bool {
        self.probing || self.found.len() >= MOST
    }

    pub(super) fn add(&mut self, rule: Rule, path: &Path<'_>, message: impl FnOnce() -> String) {
        if !self.satisfied() {
            self.push(rule, path, message());
        }
    }

    fn push(&mut self, rule: Rule, path: &Path<'_>, message: String) {
        let section = match self.section.is_empty() {
            true => String::new(),
            false => format!("{}/{}", self.revision, self.section),
        };
        let violation = Violation::new(rule, path.to_string(), message, section);
        self.found.push(violation);
    }

    /// Takes over violations that have their section already.
    pub(super) fn absorb(&mut self, violations: impl IntoIterator<Item = Violation>) {
        let room = MOST.saturating_sub(self.found.len());
        self.found.extend(violations.into_iter().take(room));
    }

    pub(super) fn count(&self) -> usize {
        self.found.len()
    }

    pub(super) fn done(self) -> Vec<Violation> {
        self.found
    }
}

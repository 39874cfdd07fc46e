//! The outcomes of all rules in one revision, while the check runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use sparring_wire::Rule;

use crate::verdict::{Finding, Outcome};

/// The number of findings that are kept for one rule.
const MAX_FINDINGS: usize = 50;

/// The longest message, reason or subject that is kept, in bytes. A server chooses some of them.
const MAX_TEXT: usize = 4_000;

/// The outcomes that probes and connections report.
#[derive(Default)]
pub(crate) struct Outcomes {
    reported: Mutex<BTreeMap<Rule, Reported>>,
    /// The tools that did not answer a call with good arguments in time. The rules about
    /// arguments judge them.
    slow_tools: Mutex<BTreeSet<String>>,
    /// The requests that got no response in time, each with the reason.
    unanswered: Mutex<BTreeSet<String>>,
}

/// Everything that was reported about one rule.
#[derive(Default)]
struct Reported {
    findings: Vec<Finding>,
    undecided: Option<String>,
    kept: bool,
    not_applicable: Option<String>,
}

impl Outcomes {
    /// The server kept the rule.
    pub(crate) fn pass(&self, rule: Rule) {
        self.reported().entry(rule).or_default().kept = true;
    }

    /// The server broke the rule. The same finding counts once.
    pub(crate) fn fail(&self, rule: Rule, mut finding: Finding) {
        finding.message = shortened(finding.message);
        finding.subject = shortened(finding.subject);
        let mut reported = self.reported();
        let findings = &mut reported.entry(rule).or_default().findings;
        let is_known =
            |it: &Finding| it.message == finding.message && it.subject == finding.subject;
        if findings.len() < MAX_FINDINGS && !findings.iter().any(is_known) {
            findings.push(finding);
        }
    }

    /// The rule does not apply to this server, for this reason.
    pub(crate) fn not_applicable(&self, rule: Rule, reason: impl Into<String>) {
        let mut reported = self.reported();
        reported
            .entry(rule)
            .or_default()
            .not_applicable
            .get_or_insert_with(|| shortened(reason.into()));
    }

    /// The check could not find out, for this reason.
    pub(crate) fn undecided(&self, rule: Rule, reason: impl Into<String>) {
        let mut reported = self.reported();
        reported.entry(rule).or_default().undecided.get_or_insert_with(|| shortened(reason.into()));
    }

    /// Remembers a tool that did not answer in time.
    pub(crate) fn add_slow_tool(&self, name: &str) {
        self.slow_tools.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
    }

    /// Returns true if the tool did not answer in time before.
    pub(crate) fn is_slow_tool(&self, name: &str) -> bool {
        self.slow_tools.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    }

    /// Returns the number of findings about this rule.
    pub(crate) fn count(&self, rule: Rule) -> usize {
        self.reported().get(&rule).map_or(0, |it| it.findings.len())
    }

    /// Remembers a request that got no response in time.
    pub(crate) fn add_unanswered(&self, reason: &str) {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner).insert(reason.to_owned());
    }

    /// Returns the number of different requests that got no response in time.
    pub(crate) fn unanswered(&self) -> usize {
        self.unanswered.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns true if anything was reported about the rule.
    pub(crate) fn has(&self, rule: Rule) -> bool {
        self.reported().contains_key(&rule)
    }

    /// Returns the outcome of a rule: a violation counts more than an open question, and an
    /// open question more than success.
    pub(crate) fn outcome(&self, rule: Rule) -> Option<Outcome> {
        let mut reported = self.reported();
        let Reported { findings, undecided, kept, not_applicable } = reported.remove(&rule)?;
        Some(match (undecided, not_applicable) {
            _ if !findings.is_empty() => Outcome::Broken(findings),
            (Some(reason), _) => Outcome::Undecided(reason),
            (None, Some(reason)) if !kept => Outcome::NotApplicable(reason),
            _ => Outcome::Kept,
        })
    }

    fn reported(&self) -> MutexGuard<'_, BTreeMap<Rule, Reported>> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cuts a long text.
fn shortened(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        text.truncate(beginning(&text, MAX_TEXT).len());
        text.push('…');
        text.shrink_to_fit();
    }
    text
}

/// Returns the beginning of a text, of at most this number of bytes.
pub(crate) fn beginning(text: &str, max_bytes: usize) -> &str {
    let end = (0..=max_bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut() {
        let outcomes = Outcomes::default();
        outcomes.fail(Rule::NotJson, Finding::new("é".repeat(10_000)).about("x".repeat(10_000)));
        let Some(Outcome::Broken(findings)) = outcomes.outcome(Rule::NotJson) else { panic!() };
        assert_eq!(findings[0].message, "é".repeat(2_000) + "…");
        assert_eq!(findings[0].subject, "x".repeat(4_000) + "…");
    }

    #[test]
    fn a_violation_counts_more_than_an_open_question_and_that_more_than_success() {
        let outcomes = Outcomes::default();
        let rule = Rule::NotJson;
        outcomes.not_applicable(rule, "no");
        outcomes.pass(rule);
        outcomes.undecided(rule, "open");
        assert!(matches!(outcomes.outcome(rule), Some(Outcome::Undecided(_))));
        outcomes.pass(rule);
        outcomes.undecided(rule, "open");
        outcomes.fail(rule, Finding::new("broken"));
        outcomes.fail(rule, Finding::new("broken"));
        let Some(Outcome::Broken(findings)) = outcomes.outcome(rule) else { panic!() };
        assert_eq!(findings.len(), 1);
        assert!(outcomes.outcome(rule).is_none());
    }
}

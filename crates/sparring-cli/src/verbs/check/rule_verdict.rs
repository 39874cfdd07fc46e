//! The verdicts of all revisions about one rule, and their counts.

use std::fmt;

use sparring_check::{CheckReport, Finding, Status, Verdict};
use sparring_wire::{Revision, Rule};

use super::baseline::{AcceptedFinding, Baseline};

/// The verdicts about one rule, one for each revision that has it.
pub(super) struct RuleVerdict<'a> {
    pub(super) rule: Rule,
    /// The worst verdict counts.
    pub(super) status: RuleStatus,
    verdicts: Vec<RevisionVerdict<'a>>,
}

/// A verdict, with the accepted findings.
pub(super) struct RevisionVerdict<'a> {
    pub(super) verdict: &'a Verdict,
    pub(super) status: RuleStatus,
    /// The findings, each with the entry of the baseline that accepts it.
    pub(super) findings: Vec<(&'a Finding, Option<&'a AcceptedFinding>)>,
    /// The entry of the baseline that accepts that the rule is undecided.
    accepted_reason: Option<&'a AcceptedFinding>,
}

/// A verdict in one word, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RuleStatus {
    /// The server broke a requirement.
    Failed,
    /// The server broke a recommendation.
    Warned,
    /// The check could not find out.
    Undecided,
    /// The server broke the rule only in ways that the user accepts.
    Accepted,
    /// The server kept the rule.
    Passed,
    /// The rule does not apply.
    NotApplicable,
}

/// A finding, with the revisions in which it was found.
pub(super) struct GroupedFinding<'a> {
    pub(super) finding: &'a Finding,
    pub(super) accepted: Option<&'a AcceptedFinding>,
    pub(super) revisions: Vec<Revision>,
}

impl<'a> RevisionVerdict<'a> {
    /// Compares a verdict with the baseline.
    pub(super) fn new(verdict: &'a Verdict, baseline: &'a Baseline) -> RevisionVerdict<'a> {
        let findings = verdict.findings().iter();
        let findings: Vec<_> = findings.map(|it| (it, baseline.find(verdict.rule, it))).collect();
        let is_accepted = findings.iter().all(|(_, accepted)| accepted.is_some());
        let mut accepted_reason = None;
        let status = match verdict.status() {
            Status::Failed | Status::Warned if is_accepted => RuleStatus::Accepted,
            Status::Failed => RuleStatus::Failed,
            Status::Warned => RuleStatus::Warned,
            Status::Undecided => {
                accepted_reason = baseline.find_undecided(verdict);
                match accepted_reason {
                    Some(_) => RuleStatus::Accepted,
                    None => RuleStatus::Undecided,
                }
            }
            Status::Passed => RuleStatus::Passed,
            Status::NotApplicable => RuleStatus::NotApplicable,
        };
        RevisionVerdict { verdict, status, findings, accepted_reason }
    }
}

impl RuleStatus {
    /// Returns the word for programs.
    pub(super) fn name(self) -> &'static str {
        match self {
            RuleStatus::Failed => "failed",
            RuleStatus::Warned => "warned",
            RuleStatus::Undecided => "undecided",
            RuleStatus::Accepted => "accepted",
            RuleStatus::Passed => "passed",
            RuleStatus::NotApplicable => "not_applicable",
        }
    }
}

impl<'a> RuleVerdict<'a> {
    /// Groups the verdicts of a check by rule, in the order of the catalogue.
    pub(super) fn all(report: &'a CheckReport, baseline: &'a Baseline) -> Vec<RuleVerdict<'a>> {
        let mut all: Vec<RuleVerdict<'a>> = Vec::new();
        for verdict in report.verdicts() {
            let verdict = RevisionVerdict::new(verdict, baseline);
            let (rule, status) = (verdict.verdict.rule, verdict.status);
            match all.iter_mut().find(|it| it.rule == rule) {
                Some(known) => {
                    known.status = known.status.min(status);
                    known.verdicts.push(verdict);
                }
                None => all.push(RuleVerdict { rule, status, verdicts: vec![verdict] }),
            }
        }
        all.sort_by_key(|it| it.rule);
        all
    }

    /// Returns the findings; the same finding in several revisions is one.
    pub(super) fn findings(&self) -> Vec<GroupedFinding<'a>> {
        let mut all: Vec<GroupedFinding<'a>> = Vec::new();
        for verdict in &self.verdicts {
            let revision = verdict.verdict.revision;
            for (finding, accepted) in &verdict.findings {
                let is_same = |it: &&mut GroupedFinding<'_>| {
                    it.finding.subject == finding.subject && it.finding.message == finding.message
                };
                match all.iter_mut().find(is_same) {
                    Some(known) => known.revisions.push(revision),
                    None => {
                        let (accepted, revisions) = (*accepted, vec![revision]);
                        all.push(GroupedFinding { finding, accepted, revisions });
                    }
                }
            }
        }
        all
    }

    /// Returns the findings that are not accepted.
    pub(super) fn new_findings(&self) -> Vec<GroupedFinding<'a>> {
        let mut findings = self.findings();
        findings.retain(|it| it.accepted.is_none());
        findings
    }

    /// Returns the verdicts by revision, oldest first.
    pub(super) fn by_revision(&self) -> &[RevisionVerdict<'a>] {
        &self.verdicts
    }

    /// Returns the revisions with this status.
    pub(super) fn revisions(&self, status: RuleStatus) -> Vec<Revision> {
        let verdicts = self.verdicts.iter().filter(|it| it.status == status);
        verdicts.map(|it| it.verdict.revision).collect()
    }

    /// Returns the reasons of verdicts with this status, each with its revisions.
    pub(super) fn reasons(&self, status: RuleStatus) -> Vec<(&'a str, Vec<Revision>)> {
        group_by_reason(self.verdicts.iter().filter(|it| it.status == status))
    }

    /// Returns the reasons why the rule is undecided, also those that are accepted.
    pub(super) fn all_reasons_undecided(&self) -> Vec<(&'a str, Vec<Revision>)> {
        let is_undecided = |it: &&RevisionVerdict<'_>| it.verdict.status() == Status::Undecided;
        group_by_reason(self.verdicts.iter().filter(is_undecided))
    }

    /// Returns true if a finding or a reason is this accepted one.
    pub(super) fn uses(&self, accepted: &AcceptedFinding) -> bool {
        let is_same = |it: Option<&AcceptedFinding>| it.is_some_and(|it| it == accepted);
        self.verdicts.iter().any(|it| {
            is_same(it.accepted_reason) || it.findings.iter().any(|(_, known)| is_same(*known))
        })
    }
}

fn group_by_reason<'a: 'v, 'v>(
    verdicts: impl Iterator<Item = &'v RevisionVerdict<'a>>,
) -> Vec<(&'a str, Vec<Revision>)> {
    let mut all: Vec<(&'a str, Vec<Revision>)> = Vec::new();
    for RevisionVerdict { verdict, .. } in verdicts {
        let Some(reason) = verdict.reason() else { continue };
        match all.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, revisions)) => revisions.push(verdict.revision),
            None => all.push((reason, vec![verdict.revision])),
        }
    }
    all
}

/// The number of rules by their status.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) warned: usize,
    pub(super) undecided: usize,
    pub(super) accepted: usize,
    pub(super) not_applicable: usize,
}

impl Counts {
    /// Counts the rules of a check.
    pub(super) fn of(all: &[RuleVerdict<'_>]) -> Counts {
        let mut counts = Counts::default();
        for verdict in all {
            *match verdict.status {
                RuleStatus::Failed => &mut counts.failed,
                RuleStatus::Warned => &mut counts.warned,
                RuleStatus::Undecided => &mut counts.undecided,
                RuleStatus::Accepted => &mut counts.accepted,
                RuleStatus::Passed => &mut counts.passed,
                RuleStatus::NotApplicable => &mut counts.not_applicable,
            } += 1;
        }
        counts
    }

    /// Returns true if the check failed.
    pub(super) fn fails(self, strict: bool) -> bool {
        self.failed > 0 || strict && (self.warned > 0 || self.undecided > 0)
    }
}

/// Renders `41 passed, 2 failed, 1 warned, 0 undecided, 30 not applicable`, with the accepted
/// ones if there are any.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { passed, failed, warned, undecided, accepted, not_applicable } = self;
        write!(f, "{passed} passed, {failed} failed, {warned} warned, {undecided} undecided, ")?;
        if *accepted > 0 {
            write!(f, "{accepted} accepted, ")?;
        }
        write!(f, "{not_applicable} not applicable")
    }
}

/// Renders revisions: `all` if they are all of these, `since 2025-06-18` and `until …` for a
/// range at an end, or their names.
pub(super) fn render_revisions(revisions: &[Revision], all: &[Revision]) -> String {
    if revisions == all {
        return "all".to_owned();
    }
    let names = || revisions.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ");
    match (revisions, all) {
        ([first, _, ..], _) if all.ends_with(revisions) => format!("since {first}"),
        ([_, .., last], _) if all.starts_with(revisions) => format!("until {last}"),
        _ => names(),
    }
}

/// Returns the address of the section of the specification, if it has the rule.
pub(super) fn section_url(rule: Rule) -> Option<String> {
    let entry = rule.entry();
    let newest = entry.revisions.last()?;
    let section = entry.section;
    let url = format!("https://modelcontextprotocol.io/specification/{newest}/{section}");
    (!section.is_empty()).then_some(url)
}

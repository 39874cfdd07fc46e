//! The verdicts of all revisions about one rule, and their counts.

use std::fmt;

use sparring_check::{CheckReport, Finding, Status, Verdict};
use sparring_wire::{Revision, Rule};

/// The verdicts about one rule, one for each revision that has it.
pub(super) struct RuleVerdict<'a> {
    pub(super) rule: Rule,
    /// The worst verdict counts.
    pub(super) status: Status,
    verdicts: Vec<&'a Verdict>,
}

/// A finding, with the revisions in which it was found.
pub(super) struct GroupedFinding<'a> {
    pub(super) finding: &'a Finding,
    pub(super) revisions: Vec<Revision>,
}

impl<'a> RuleVerdict<'a> {
    /// Groups the verdicts of a check by rule, in the order of the catalogue.
    pub(super) fn all(report: &'a CheckReport) -> Vec<RuleVerdict<'a>> {
        let mut all: Vec<RuleVerdict<'a>> = Vec::new();
        for verdict in report.verdicts() {
            match all.iter_mut().find(|it| it.rule == verdict.rule) {
                Some(known) => {
                    known.status = known.status.min(verdict.status());
                    known.verdicts.push(verdict);
                }
                None => all.push(RuleVerdict {
                    rule: verdict.rule,
                    status: verdict.status(),
                    verdicts: vec![verdict],
                }),
            }
        }
        all.sort_by_key(|it| it.rule);
        all
    }

    /// Returns the findings; the same finding in several revisions is one.
    pub(super) fn findings(&self) -> Vec<GroupedFinding<'a>> {
        let mut all: Vec<GroupedFinding<'a>> = Vec::new();
        for verdict in &self.verdicts {
            for finding in verdict.findings() {
                let is_same = |it: &&mut GroupedFinding<'_>| {
                    it.finding.subject == finding.subject && it.finding.message == finding.message
                };
                match all.iter_mut().find(is_same) {
                    Some(known) => known.revisions.push(verdict.revision),
                    None => {
                        all.push(GroupedFinding { finding, revisions: vec![verdict.revision] });
                    }
                }
            }
        }
        all
    }

    /// Returns the revisions with this status.
    pub(super) fn revisions(&self, status: Status) -> Vec<Revision> {
        let verdicts = self.verdicts.iter().filter(|it| it.status() == status);
        verdicts.map(|it| it.revision).collect()
    }

    /// Returns the reasons of verdicts with this status, each with its revisions.
    pub(super) fn reasons(&self, status: Status) -> Vec<(&'a str, Vec<Revision>)> {
        let mut all: Vec<(&'a str, Vec<Revision>)> = Vec::new();
        for verdict in self.verdicts.iter().filter(|it| it.status() == status) {
            let Some(reason) = verdict.reason() else { continue };
            match all.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, revisions)) => revisions.push(verdict.revision),
                None => all.push((reason, vec![verdict.revision])),
            }
        }
        all
    }
}

/// The number of rules by their status.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) passed: usize,
    pub(super) failed: usize,
    pub(super) warned: usize,
    pub(super) undecided: usize,
    pub(super) not_applicable: usize,
}

impl Counts {
    /// Counts the rules of a check.
    pub(super) fn of(report: &CheckReport) -> Counts {
        let mut counts = Counts::default();
        for verdict in RuleVerdict::all(report) {
            *match verdict.status {
                Status::Failed => &mut counts.failed,
                Status::Warned => &mut counts.warned,
                Status::Undecided => &mut counts.undecided,
                Status::Passed => &mut counts.passed,
                Status::NotApplicable => &mut counts.not_applicable,
            } += 1;
        }
        counts
    }

    /// Returns true if the check failed.
    pub(super) fn fails(self, strict: bool) -> bool {
        self.failed > 0 || strict && (self.warned > 0 || self.undecided > 0)
    }
}

/// Renders `41 passed, 2 failed, 1 warned, 0 undecided, 30 not applicable`.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts { passed, failed, warned, undecided, not_applicable } = self;
        write!(
            f,
            "{passed} passed, {failed} failed, {warned} warned, {undecided} undecided, \
             {not_applicable} not applicable"
        )
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

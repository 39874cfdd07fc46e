//! The problems that a check found, each once for all revisions that have it.

use std::fmt;

use sparring_wire::{Revision, Rule};

use crate::report::CheckReport;
use crate::verdict::{Finding, Outcome, ShownFrame, Status, Verdict};

/// A broken or undecided rule. The same finding in several revisions is one problem.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The status of the verdict: failed, warned or undecided.
    pub status: Status,
    /// The rule.
    pub rule: Rule,
    /// The expected and the found behaviour, or the reason why the rule is undecided.
    pub message: String,
    /// The tool, resource or other item that it is about; empty for the server.
    pub subject: String,
    /// The page and section of the specification, in the first of the revisions; empty if
    /// only Sparring has the rule.
    pub section: String,
    /// The revisions that have it, oldest first.
    pub revisions: Vec<Revision>,
    /// The frames that show it, oldest first.
    pub frames: Vec<ShownFrame>,
    /// A command that repeats it.
    pub command: Option<String>,
}

impl CheckReport {
    /// Returns all problems: those of broken requirements first, then warnings, then rules
    /// that are undecided.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        for found in self.verdicts().flat_map(problems_of) {
            match problems.iter_mut().find(|known| known.is_same(&found)) {
                Some(known) => known.revisions.extend(found.revisions),
                None => problems.push(found),
            }
        }
        problems.sort_by_key(|problem| problem.status);
        problems
    }
}

fn problems_of(verdict: &Verdict) -> Vec<Problem> {
    let problem = |finding: &Finding| Problem {
        status: verdict.status(),
        rule: verdict.rule,
        message: finding.message.clone(),
        subject: finding.subject.clone(),
        section: verdict.section(),
        revisions: vec![verdict.revision],
        frames: finding.frames.clone(),
        command: finding.command.clone(),
    };
    match &verdict.outcome {
        Outcome::Broken(findings) => findings.iter().map(problem).collect(),
        Outcome::Undecided(reason) => vec![problem(&Finding::new(reason))],
        Outcome::Kept | Outcome::NotApplicable(_) => Vec::new(),
    }
}

impl Problem {
    fn is_same(&self, other: &Problem) -> bool {
        (self.status, self.rule, &self.message, &self.subject)
            == (other.status, other.rule, &other.message, &other.subject)
    }
}

/// Renders the problem in one line: the rule, the subject, the message, and the section with
/// the revisions.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.rule.id())?;
        if !self.subject.is_empty() {
            write!(f, "`{}`: ", self.subject)?;
        }
        if self.status == Status::Undecided {
            f.write_str("undecided: ")?;
        }
        f.write_str(&self.message)?;
        let (first, others) = match (self.section.as_str(), self.revisions.as_slice()) {
            ("", []) => return Ok(()),
            ("", [first, others @ ..]) => (first.name(), others),
            (section, revisions) => (section, revisions.get(1..).unwrap_or_default()),
        };
        let others: Vec<&str> = others.iter().map(|revision| revision.name()).collect();
        match others.is_empty() {
            true => write!(f, " ({first})"),
            false => write!(f, " ({first}; also {})", others.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::RevisionReport;

    fn report(revisions: &[(Revision, Vec<(Rule, Outcome)>)]) -> CheckReport {
        let revisions = revisions.iter().map(|(revision, outcomes)| {
            let verdict = |(rule, outcome): &(Rule, Outcome)| Verdict {
                rule: *rule,
                revision: *revision,
                outcome: outcome.clone(),
            };
            let verdicts = outcomes.iter().map(verdict).collect();
            RevisionReport {
                revision: *revision,
                is_connected: true,
                facts: crate::facts::Facts::default(),
                verdicts,
                tool_uses: Vec::new(),
            }
        });
        CheckReport { revisions: revisions.collect(), ..CheckReport::default() }
    }

    #[test]
    fn merges_the_same_finding_of_several_revisions_and_puts_failures_first() {
        let broken = |message: &str| Outcome::Broken(vec![Finding::new(message).about("echo")]);
        let [first, second] = [Revision::V2025_06_18, Revision::V2025_11_25];
        let report = report(&[
            (first, vec![(Rule::NoAnswer, Outcome::Undecided("it is slow".to_owned()))]),
            (first, vec![(Rule::UnknownMethod, broken("the server did it"))]),
            (second, vec![(Rule::UnknownMethod, broken("the server did it"))]),
        ]);
        let lines: Vec<String> = report.problems().iter().map(Problem::to_string).collect();
        let section = Rule::UnknownMethod.entry().section;
        let id = Rule::UnknownMethod.id();
        assert_eq!(
            lines[0],
            format!("{id}: `echo`: the server did it (2025-06-18/{section}; also 2025-11-25)")
        );
        assert!(lines[1].contains("undecided: it is slow"), "{}", lines[1]);
        assert_eq!(lines.len(), 2);
    }
}

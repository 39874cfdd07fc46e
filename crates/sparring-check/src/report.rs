//! The result of a check.

use sparring_wire::{Revision, Rule};

use crate::check::CheckError;
use crate::facts::Facts;
use crate::verdict::{Status, Verdict};

/// The result of a check.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CheckReport {
    /// The revisions that the server speaks, oldest first.
    pub revisions: Vec<RevisionReport>,
    /// The revisions that the server does not speak, each with the reason.
    pub not_spoken: Vec<(Revision, String)>,
    /// The reason why there is no connection, if the server needs a token to connect. Then only
    /// the rules of authorization were checked, in all revisions.
    pub token_needed: Option<String>,
}

/// The result of a check in one revision.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RevisionReport {
    /// The revision.
    pub revision: Revision,
    /// True if the server was connected to. Otherwise the verdicts are about the failed
    /// connection or about authorization.
    pub is_connected: bool,
    /// What the server says about itself.
    pub facts: Facts,
    /// One verdict for each selected rule of the revision, in the order of the catalogue.
    pub verdicts: Vec<Verdict>,
    /// The listed tools, each with the outcome of calling it.
    pub tool_uses: Vec<ToolUse>,
}

/// A tool, and the outcome of calling it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolUse {
    /// The name of the tool.
    pub tool: String,
    /// The outcome.
    pub outcome: ToolUseOutcome,
}

/// The outcome of calling a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolUseOutcome {
    /// It was not called, for this reason.
    NotCalled(String),
    /// It succeeded at least once.
    Succeeded,
    /// It never succeeded; this is its last answer.
    NeverSucceeded(String),
}

impl CheckReport {
    /// Returns the report if the server was connected to, or if it broke a requirement anyway.
    ///
    /// # Errors
    /// If the server needs a token, and broke no requirement of authorization.
    pub fn require_connection(self) -> Result<CheckReport, CheckError> {
        let is_broken = self.count(Status::Failed) > 0;
        match &self.token_needed {
            Some(reason) if !is_broken => Err(CheckError::TokenNeeded(reason.clone())),
            _ => Ok(self),
        }
    }

    /// Returns the verdicts of all revisions.
    pub fn verdicts(&self) -> impl Iterator<Item = &Verdict> {
        self.revisions.iter().flat_map(|it| &it.verdicts)
    }

    /// Returns the number of verdicts with this status.
    pub fn count(&self, status: Status) -> usize {
        self.verdicts().filter(|it| it.status() == status).count()
    }

    /// Returns the verdict about this rule in this revision.
    pub fn verdict(&self, rule: Rule, revision: Revision) -> Option<&Verdict> {
        self.verdicts().find(|it| it.rule == rule && it.revision == revision)
    }

    /// Returns true if the server broke no rule, and with `strict` if nothing was warned of
    /// or left undecided either. A server that could not be connected to is not clean.
    pub fn is_clean(&self, strict: bool) -> bool {
        let is_bad = |status| match status {
            Status::Failed => true,
            Status::Warned | Status::Undecided => strict,
            Status::Passed | Status::NotApplicable => false,
        };
        self.token_needed.is_none() && !self.verdicts().any(|it| is_bad(it.status()))
    }
}

//! The tools of all revisions, with the outcome of calling them.

use std::collections::BTreeMap;

use sparring_check::{CheckReport, ToolUseOutcome};

/// The tools by outcome; the best outcome of all revisions counts.
#[derive(Debug, Default)]
pub(super) struct ToolUses {
    /// The tools that succeeded at least once.
    pub(super) succeeded: Vec<String>,
    /// The tools that never succeeded, with their last answers.
    pub(super) never_succeeded: Vec<(String, String)>,
    /// The tools that were not called, with the reasons.
    pub(super) not_called: Vec<(String, String)>,
}

impl ToolUses {
    /// Collects the tools of a check.
    pub(super) fn of(report: &CheckReport) -> ToolUses {
        let mut best: BTreeMap<&str, &ToolUseOutcome> = BTreeMap::new();
        for tool_use in report.revisions.iter().flat_map(|it| &it.tool_uses) {
            let known = best.entry(&tool_use.tool).or_insert(&tool_use.outcome);
            if rank(&tool_use.outcome) > rank(known) {
                *known = &tool_use.outcome;
            }
        }
        let mut uses = ToolUses::default();
        for (tool, outcome) in best {
            let tool = tool.to_owned();
            match outcome {
                ToolUseOutcome::Succeeded => uses.succeeded.push(tool),
                ToolUseOutcome::NeverSucceeded(answer) => {
                    uses.never_succeeded.push((tool, answer.clone()));
                }
                ToolUseOutcome::NotCalled(reason) => uses.not_called.push((tool, reason.clone())),
            }
        }
        uses
    }

    /// Returns the number of tools that were called.
    pub(super) fn called(&self) -> usize {
        self.succeeded.len() + self.never_succeeded.len()
    }
}

fn rank(outcome: &ToolUseOutcome) -> u8 {
    match outcome {
        ToolUseOutcome::NotCalled(_) => 0,
        ToolUseOutcome::NeverSucceeded(_) => 1,
        ToolUseOutcome::Succeeded => 2,
    }
}

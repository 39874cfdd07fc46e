//! The report of a check for programs (`--json`).

use serde_json::{Value, json};
use sparring_check::{ShownFrame, TOKENIZER, ToolTokens};
use sparring_wire::{Revision, Side};

use super::Checked;
use super::baseline::AcceptedFinding;
use super::repeat_command::RepeatCommand;
use super::rule_verdict::{Counts, GroupedFinding, RuleStatus, RuleVerdict, section_url};
use super::tool_uses::ToolUses;

/// The report of one check.
pub(super) struct JsonReport<'a> {
    pub(super) checked: &'a Checked,
    pub(super) verdicts: &'a [RuleVerdict<'a>],
    pub(super) uses: &'a ToolUses,
    pub(super) tokens: &'a [ToolTokens],
    pub(super) gone: &'a [&'a AcceptedFinding],
    pub(super) transport: &'a str,
    pub(super) repeat: &'a RepeatCommand,
    /// True if the check failed.
    pub(super) fails: bool,
}

impl JsonReport<'_> {
    /// Returns the report as one object.
    pub(super) fn to_value(&self) -> Value {
        let report = &self.checked.report;
        let checked: Vec<&str> = report.revisions.iter().map(|it| it.revision.name()).collect();
        let not_spoken = report.not_spoken.iter();
        let not_spoken: Vec<Value> = not_spoken
            .map(|(revision, reason)| json!({"revision": revision.name(), "reason": reason}))
            .collect();
        let Counts { passed, failed, warned, undecided, accepted, not_applicable } =
            Counts::of(self.verdicts);
        let rules: Vec<Value> = self.verdicts.iter().map(|it| self.rule(it)).collect();
        let gone: Vec<Value> = self.gone.iter().map(|it| accepted_as_json(it)).collect();
        let mut value = json!({
            "server": self.checked.server_name(),
            "transport": self.transport,
            "revisions": checked,
            "not_spoken": not_spoken,
            "failed": self.fails,
            "took_ms": (self.checked.took.as_secs_f64() * 1e6).round() / 1e3,
            "summary": {
                "passed": passed, "failed": failed, "warned": warned, "undecided": undecided,
                "accepted": accepted, "not_applicable": not_applicable,
            },
            "rules": rules,
            "accepted_gone": gone,
            "tools": self.tools(),
            "tokens": self.tokens(),
        });
        if let Some(reason) = &report.token_needed {
            value["token_needed"] = json!(reason);
        }
        value
    }

    fn rule(&self, verdict: &RuleVerdict<'_>) -> Value {
        let entry = verdict.rule.entry();
        let findings: Vec<Value> = verdict.findings().iter().map(finding).collect();
        let revisions: Vec<Value> = verdict
            .by_revision()
            .iter()
            .map(|it| {
                let mut value = json!({
                    "revision": it.verdict.revision.name(),
                    "status": it.status.name(),
                });
                if let Some(reason) = it.verdict.reason() {
                    value["reason"] = json!(reason);
                }
                value
            })
            .collect();
        let mut value = json!({
            "rule": entry.id,
            "level": entry.level.name(),
            "status": verdict.status.name(),
            "revisions": revisions,
            "findings": findings,
            "section": section_url(verdict.rule),
            "summary": entry.summary,
            "advice": entry.advice,
        });
        let bad = [RuleStatus::Failed, RuleStatus::Warned, RuleStatus::Undecided];
        if bad.contains(&verdict.status) {
            let revisions = verdict.revisions(verdict.status);
            value["repeat"] = json!(self.repeat.for_rule(verdict.rule, &revisions));
        }
        value
    }

    fn tools(&self) -> Value {
        let ToolUses { succeeded, never_succeeded, not_called } = self.uses;
        let pairs = |all: &[(String, String)], what: &str| -> Vec<Value> {
            all.iter().map(|(tool, why)| json!({"tool": tool, what: why})).collect()
        };
        json!({
            "succeeded": succeeded,
            "never_succeeded": pairs(never_succeeded, "answer"),
            "not_called": pairs(not_called, "reason"),
        })
    }

    fn tokens(&self) -> Value {
        let all: usize = self.tokens.iter().map(|it| it.tokens).sum();
        let tools = self.tokens.iter();
        let tools: Vec<Value> =
            tools.map(|it| json!({"tool": it.tool, "tokens": it.tokens})).collect();
        json!({"tokenizer": TOKENIZER, "all": all, "tools": tools})
    }
}

fn finding(found: &GroupedFinding<'_>) -> Value {
    let finding = found.finding;
    let revisions: Vec<&str> = found.revisions.iter().copied().map(Revision::name).collect();
    let mut value = json!({
        "message": finding.message,
        "revisions": revisions,
        "frames": finding.frames.iter().map(frame).collect::<Vec<_>>(),
    });
    if !finding.subject.is_empty() {
        value["about"] = json!(finding.subject);
    }
    if let Some(command) = &finding.command {
        value["repeat"] = json!(command);
    }
    if let Some(accepted) = found.accepted {
        value["accepted"] = json!(accepted.reason);
    }
    value
}

fn frame(frame: &ShownFrame) -> Value {
    let from = match frame.from {
        Side::Client => "client",
        Side::Server => "server",
    };
    json!({"from": from, "text": frame.text, "omitted_bytes": frame.omitted_bytes})
}

fn accepted_as_json(accepted: &AcceptedFinding) -> Value {
    let AcceptedFinding { rule, about, finding, reason, line } = accepted;
    json!({
        "rule": rule.id(), "about": about, "finding": finding, "reason": reason, "line": line,
    })
}

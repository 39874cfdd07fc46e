//! Calls of tools with good, generated and wrong arguments.
//!
//! Each phase goes through all tools, so that a slow tool does not take the time of the
//! others: first the good arguments, then wrong ones, then generated ones in rounds.

mod caller;
mod cases;
mod command;
mod faults;
mod generate;
mod output_schema;
mod run;
mod schema_parts;
mod tool_check;
mod wrong;
mod wrong_calls;

use serde_json::Value;
use sparring_wire::Rule;

use self::run::Run;
use super::{Probe, probe};
use crate::context::{Context, ProbeResult};
use crate::report::{ToolUse, ToolUseOutcome};
use crate::tool_policy::reason_against_call;

pub(super) const PROBES: &[Probe] = &[probe!(
    [
        ArgumentsCrash,
        ArgumentsHang,
        ArgumentsInternalError,
        InvalidArgumentsAccepted,
        ArgumentLimitIgnored,
        ExtraArgumentAccepted,
        OutputSchema,
    ],
    arguments
)];

async fn arguments(context: &Context) -> ProbeResult {
    let mut callable = Vec::new();
    for tool in &context.facts().tools {
        let Some(name) = tool["name"].as_str() else { continue };
        match reason_against(context, tool) {
            None => callable.push(tool),
            Some(reason) => {
                let outcome = ToolUseOutcome::NotCalled(reason);
                context.record_tool_use(ToolUse { tool: name.to_owned(), outcome });
            }
        }
    }
    if callable.is_empty() {
        let reason = match context.facts().tools.is_empty() {
            true => "the server lists no tools",
            false => "none of the tools may be called",
        };
        for rule in PROBES[0].rules {
            context.not_applicable(*rule, reason);
        }
        return Ok(());
    }
    Run::new(context, &callable).await.finish().await
}

/// Returns the reason why a tool is not called.
fn reason_against(context: &Context, tool: &Value) -> Option<String> {
    // 2025-11-25, basic/utilities/tasks#tool-level-negotiation. Other revisions have no tasks.
    if tool["execution"]["taskSupport"] == "required" {
        return Some("it can only be called as a task".to_owned());
    }
    reason_against_call(context, tool)
}

/// Returns true if the rule is checked in this revision.
fn is_checked(context: &Context, rule: Rule) -> bool {
    rule.applies_in(context.revision) && context.options.selects(rule)
}

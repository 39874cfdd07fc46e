//! `/mcp permissions`: shows the permission of each tool with its reason, and changes
//! the rules until the shell ends.

use serde_json::json;
use sparring_host::permissions::Reason;

use super::super::command::{Announces, Argument, Command, succeed};
use super::super::shell_state::ShellState;
use crate::command_error::CommandError;
use crate::output::table::Table;

pub(super) const COMMAND: Command = Command {
    name: "permissions",
    parameters: "[allow|deny] [PATTERN]",
    arguments: &[Argument::Decision, Argument::Pattern],
    min_words: 0,
    summary: "show the permissions; allow or deny tools until the shell ends",
    details: "A PATTERN is mcp__SERVER, mcp__SERVER__* or mcp__SERVER__get_*. A deny rule anywhere \
              wins. --save saves these rules.",
    announces: Announces::NoServer,
    run: |state, words| succeed(run(state, words)),
};

async fn run(state: &ShellState<'_>, words: &[String]) -> Result<(), CommandError> {
    let [decision, pattern] = words else {
        return match words {
            [] => show(state).await,
            _ => Err(CommandError::Usage(format!("usage: {}", COMMAND.usage()))),
        };
    };
    let mut rules = state.rules();
    // The opposite rule is removed, since a deny rule would always win.
    let (to, from) = match decision.as_str() {
        "allow" => (&mut rules.allow, &mut rules.deny),
        "deny" => (&mut rules.deny, &mut rules.allow),
        _ => {
            let usage = COMMAND.usage();
            return Err(CommandError::Usage(format!(
                "'{decision}' is neither allow nor deny; usage: {usage}"
            )));
        }
    };
    from.retain(|other| other != pattern);
    if !to.contains(pattern) {
        to.push(pattern.clone());
    }
    for note in state.set_rules(rules)? {
        state.printer.note(&note).await;
    }
    for note in state.registry.unmatched_rules() {
        state.printer.note(&note).await;
    }
    if state.set_result(|| json!({"decision": decision, "pattern": pattern})) {
        return Ok(());
    }
    let done = if decision == "allow" { "allowed" } else { "denied" };
    let text = format!("{done} until the shell ends: {pattern}");
    state.printer.print(&format!("{}\n", state.printer.paint().success(&text))).await
}

async fn show(state: &ShellState<'_>) -> Result<(), CommandError> {
    let printer = state.printer;
    let hidden = state.registry.hidden().into_iter().map(|(tool, _)| tool);
    let mut tools: Vec<_> = state.registry.tools().into_iter().chain(hidden).collect();
    tools.sort_by(|a, b| (&a.server, &a.tool.name).cmp(&(&b.server, &b.tool.name)));
    let mut table = Table::default();
    let mut rows = Vec::new();
    for tool in &tools {
        let settled = state.registry.gate().decide_without_asking(&tool.server, &tool.tool.name);
        let (verdict, why) = match &settled {
            None => {
                let permissions = state.registry.gate().permissions();
                match permissions.decide(&tool.server, &tool.tool.name).rule {
                    Some(rule) => ("ask", format!("rule {rule}")),
                    None => ("allow", "you type the calls".to_owned()),
                }
            }
            Some(settled) if settled.allowed => ("allow", render_reason(&settled.reason)),
            Some(settled) => ("deny", render_reason(&settled.reason)),
        };
        table.add_row([&*tool.server, &*tool.tool.name, verdict, &why]);
        rows.push(json!({
            "server": *tool.server, "tool": tool.tool.name, "decision": verdict, "reason": why,
        }));
    }
    if state.set_result(|| json!({"permissions": rows})) {
        return Ok(());
    }
    if tools.is_empty() {
        printer.note("no connected server has tools").await;
    }
    printer.print(&table.render(printer.paint(), printer.width(), 0)).await
}

fn render_reason(reason: &Reason) -> String {
    match reason {
        Reason::Rule(rule) => format!("rule {rule}"),
        Reason::Granted => "granted by the user".to_owned(),
        Reason::Refused => "denied by the user".to_owned(),
        Reason::NoAsker(Some(rule)) => {
            format!("rule {rule} requires asking, and no user can be asked")
        }
        _ => "no rule allows it, and no user can be asked".to_owned(),
    }
}

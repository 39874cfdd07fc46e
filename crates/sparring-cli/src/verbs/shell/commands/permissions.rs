//! `/mcp permissions`: what may be called and why, and other rules for as long as
//! the shell lasts.

use sparring_host::permissions::Reason;

use super::super::command::{Argument, Command, Tells, good};
use super::super::desk::Desk;
use crate::failure::Failure;
use crate::output::table::Table;

pub(super) const COMMAND: Command = Command {
    name: "permissions",
    takes: "[allow|deny] [PATTERN]",
    arguments: &[Argument::Decision, Argument::Pattern],
    needs: 0,
    about: "show what may be called; allow or deny tools until the shell ends",
    more: "A PATTERN is mcp__SERVER, mcp__SERVER__* or mcp__SERVER__get_*. What is denied \
           anywhere stays denied. --save keeps these rules.",
    tells: Tells::Nobody,
    run: |desk, words| good(run(desk, words)),
};

async fn run(desk: &Desk<'_>, words: &[String]) -> Result<(), Failure> {
    let [decision, pattern] = words else {
        return match words {
            [] => show(desk).await,
            _ => Err(Failure::Usage(format!("it is written {}", COMMAND.usage()))),
        };
    };
    let mut rules = desk.rules();
    // One that was said before is taken back; all else would be denied for ever.
    let (to, from) = match decision.as_str() {
        "allow" => (&mut rules.allow, &mut rules.deny),
        "deny" => (&mut rules.deny, &mut rules.allow),
        _ => {
            let usage = COMMAND.usage();
            return Err(Failure::Usage(format!("'{decision}' is neither; it is written {usage}")));
        }
    };
    from.retain(|other| other != pattern);
    if !to.contains(pattern) {
        to.push(pattern.clone());
    }
    for note in desk.set_rules(rules)? {
        desk.printer.note(&note).await;
    }
    for note in desk.registry.unfit_rules() {
        desk.printer.note(&note).await;
    }
    let done = if decision == "allow" { "allowed" } else { "denied" };
    let text = format!("{done} until the shell ends: {pattern}");
    desk.printer.print(&format!("{}\n", desk.printer.paint().good(&text))).await
}

async fn show(desk: &Desk<'_>) -> Result<(), Failure> {
    let printer = desk.printer;
    let hidden = desk.registry.hidden().into_iter().map(|(tool, _)| tool);
    let mut tools: Vec<_> = desk.registry.tools().into_iter().chain(hidden).collect();
    tools.sort_by(|a, b| (&a.server, &a.tool.name).cmp(&(&b.server, &b.tool.name)));
    let mut table = Table::default();
    for tool in &tools {
        let settled = desk.registry.gate().standing(&tool.server, &tool.tool.name);
        let verdict = match &settled {
            None => "ask",
            Some(settled) if settled.allowed => "allow",
            Some(_) => "deny",
        };
        let why = settled.map(|settled| because(&settled.reason)).unwrap_or_default();
        table.row([&*tool.server, &*tool.tool.name, verdict, &why]);
    }
    if tools.is_empty() {
        printer.note("no connected server has tools").await;
    }
    printer.print(&table.render(printer.paint(), printer.width(), 0)).await
}

fn because(reason: &Reason) -> String {
    match reason {
        Reason::Rule(rule) => format!("by the rule {rule}"),
        Reason::Granted => "somebody said always".to_owned(),
        Reason::Refused => "somebody said never".to_owned(),
        Reason::Nobody(Some(rule)) => {
            format!("to be asked for by the rule {rule}, and there is nobody to ask")
        }
        _ => "no rule allows it, and there is nobody to ask".to_owned(),
    }
}

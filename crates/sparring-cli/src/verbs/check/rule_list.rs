//! Lists and explains the rules of the catalogue.

use serde_json::{Value, json};
use sparring_check::server_rules;
use sparring_wire::{Revision, Rule};

use super::rule_names::NamedRules;
use super::rule_verdict::{render_revisions, section_url};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::output::table::Table;
use crate::output::{Paint, Printer, line};

/// The columns if stdout is not a terminal.
const DEFAULT_COLUMNS: usize = 100;

/// Prints all rules that concern servers.
pub(super) async fn print_list(printer: &Printer) -> Result<Exit, CommandError> {
    let rules: Vec<Rule> = server_rules().collect();
    if printer.is_json() {
        let rules: Vec<Value> = rules.into_iter().map(rule_as_json).collect();
        printer.print_json(&json!({ "rules": rules })).await?;
        return Ok(Exit::Success);
    }
    let mut table = Table::default();
    for rule in &rules {
        let revisions = render_revisions(rule.entry().revisions, &Revision::ALL);
        table.add_row([rule.id(), rule.level().name(), &revisions, rule.entry().summary]);
    }
    let text = table.render(printer.paint(), printer.width(), 0);
    printer.print(&format!("{text}\n{} rules\n", rules.len())).await?;
    Ok(Exit::Success)
}

/// Explains each of these rules.
pub(super) async fn explain(named: &NamedRules, printer: &Printer) -> Result<Exit, CommandError> {
    let rules = &named.rules;
    if printer.is_json() {
        let rules: Vec<Value> = rules.iter().copied().map(rule_as_json).collect();
        printer.print_json(&json!({ "rules": rules })).await?;
        return Ok(Exit::Success);
    }
    let columns = printer.width().unwrap_or(DEFAULT_COLUMNS);
    let texts = rules.iter().map(|rule| render_rule(*rule, columns, printer.paint()));
    printer.print(&texts.collect::<Vec<_>>().join("\n")).await?;
    Ok(Exit::Success)
}

fn render_rule(rule: Rule, columns: usize, paint: Paint) -> String {
    let entry = rule.entry();
    let mut text = format!("{}\n", paint.heading(rule.id()));
    let mut add = |name: &str, value: &str| {
        for (at, line) in line::wrap(value, columns.saturating_sub(13)).iter().enumerate() {
            let name = if at == 0 { paint.dim(&format!("{name:9}")) } else { " ".repeat(9) };
            text.push_str(&format!("  {name}  {line}\n"));
        }
    };
    add("rule", entry.summary);
    add("level", entry.level.name());
    add("revisions", &render_revisions(entry.revisions, &[]));
    add("section", &section_url(rule).unwrap_or_else(|| "none; only Sparring has it".to_owned()));
    add("change", entry.advice);
    text
}

fn rule_as_json(rule: Rule) -> Value {
    let entry = rule.entry();
    json!({
        "id": entry.id,
        "level": entry.level.name(),
        "revisions": entry.revisions.iter().map(|it| it.name()).collect::<Vec<_>>(),
        "section": section_url(rule),
        "summary": entry.summary,
        "advice": entry.advice,
    })
}

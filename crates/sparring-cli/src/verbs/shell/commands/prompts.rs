//! `/mcp prompts`: the prompts of the connected servers, by server.

use sparring_wire::types::Prompt;

use super::super::command::{Argument, Command, Tells, good};
use super::super::desk::Desk;
use super::super::telling::counted;
use crate::failure::Failure;
use crate::output::table::Table;

pub(super) const COMMAND: Command = Command {
    name: "prompts",
    takes: "[SERVER]",
    arguments: &[Argument::Server],
    needs: 0,
    about: "list the prompts of all connected servers, or of one",
    more: "Arguments in brackets may be left out.",
    tells: Tells::Nobody,
    run: |desk, words| good(run(desk, words.first())),
};

async fn run(desk: &Desk<'_>, server: Option<&String>) -> Result<(), Failure> {
    let printer = desk.printer;
    let connections = desk.connections(server)?;
    let mut none = true;
    for connection in &connections {
        let prompts = connection.prompts().items;
        if prompts.is_empty() && server.is_none() {
            continue;
        }
        none = false;
        let mut table = Table::default();
        for prompt in prompts.iter() {
            let said = prompt.description.as_deref().unwrap_or_default();
            table.row([&*prompt.name, &arguments(prompt), said]);
        }
        let text = table.render(printer.paint(), printer.width(), 2);
        let heading = format!("{} ({})", connection.server(), counted(prompts.len(), "prompt"));
        printer.print(&format!("{heading}\n{text}")).await?;
    }
    if none {
        printer.note("no connected server has prompts").await;
    }
    Ok(())
}

fn arguments(prompt: &Prompt) -> String {
    let names = prompt.arguments.iter().map(|argument| match argument.required {
        true => argument.name.clone(),
        false => format!("[{}]", argument.name),
    });
    names.collect::<Vec<_>>().join(" ")
}

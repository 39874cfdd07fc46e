//! `/mcp tools`: lists the tools of the connected servers, by server.

use serde_json::json;
use sparring_host::permissions::Reason;
use sparring_host::registry::RegisteredTool;

use super::super::command::{Announces, Argument, Command, succeed};
use super::super::event_text::pluralize;
use super::super::shell_state::ShellState;
use crate::command_error::CommandError;
use crate::output::line;
use crate::output::table::Table;
use crate::output::tool_arguments::render_short_arguments;

pub(super) const COMMAND: Command = Command {
    name: "tools",
    parameters: "[SERVER]",
    arguments: &[Argument::Server],
    min_words: 0,
    summary: "list the tools of all connected servers, or of one",
    details: "Denied tools are not listed; see /mcp permissions.",
    announces: Announces::NoServer,
    run: |state, words| succeed(run(state, words.first())),
};

async fn run(state: &ShellState<'_>, server: Option<&String>) -> Result<(), CommandError> {
    let printer = state.printer;
    let connections = state.connections(server)?;
    let (mut tools, hidden) = (state.registry.tools(), state.registry.hidden());
    // Tools without a decision are listed, even if no user can be asked now.
    let (undecided, denied): (Vec<_>, Vec<_>) =
        hidden.into_iter().partition(|(_, why)| matches!(why, Reason::NoAsker(_)));
    tools.extend(undecided.into_iter().map(|(tool, _)| tool));
    let listed = || {
        let is_selected = |tool: &&RegisteredTool| {
            connections.iter().any(|connection| *connection.server() == tool.server)
        };
        let each = tools
            .iter()
            .filter(is_selected)
            .map(|tool| json!({"server": *tool.server, "name": *tool.name, "tool": *tool.tool}));
        json!({"tools": each.collect::<Vec<_>>()})
    };
    if state.set_result(listed) {
        return Ok(());
    }
    for connection in &connections {
        let name = connection.server();
        let mut table = Table::default();
        let of_server = || tools.iter().filter(|tool| tool.server == *name);
        for tool in of_server() {
            let title = tool.tool.rest.get("title").and_then(|title| title.as_str());
            let description =
                tool.tool.description.as_deref().filter(|text| !text.is_empty()).or(title);
            let arguments = render_short_arguments(&tool.tool.input_schema, printer.width());
            table.add_row([&*tool.tool.name, &arguments, description.unwrap_or_default()]);
        }
        let mut heading = pluralize(of_server().count(), "tool");
        let denied = denied.iter().filter(|(tool, _)| tool.server == *name).count();
        if denied > 0 {
            heading = format!("{heading}, {denied} more denied");
        }
        let listed = connection.tools();
        if let Some(why) = listed.malformed {
            let why = line::first_line(&why);
            heading = format!("{heading}; skipped malformed tools: {why}");
        }
        if let Some(why) = listed.stale {
            let why = line::first_line(&why);
            heading = format!("{heading}; the list may be outdated: {why}");
        }
        let text = table.render(printer.paint(), printer.width(), 2);
        printer.print_rendered(&format!("{name} ({heading})\n{text}")).await?;
    }
    if connections.is_empty() {
        printer.note("no servers connected").await;
    }
    Ok(())
}

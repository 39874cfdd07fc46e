//! `/mcp tools`: the tools of the connected servers, by server.

use sparring_host::permissions::Reason;

use super::super::command::{Argument, Command, Tells, good};
use super::super::desk::Desk;
use super::super::telling::counted;
use crate::failure::Failure;
use crate::output::line;
use crate::output::table::Table;

pub(super) const COMMAND: Command = Command {
    name: "tools",
    takes: "[SERVER]",
    arguments: &[Argument::Server],
    needs: 0,
    about: "list the tools of all connected servers, or of one",
    more: "Those that are denied are not listed; /mcp permissions shows them.",
    tells: Tells::Nobody,
    run: |desk, words| good(run(desk, words.first())),
};

async fn run(desk: &Desk<'_>, server: Option<&String>) -> Result<(), Failure> {
    let printer = desk.printer;
    let connections = desk.connections(server)?;
    let (mut tools, hidden) = (desk.registry.tools(), desk.registry.hidden());
    // What nobody has decided about is there, whether or not somebody can be
    // asked now.
    let (undecided, denied): (Vec<_>, Vec<_>) =
        hidden.into_iter().partition(|(_, why)| matches!(why, Reason::Nobody(_)));
    tools.extend(undecided.into_iter().map(|(tool, _)| tool));
    for connection in &connections {
        let name = connection.server();
        let mut table = Table::default();
        let of_server = || tools.iter().filter(|tool| tool.server == *name);
        for tool in of_server() {
            let title = tool.tool.rest.get("title").and_then(|title| title.as_str());
            let said = tool.tool.description.as_deref().filter(|text| !text.is_empty()).or(title);
            table.row([&*tool.tool.name, said.unwrap_or_default()]);
        }
        let mut heading = counted(of_server().count(), "tool");
        let denied = denied.iter().filter(|(tool, _)| tool.server == *name).count();
        if denied > 0 {
            heading = format!("{heading}, {denied} more denied");
        }
        let listed = connection.tools();
        if let Some(why) = listed.malformed {
            let why = line::first(&why);
            heading = format!("{heading}; malformed and left out: {why}");
        }
        if let Some(why) = listed.stale {
            let why = line::first(&why);
            heading = format!("{heading}; the list may be an old one: {why}");
        }
        let text = table.render(printer.paint(), printer.width(), 2);
        printer.print(&format!("{name} ({heading})\n{text}")).await?;
    }
    if connections.is_empty() {
        printer.note("no server is connected").await;
    }
    Ok(())
}

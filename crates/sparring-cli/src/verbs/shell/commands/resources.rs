//! `/mcp resources`: the resources and templates of the connected servers, by
//! server.

use super::super::command::{Argument, Command, Tells, good};
use super::super::desk::Desk;
use super::super::telling::counted;
use crate::failure::Failure;
use crate::output::table::Table;

pub(super) const COMMAND: Command = Command {
    name: "resources",
    takes: "[SERVER]",
    arguments: &[Argument::Server],
    needs: 0,
    about: "list the resources of all connected servers, or of one",
    more: "Those with {…} in their URI are templates: /mcp read takes a URI in which that is \
           filled in.",
    tells: Tells::Nobody,
    run: |desk, words| good(run(desk, words.first())),
};

async fn run(desk: &Desk<'_>, server: Option<&String>) -> Result<(), Failure> {
    let printer = desk.printer;
    let connections = desk.connections(server)?;
    let mut none = true;
    for connection in &connections {
        let lists = connection.lists();
        let (resources, templates) = (&lists.resources.items, &lists.templates.items);
        let count = resources.len() + templates.len();
        if count == 0 && server.is_none() {
            continue;
        }
        none = false;
        let mut table = Table::default();
        for it in resources.iter() {
            let mime = it.mime_type.as_deref().unwrap_or_default();
            table.row([&it.uri, &it.name, mime, it.description.as_deref().unwrap_or_default()]);
        }
        for it in templates.iter() {
            let text = |key| it.rest.get(key).and_then(|text| text.as_str()).unwrap_or_default();
            table.row([&it.uri_template, &it.name, text("mimeType"), text("description")]);
        }
        let text = table.render(printer.paint(), printer.width(), 2);
        let heading = format!("{} ({})", connection.server(), counted(count, "resource"));
        printer.print(&format!("{heading}\n{text}")).await?;
    }
    if none {
        printer.note("no connected server has resources").await;
    }
    Ok(())
}

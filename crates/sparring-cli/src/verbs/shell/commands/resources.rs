//! `/mcp resources` lists resources and templates, and `/mcp read` reads one.

use serde_json::{Value, json};
use sparring_host::manager::Connection;
use sparring_wire::types::ReadResourceResult;

use super::super::super::read::print_contents;
use super::super::command::{Announces, Argument, Command, succeed};
use super::super::event_text::pluralize;
use super::super::shell_state::ShellState;
use crate::command_error::CommandError;
use crate::output::table::Table;

pub(super) const RESOURCES: Command = Command {
    name: "resources",
    parameters: "[SERVER]",
    arguments: &[Argument::Server],
    min_words: 0,
    summary: "list the resources of all connected servers, or of one",
    details: "A URI with {…} is a template: fill it in for /mcp read.",
    announces: Announces::NoServer,
    run: |state, words| succeed(list(state, words.first())),
};

pub(super) const READ: Command = Command {
    name: "read",
    parameters: "SERVER URI",
    arguments: &[Argument::Server, Argument::Uri],
    min_words: 2,
    summary: "read a resource of a server",
    details: "",
    announces: Announces::NoServer,
    run: |state, words| succeed(read(state, &words[0], &words[1])),
};

async fn list(state: &ShellState<'_>, server: Option<&String>) -> Result<(), CommandError> {
    let printer = state.printer;
    let connections = state.connections(server)?;
    if state.set_result(|| list_as_json(&connections)) {
        return Ok(());
    }
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
            table.add_row([&it.uri, &it.name, mime, it.description.as_deref().unwrap_or_default()]);
        }
        for it in templates.iter() {
            let text = |key| it.rest.get(key).and_then(|text| text.as_str()).unwrap_or_default();
            table.add_row([&it.uri_template, &it.name, text("mimeType"), text("description")]);
        }
        let text = table.render(printer.paint(), printer.width(), 2);
        let heading = format!("{} ({})", connection.server(), pluralize(count, "resource"));
        printer.print_rendered(&format!("{heading}\n{text}")).await?;
    }
    if none {
        printer.note("no connected server has resources").await;
    }
    Ok(())
}

fn list_as_json(connections: &[Connection]) -> Value {
    let resources = connections.iter().flat_map(|connection| {
        let server = connection.server();
        let items = connection.resources().items;
        let each = items.iter().map(|it| json!({"server": **server, "resource": **it}));
        each.collect::<Vec<_>>()
    });
    let templates = connections.iter().flat_map(|connection| {
        let server = connection.server();
        let items = connection.templates().items;
        let each = items.iter().map(|it| json!({"server": **server, "template": **it}));
        each.collect::<Vec<_>>()
    });
    json!({"resources": resources.collect::<Vec<_>>(), "templates": templates.collect::<Vec<_>>()})
}

async fn read(state: &ShellState<'_>, server: &str, uri: &str) -> Result<(), CommandError> {
    let connection = state.connection(server)?;
    let params = json!({"uri": uri}).into();
    let request = connection.request("resources/read", params);
    let response = state.requests.prepare(connection.server(), request).await;
    let response = response.map_err(CommandError::Request)?;
    let result = response.to::<ReadResourceResult>().map_err(CommandError::Request)?;
    if state.set_response(&response) {
        return Ok(());
    }
    print_contents(&result, state.printer).await
}

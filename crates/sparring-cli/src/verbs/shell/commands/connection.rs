//! `/mcp connect`, `/mcp disconnect` and `/mcp reconnect`.

use serde_json::{Value, json};
use sparring_host::manager::Connection;

use super::super::command::{Announces, Argument, Command, succeed};
use super::super::event_text::render_connected;
use super::super::shell_state::ShellState;
use crate::command_error::CommandError;

pub(super) const CONNECT: Command = Command {
    name: "connect",
    parameters: "SERVER",
    arguments: &[Argument::Server],
    min_words: 1,
    summary: "connect a server",
    details: "",
    announces: Announces::FirstServer,
    run: |state, words| succeed(connect(state, &words[0])),
};

pub(super) const DISCONNECT: Command = Command {
    name: "disconnect",
    parameters: "SERVER",
    arguments: &[Argument::Server],
    min_words: 1,
    summary: "disconnect a server, until /mcp connect",
    details: "",
    announces: Announces::FirstServer,
    run: |state, words| succeed(disconnect(state, &words[0])),
};

pub(super) const RECONNECT: Command = Command {
    name: "reconnect",
    parameters: "SERVER",
    arguments: &[Argument::Server],
    min_words: 1,
    summary: "disconnect a server and connect it again",
    details: "",
    announces: Announces::FirstServer,
    run: |state, words| succeed(reconnect(state, &words[0])),
};

async fn connect(state: &ShellState<'_>, server: &str) -> Result<(), CommandError> {
    state.check_server(server)?;
    if let Some(connection) = state.manager.get(server) {
        if state.set_result(|| connected_as_json(&connection)) {
            return Ok(());
        }
        let text = format!("already {}\n", render_connected(&connection));
        return state.printer.print(&text).await;
    }
    let connection = state.manager.connect(server).await.map_err(CommandError::NoServer)?;
    print_connected(state, &connection).await
}

/// Prints that a server is connected.
pub(super) async fn print_connected(
    state: &ShellState<'_>,
    connection: &Connection,
) -> Result<(), CommandError> {
    if state.set_result(|| connected_as_json(connection)) {
        return Ok(());
    }
    let paint = state.printer.paint();
    state.printer.print(&format!("{}\n", paint.success(&render_connected(connection)))).await
}

/// The identity of a connected server and the numbers of its items.
pub(super) fn connected_as_json(connection: &Connection) -> Value {
    let lists = connection.lists();
    json!({
        "server": **connection.server(),
        "info": connection.info(),
        "revision": connection.revision().map(|revision| revision.to_string()),
        "instructions": connection.instructions(),
        "tools": lists.tools.items.len(),
        "resources": lists.resources.items.len(),
        "templates": lists.templates.items.len(),
        "prompts": lists.prompts.items.len(),
    })
}

async fn disconnect(state: &ShellState<'_>, server: &str) -> Result<(), CommandError> {
    state.check_server(server)?;
    let was = state.manager.is_connected(server);
    state.manager.disconnect(server).await.map_err(CommandError::NoServer)?;
    if state.set_result(|| json!({"server": server, "was_connected": was})) {
        return Ok(());
    }
    let text = match was {
        true => format!("disconnected from {server}"),
        false => format!("{server} was not connected"),
    };
    state.printer.print(&format!("{}\n", state.printer.paint().success(&text))).await
}

async fn reconnect(state: &ShellState<'_>, server: &str) -> Result<(), CommandError> {
    state.check_server(server)?;
    let connection = state.manager.reconnect(server).await.map_err(CommandError::NoServer)?;
    print_connected(state, &connection).await
}

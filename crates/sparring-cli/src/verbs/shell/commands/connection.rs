//! `/mcp connect`, `/mcp disconnect` and `/mcp reconnect`.

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
    let paint = state.printer.paint();
    state.printer.print(&format!("{}\n", paint.success(&render_connected(connection)))).await
}

async fn disconnect(state: &ShellState<'_>, server: &str) -> Result<(), CommandError> {
    state.check_server(server)?;
    let was = state.manager.is_connected(server);
    state.manager.disconnect(server).await.map_err(CommandError::NoServer)?;
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

//! `/mcp connect`: connects a server.

use sparring_host::manager::Connection;

use super::super::command::{Argument, Command, Tells, good};
use super::super::desk::Desk;
use super::super::telling::connected;
use crate::failure::Failure;

pub(super) const COMMAND: Command = Command {
    name: "connect",
    takes: "SERVER",
    arguments: &[Argument::Server],
    needs: 1,
    about: "connect a server",
    more: "",
    tells: Tells::First,
    run: |desk, words| good(run(desk, &words[0])),
};

async fn run(desk: &Desk<'_>, server: &str) -> Result<(), Failure> {
    desk.known(server)?;
    if let Some(connection) = desk.manager.get(server) {
        let text = format!("already {}\n", connected(&connection));
        return desk.printer.print(&text).await;
    }
    let connection = desk.manager.connect(server).await.map_err(Failure::NoServer)?;
    tell(desk, &connection).await
}

/// Says that a server is connected, and what its rules do not fit.
pub(super) async fn tell(desk: &Desk<'_>, connection: &Connection) -> Result<(), Failure> {
    let paint = desk.printer.paint();
    desk.printer.print(&format!("{}\n", paint.good(&connected(connection)))).await
}

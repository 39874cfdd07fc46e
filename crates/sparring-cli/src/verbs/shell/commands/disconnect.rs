//! `/mcp disconnect`: ends the connection to a server.

use super::super::command::{Argument, Command, Tells, good};
use super::super::desk::Desk;
use crate::failure::Failure;

pub(super) const COMMAND: Command = Command {
    name: "disconnect",
    takes: "SERVER",
    arguments: &[Argument::Server],
    needs: 1,
    about: "end the connection to a server, until it is connected again",
    more: "",
    tells: Tells::First,
    run: |desk, words| good(run(desk, &words[0])),
};

async fn run(desk: &Desk<'_>, server: &str) -> Result<(), Failure> {
    desk.known(server)?;
    let was = desk.manager.is_connected(server);
    desk.manager.disconnect(server).await.map_err(Failure::NoServer)?;
    let text = match was {
        true => format!("disconnected from {server}"),
        false => format!("{server} was not connected"),
    };
    desk.printer.print(&format!("{}\n", desk.printer.paint().good(&text))).await
}

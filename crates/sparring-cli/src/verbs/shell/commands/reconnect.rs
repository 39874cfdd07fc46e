//! `/mcp reconnect`: ends the connection to a server, and makes another.

use super::super::command::{Argument, Command, Tells, good};
use super::super::desk::Desk;
use super::connect;
use crate::failure::Failure;

pub(super) const COMMAND: Command = Command {
    name: "reconnect",
    takes: "SERVER",
    arguments: &[Argument::Server],
    needs: 1,
    about: "end the connection to a server, and make another",
    more: "",
    tells: Tells::First,
    run: |desk, words| good(run(desk, &words[0])),
};

async fn run(desk: &Desk<'_>, server: &str) -> Result<(), Failure> {
    desk.known(server)?;
    let connection = desk.manager.reconnect(server).await.map_err(Failure::NoServer)?;
    connect::tell(desk, &connection).await
}

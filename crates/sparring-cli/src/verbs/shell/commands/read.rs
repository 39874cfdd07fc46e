//! `/mcp read`: reads a resource.

use serde_json::json;
use sparring_wire::types::ReadResourceResult;

use super::super::super::read::show;
use super::super::command::{Argument, Command, Tells, good};
use super::super::desk::Desk;
use crate::failure::Failure;

pub(super) const COMMAND: Command = Command {
    name: "read",
    takes: "SERVER URI",
    arguments: &[Argument::Server, Argument::Uri],
    needs: 2,
    about: "read a resource of a server",
    more: "",
    tells: Tells::Nobody,
    run: |desk, words| good(run(desk, &words[0], &words[1])),
};

async fn run(desk: &Desk<'_>, server: &str, uri: &str) -> Result<(), Failure> {
    let connection = desk.connection(server)?;
    let params = json!({"uri": uri}).into();
    let request = connection.request("resources/read", params);
    let response = desk.asking.with(connection.server(), request).await;
    let result = response.and_then(|it| it.to::<ReadResourceResult>()).map_err(Failure::Request)?;
    show(&result, desk.printer).await
}

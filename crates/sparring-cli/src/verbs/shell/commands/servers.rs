//! `/mcp servers`: all that is configured, and how each server is.

use sparring_host::config::State;

use super::super::command::{Command, Tells, good};
use super::super::desk::Desk;
use crate::failure::Failure;
use crate::output::table::Table;

pub(super) const COMMAND: Command = Command {
    name: "servers",
    takes: "",
    arguments: &[],
    needs: 0,
    about: "list all configured servers, and how each of them is",
    more: "What is broken, `spar config check` tells with its place; what is untrusted, \
           `spar config trust` trusts.",
    tells: Tells::Nobody,
    run: |desk, _| good(run(desk)),
};

async fn run(desk: &Desk<'_>) -> Result<(), Failure> {
    let printer = desk.printer;
    let config = desk.config();
    let mut table = Table::default();
    for (name, configured) in &config.servers {
        let state = match (desk.manager.state(name), &configured.state) {
            (Some(state), _) => state.name(),
            (None, State::Broken(_)) => "broken",
            (None, _) if !configured.enabled => "disabled",
            (None, State::Untrusted(_)) => "untrusted",
            // The flags want others.
            (None, State::Ready(_)) => "unused",
        };
        let place = format!("{}:{}", configured.origin.file.display(), configured.origin.line);
        table.row([&**name, state, configured.transport, &place, &configured.spelled]);
    }
    if config.servers.is_empty() {
        return printer.print("no server is configured; `spar config add` adds one\n").await;
    }
    printer.print(&table.render(printer.paint(), printer.width(), 0)).await
}

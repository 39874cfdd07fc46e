//! `/mcp status`, or `/mcp` alone: who is connected, and how much they have.

use sparring_host::manager::{ServerStatus, State};

use super::super::command::{Command, Tells, good};
use super::super::desk::Desk;
use super::super::telling::{contents, counted, first_line, seconds};
use crate::failure::Failure;
use crate::output::line;
use crate::output::table::Table;

pub(super) const COMMAND: Command = Command {
    name: "status",
    takes: "",
    arguments: &[],
    needs: 0,
    about: "show which servers are connected, and how much they have",
    more: "/mcp alone does the same.",
    tells: Tells::Nobody,
    run: |desk, _| good(run(desk)),
};

async fn run(desk: &Desk<'_>) -> Result<(), Failure> {
    let printer = desk.printer;
    let status = desk.manager.status();
    let all = counted(status.configured_servers, "server");
    let mut heading = format!(
        "{} of {all} connected: {}, {}, {}",
        status.connected_servers,
        counted(status.tools, "tool"),
        counted(status.resources + status.templates, "resource"),
        counted(status.prompts, "prompt"),
    );
    if status.configured_servers == 0 {
        heading = "no server can be connected; /mcp servers shows why".to_owned();
    }
    printer.print(&format!("{heading}\n")).await?;
    let mut table = Table::default();
    for server in &status.servers {
        table.row([&*server.config.name, server.state.name(), &detail(server)]);
    }
    printer.print(&table.render(printer.paint(), printer.width(), 2)).await
}

fn detail(server: &ServerStatus) -> String {
    match &server.state {
        State::Connected(connection) => {
            let mut parts = vec![contents(&connection.lists())];
            let info = connection.info().map(|info| format!("{} {}", info.name, info.version));
            parts.extend(info.map(|info| line::clean(info.trim_end())));
            parts.extend(connection.revision().map(|revision| revision.to_string()));
            parts.join("; ")
        }
        state => {
            let mut parts: Vec<String> =
                state.why().map(|why| first_line(&why.to_string())).into_iter().collect();
            parts.extend(state.tried_in().map(|time| format!("tried again in {}", seconds(time))));
            parts.join("; ")
        }
    }
}

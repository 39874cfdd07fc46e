//! `spar config get`: shows the entry of one server.

use clap::Args;
use serde_json::{Value, json};
use sparring_host::config::EntryState;

use super::config_file::unknown_server;
use super::list::{scope_name, state_name};
use crate::args::OutputFlags;
use crate::command_error::CommandError;
use crate::configured_servers;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::table::Table;
use crate::output::{Printer, line};

const EXAMPLES: &str = "\
Examples:
  spar config get files
  spar config get files --json

Shows the entry that is used, with the keys of mcp.yaml. Variables are not filled in, and
stars replace literal values of env, headers and auth.

With --json: {\"name\":…,\"state\":…,\"scope\":…,\"file\":…,\"line\":…,\"column\":…,
\"transport\":…,\"entry\":{…}}.";

/// Show the entry of a server
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Get {
    /// The server's name
    name: String,

    #[command(flatten)]
    pub(super) output_flags: OutputFlags,
}

impl Get {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        let config = configured_servers::read_without_asking(environment, printer);
        let Some(server) = config.servers.get(&self.name) else {
            return Err(unknown_server(&self.name, &config));
        };
        let (origin, state) = (&server.origin, state_name(server));
        let file = origin.file.display().to_string();
        if printer.is_json() {
            let found = json!({
                "name": self.name,
                "state": state,
                "scope": scope_name(origin.scope),
                "file": file,
                "line": origin.line,
                "column": origin.column,
                "transport": server.transport,
                "entry": server.entry,
            });
            printer.print_json(&found).await?;
        } else {
            let mut table = Table::default();
            table.add_row(["name", &*self.name]);
            table.add_row(["state", state]);
            table.add_row(["file", &*format!("{file}:{}", origin.line)]);
            for (key, value) in server.entry.as_object().into_iter().flatten() {
                table.add_row([&**key, &*line::clean(&render_value(value))]);
            }
            printer.print(&table.render(printer.paint(), None, 0)).await?;
        }
        if let EntryState::Invalid(problems) = &server.state {
            printer.print_error(&CommandError::Script(vec![problems.clone()])).await;
        }
        Ok(Exit::Success)
    }
}

/// Renders a text without quotes, and everything else as JSON.
fn render_value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

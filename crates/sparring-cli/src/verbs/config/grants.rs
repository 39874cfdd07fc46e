//! `spar config grants`: lists and revokes the tools that the user allowed with "always".

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};
use sparring_host::config::Rules;
use sparring_host::permissions::{Grant, Grants, Permissions};

use crate::args::OutputFlags;
use crate::command_error::CommandError;
use crate::configured_servers;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;
use crate::output::table::Table;

const EXAMPLES: &str = "\
Examples:
  spar config grants
  spar config grants files
  spar config grants files write_file --revoke
  spar config grants files --revoke --json

A grant is the answer \"always\" to a question about a tool. It counts while the server's
command or URL is the same; otherwise it is outdated.

With --json: {\"grants\":[{\"server\":…,\"tool\":…,\"since\":…,\"state\":…}]}, where state
is valid, outdated or unknown (no such server is in use here), or {\"revoked\":[…]}.";

/// List or revoke the tools that were allowed permanently
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct ShowGrants {
    /// Only the grants of this server
    server: Option<String>,

    /// Only the grants of this tool of the server
    tool: Option<String>,

    /// Revoke these grants
    #[arg(long, requires = "server")]
    revoke: bool,

    #[command(flatten)]
    pub(super) output_flags: OutputFlags,
}

impl ShowGrants {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        let none = "no stored grants: neither HOME nor XDG_STATE_HOME is set";
        let folder = environment.grants_folder.as_deref();
        let folder = folder.ok_or_else(|| CommandError::Usage(none.to_owned()))?;
        let (grants, note) = Grants::open(folder);
        if let Some(note) = note {
            printer.note(&note).await;
        }
        let mut found = grants.with_times();
        found.retain(|(grant, _)| self.selects(grant));
        let states = self.states(&found, printer, environment);
        if let (true, Some(server)) = (self.revoke, &self.server) {
            let revoked = grants.revoke(server, self.tool.as_deref()).await;
            revoked.map_err(|error| CommandError::File(error.to_string()))?;
        }
        self.print(&found, &states, printer).await
    }

    fn selects(&self, grant: &Grant) -> bool {
        let is_same = |wanted: &Option<String>, name: &String| {
            wanted.as_ref().is_none_or(|wanted| wanted == name)
        };
        is_same(&self.server, &grant.server) && is_same(&self.tool, &grant.tool)
    }

    /// The state of each server's grants in the current configuration.
    fn states(
        &self,
        found: &[(Grant, String)],
        printer: &Printer,
        environment: &Environment,
    ) -> BTreeMap<Grant, &'static str> {
        let config = configured_servers::read_without_asking(environment, printer);
        let (permissions, _) = Permissions::from_config(&config, Rules::default());
        let state = |grant: &Grant| match permissions.fingerprint(&grant.server) {
            Some(current) if current.as_str() == grant.target => "valid",
            Some(_) => "outdated",
            None => "unknown",
        };
        found.iter().map(|(grant, _)| (grant.clone(), state(grant))).collect()
    }

    async fn print(
        &self,
        found: &[(Grant, String)],
        states: &BTreeMap<Grant, &'static str>,
        printer: &Printer,
    ) -> Result<Exit, CommandError> {
        if printer.is_json() {
            let each = found.iter().map(|(grant, since)| {
                let Grant { server, tool, .. } = grant;
                json!({"server": server, "tool": tool, "since": since, "state": states[grant]})
            });
            let key = if self.revoke { "revoked" } else { "grants" };
            printer.print_json(&json!({key: each.collect::<Vec<Value>>()})).await?;
        } else {
            let mut table = Table::default();
            for (grant, since) in found {
                let state = if self.revoke { "revoked" } else { states[grant] };
                table.add_row([&*grant.server, &*grant.tool, state, &**since]);
            }
            printer.print(&table.render(printer.paint(), printer.width(), 0)).await?;
        }
        if found.is_empty() {
            printer.note("no such grants").await;
        }
        Ok(Exit::Success)
    }
}

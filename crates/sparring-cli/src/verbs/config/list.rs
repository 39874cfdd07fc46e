//! `spar config list`: lists the configured servers, with their files.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};
use sparring_host::config::{ConfiguredServer, EntryState, Origin, Scope, UnusedReason};

use super::health::{Health, check_servers};
use crate::args::OutputFlags;
use crate::command_error::CommandError;
use crate::configured_servers;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;
use crate::output::table::Table;

const EXAMPLES: &str = "\
Examples:
  spar config list
  spar config list --check
  spar config list --json

A server is enabled, disabled, untrusted (see spar config trust), broken (see spar
config check) or overridden by a server of the same name in another file.

--check connects every enabled server, shows its health, and ends it again. The exit code
is 1 if one cannot be connected.

With --json: {\"servers\":[{\"name\":…,\"transport\":…,\"state\":…,\"target\":…,
\"scope\":…,\"file\":…,\"line\":…,\"column\":…}],\"files\":[…]}. With --check also
\"health\": {\"ok\":true,\"revision\":…,\"tools\":…,\"resources\":…,\"prompts\":…} or
{\"ok\":false,\"error\":…}.";

/// List the servers of all config files
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct List {
    /// Connect the enabled servers and show their health
    #[arg(long)]
    check: bool,

    #[command(flatten)]
    pub(super) output_flags: OutputFlags,
}

struct Row<'a> {
    name: &'a str,
    transport: &'a str,
    state: &'static str,
    spelled: &'a str,
    origin: &'a Origin,
    health: Option<&'a Health>,
}

impl List {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        let (config, checked) = match self.check {
            false => {
                (configured_servers::read_without_asking(environment, printer), BTreeMap::new())
            }
            true => {
                let config = configured_servers::read_ready(environment, printer).await?;
                let checked = check_servers(&config).await;
                (config, checked)
            }
        };
        let used = config.servers.iter().map(|(name, it)| Row {
            name,
            transport: it.transport,
            state: state_name(it),
            spelled: &it.spelled,
            origin: &it.origin,
            health: checked.get(name),
        });
        let unused = config.unused.iter().map(|it| Row {
            name: &it.name,
            transport: it.transport,
            state: match it.why {
                UnusedReason::Overridden => "overridden",
                UnusedReason::Untrusted => "untrusted",
            },
            spelled: &it.spelled,
            origin: &it.origin,
            health: None,
        });
        let mut rows: Vec<Row<'_>> = used.chain(unused).collect();
        // A stable sort: the entry in use stays before the overridden ones.
        rows.sort_by_key(|row| row.name);
        if printer.is_json() {
            let files = config.files.iter().filter(|file| file.is_there);
            let files: Vec<String> =
                files.map(|file| file.location.file.display().to_string()).collect();
            let servers: Vec<Value> = rows.iter().map(row_to_json).collect();
            printer.print_json(&json!({"servers": servers, "files": files})).await?;
        } else {
            let mut table = Table::default();
            for row in &rows {
                let place = format!("{}:{}", row.origin.file.display(), row.origin.line);
                let health = row.health.map(Health::render).unwrap_or_default();
                match self.check {
                    true => table.add_row([row.name, row.transport, row.state, &health, &place]),
                    false => {
                        table.add_row([row.name, row.transport, row.state, &place, row.spelled]);
                    }
                }
            }
            printer.print(&table.render(printer.paint(), printer.width(), 0)).await?;
            if rows.is_empty() {
                printer.note("no servers configured; add one with `spar config add`").await;
            }
        }
        for fault in &config.faults {
            let file = configured_servers::fault_file(fault);
            let note = format!("{file} is ignored because of errors; run `spar config check`");
            printer.note(&note).await;
        }
        let failed = checked.values().any(|health| matches!(health, Health::Failed(_)));
        Ok(if failed { Exit::Failed } else { Exit::Success })
    }
}

/// Returns the word for the state of an entry.
pub(super) fn state_name(configured: &ConfiguredServer) -> &'static str {
    match &configured.state {
        EntryState::Invalid(_) => "broken",
        _ if !configured.enabled => "disabled",
        EntryState::Ready(_) => "enabled",
        EntryState::Untrusted(_) => "untrusted",
    }
}

fn row_to_json(row: &Row<'_>) -> Value {
    let mut found = json!({
        "name": row.name,
        "transport": row.transport,
        "state": row.state,
        "target": row.spelled,
        "scope": scope_name(row.origin.scope),
        "file": row.origin.file.display().to_string(),
        "line": row.origin.line,
        "column": row.origin.column,
    });
    match row.health {
        Some(Health::Connected { revision, tools, resources, prompts }) => {
            found["health"] = json!({
                "ok": true, "revision": revision, "tools": tools, "resources": resources,
                "prompts": prompts,
            });
        }
        Some(Health::Failed(why)) => found["health"] = json!({"ok": false, "error": why}),
        None => {}
    }
    found
}

/// Returns the word for a scope.
pub(super) fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::User => "user",
        Scope::Project => "project",
    }
}

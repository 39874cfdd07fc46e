//! `/mcp reload`: reloads the configuration, and prints the changes.

use std::sync::Arc;

use serde_json::{Value, json};
use sparring_host::manager::Changes;

use super::super::command::{Announces, Command, succeed};
use super::super::event_text::{first_line, render_changes, render_connected};
use super::super::shell_state::ShellState;
use crate::command_error::CommandError;

pub(super) const COMMAND: Command = Command {
    name: "reload",
    parameters: "",
    arguments: &[],
    min_words: 0,
    summary: "reload the configuration and apply the changes",
    details: "Servers with an unchanged entry stay connected. If a file cannot be read, nothing \
              changes. At a terminal, changed files are reloaded automatically.",
    announces: Announces::AllServers,
    run: |state, _| succeed(run(state)),
};

async fn run(state: &ShellState<'_>) -> Result<(), CommandError> {
    let printer = state.printer;
    let (servers, notes) = state.reload().await?;
    for note in &notes {
        printer.note(note).await;
    }
    let changes = state.manager.reload(servers).await.map_err(CommandError::NoServer)?;
    if !state.set_result(|| changes_as_json(&changes)) {
        printer.print(&format!("{}\n", printer.paint().success(&render_changes(&changes)))).await?;
        let new = changes.added.iter().chain(&changes.changed);
        for connection in new.filter_map(|name| state.manager.get(name)) {
            printer.print(&format!("  {}\n", render_connected(&connection))).await?;
        }
    }
    state.registry.sync(&state.manager);
    for note in state.registry.unmatched_rules() {
        printer.note(&note).await;
    }
    let mut failed = changes.failed.iter().map(|(name, error)| (Arc::clone(name), error));
    let Some((_, last)) = failed.next_back() else { return Ok(()) };
    for (_, error) in failed {
        printer.error(&first_line(&error.to_string())).await;
    }
    Err(CommandError::NoServer(last.clone()))
}

fn changes_as_json(changes: &Changes) -> Value {
    let names = |names: &[Arc<str>]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    json!({
        "added": names(&changes.added), "removed": names(&changes.removed),
        "changed": names(&changes.changed), "changed_policy": names(&changes.policy_only),
    })
}

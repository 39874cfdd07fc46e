//! `/mcp reload`: reads the configuration again, and says what differs.

use std::sync::Arc;

use super::super::command::{Command, Tells, good};
use super::super::desk::Desk;
use super::super::telling::{changed, connected, first_line};
use crate::failure::Failure;

pub(super) const COMMAND: Command = Command {
    name: "reload",
    takes: "",
    arguments: &[],
    needs: 0,
    about: "read the configuration again, and do what has changed",
    more: "A server whose entry is as it was stays connected. If a file cannot be read, all stays \
           as it is. At a terminal files that change are read again by themselves.",
    tells: Tells::All,
    run: |desk, _| good(run(desk)),
};

async fn run(desk: &Desk<'_>) -> Result<(), Failure> {
    let printer = desk.printer;
    let (servers, notes) = desk.read_again().await?;
    for note in &notes {
        printer.note(note).await;
    }
    let changes = desk.manager.reload(servers).await.map_err(Failure::NoServer)?;
    printer.print(&format!("{}\n", printer.paint().good(&changed(&changes)))).await?;
    let new = changes.added.iter().chain(&changes.changed);
    for connection in new.filter_map(|name| desk.manager.get(name)) {
        printer.print(&format!("  {}\n", connected(&connection))).await?;
    }
    desk.registry.sync(&desk.manager);
    for note in desk.registry.unfit_rules() {
        printer.note(&note).await;
    }
    let mut failed = changes.failed.iter().map(|(name, error)| (Arc::clone(name), error));
    let Some((_, last)) = failed.next_back() else { return Ok(()) };
    for (_, error) in failed {
        printer.error(&first_line(&error.to_string())).await;
    }
    Err(Failure::NoServer(last.clone()))
}

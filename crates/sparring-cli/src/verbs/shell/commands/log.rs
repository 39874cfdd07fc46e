//! `/mcp log`: shows the events of a server, and the end of its stderr.

use serde_json::json;

use super::super::command::{Announces, Argument, Command, succeed};
use super::super::event_text::{first_line, format_age};
use super::super::shell_state::ShellState;
use crate::command_error::CommandError;
use crate::output::table::Table;

pub(super) const COMMAND: Command = Command {
    name: "log",
    parameters: "SERVER",
    arguments: &[Argument::Server],
    min_words: 1,
    summary: "show the events of a server, and the end of its stderr",
    details: "",
    announces: Announces::NoServer,
    run: |state, words| succeed(run(state, &words[0])),
};

async fn run(state: &ShellState<'_>, server: &str) -> Result<(), CommandError> {
    state.check_server(server)?;
    let printer = state.printer;
    let mut table = Table::default();
    let mut lost_stderr = String::new();
    for entry in state.log().entries_of(server) {
        let (text, rest) = entry.text.split_once('\n').unwrap_or((&entry.text, ""));
        table.add_row([&*format!("{} ago", format_age(entry.at.elapsed())), text]);
        // Later events, such as a new connection, have no stderr.
        if !rest.trim().is_empty() {
            lost_stderr = rest.to_owned();
        }
    }
    let mut text = table.render(printer.paint(), printer.width(), 0);
    let connection = state.manager.get(server);
    let (lost_title, stderr) = match &connection {
        Some(connection) => ("stderr of the lost connection:", connection.stderr()),
        None => ("stderr:", String::new()),
    };
    for (title, stderr) in [(lost_title, &lost_stderr), ("stderr:", &stderr)] {
        if stderr.trim().is_empty() {
            continue;
        }
        text.push_str(&format!("{}\n", printer.paint().dim(title)));
        for line in stderr.trim_end().lines() {
            text.push_str(&format!("  {}\n", printer.paint().untrusted(line)));
        }
    }
    let events = || {
        let each = state.log();
        let each = each.entries_of(server);
        let each = each.map(|entry| {
            let text = first_line(&entry.text);
            json!({"seconds_ago": entry.at.elapsed().as_secs(), "text": text})
        });
        let events = each.collect::<Vec<_>>();
        json!({"events": events, "stderr": stderr, "stderr_of_lost_connection": lost_stderr})
    };
    if state.set_result(events) {
        return Ok(());
    }
    let noise = connection.as_ref().map_or(0, |it| it.skipped_lines());
    let violations = connection.as_ref().map_or(0, |it| it.violations());
    if noise + violations as u64 > 0 {
        text.push_str(&format!(
            "{noise} lines on stdout that are not JSON-RPC, {violations} protocol violations\n"
        ));
    }
    if text.is_empty() {
        text = format!("no events of {server}\n");
    }
    printer.print(&text).await
}

//! `/mcp status` shows the connections, and `/mcp servers` all configured servers.

use serde_json::json;
use sparring_host::config;
use sparring_host::manager::{ServerState, ServerStatus};

use super::super::command::{Announces, Command, succeed};
use super::super::event_text::{first_line, format_age, pluralize, render_contents};
use super::super::shell_state::ShellState;
use super::connection::connected_as_json;
use crate::command_error::CommandError;
use crate::output::line;
use crate::output::table::Table;

pub(super) const STATUS: Command = Command {
    name: "status",
    parameters: "",
    arguments: &[],
    min_words: 0,
    summary: "show the connected servers and what they offer",
    details: "`mcp` does the same.",
    announces: Announces::NoServer,
    run: |state, _| succeed(status(state)),
};

pub(super) const SERVERS: Command = Command {
    name: "servers",
    parameters: "",
    arguments: &[],
    min_words: 0,
    summary: "list all configured servers and their states",
    details: "For broken servers see `spar config check`, for untrusted ones `spar config trust`.",
    announces: Announces::NoServer,
    run: |state, _| succeed(servers(state)),
};

async fn status(state: &ShellState<'_>) -> Result<(), CommandError> {
    let printer = state.printer;
    let report = state.manager.status();
    let servers = || {
        let each = report.servers.iter().map(|server| match &server.state {
            ServerState::Connected(connection) => {
                let mut object = connected_as_json(connection);
                object["state"] = server.state.name().into();
                object
            }
            other => {
                let why = other.reason().map(|why| first_line(&why.to_string()));
                json!({"server": server.config.name, "state": other.name(), "reason": why})
            }
        });
        json!({"servers": each.collect::<Vec<_>>()})
    };
    if state.set_result(servers) {
        return Ok(());
    }
    let all = pluralize(report.configured_servers, "server");
    let mut heading = format!(
        "{} of {all} connected: {}, {}, {}",
        report.connected_servers,
        pluralize(report.tools, "tool"),
        pluralize(report.resources + report.templates, "resource"),
        pluralize(report.prompts, "prompt"),
    );
    if report.configured_servers == 0 {
        heading = "no server can be connected; see /mcp servers".to_owned();
    }
    printer.print(&format!("{heading}\n")).await?;
    let mut table = Table::default();
    for server in &report.servers {
        table.add_row([&*server.config.name, server.state.name(), &detail(server)]);
    }
    printer.print(&table.render(printer.paint(), printer.width(), 2)).await
}

fn detail(server: &ServerStatus) -> String {
    match &server.state {
        ServerState::Connected(connection) => {
            let mut parts = vec![render_contents(&connection.lists())];
            let info = connection.info().map(|info| format!("{} {}", info.name, info.version));
            parts.extend(info.map(|info| line::clean(info.trim_end())));
            parts.extend(connection.revision().map(|revision| revision.to_string()));
            parts.join("; ")
        }
        state => {
            let mut parts: Vec<String> =
                state.reason().map(|why| first_line(&why.to_string())).into_iter().collect();
            parts.extend(
                state.retry_in().map(|time| format!("reconnecting in {}", format_age(time))),
            );
            parts.join("; ")
        }
    }
}

async fn servers(state: &ShellState<'_>) -> Result<(), CommandError> {
    let printer = state.printer;
    let configuration = state.config();
    let mut table = Table::default();
    let mut rows = Vec::new();
    for (name, configured) in &configuration.servers {
        let state = match (state.manager.state(name), &configured.state) {
            (Some(state), _) => state.name(),
            (None, config::EntryState::Invalid(_)) => "broken",
            (None, _) if !configured.enabled => "disabled",
            (None, config::EntryState::Untrusted(_)) => "untrusted",
            // `--server` names others.
            (None, config::EntryState::Ready(_)) => "unused",
        };
        let place = format!("{}:{}", configured.origin.file.display(), configured.origin.line);
        table.add_row([&**name, state, configured.transport, &place, &configured.spelled]);
        rows.push(json!({
            "server": name, "state": state, "transport": configured.transport,
            "file": configured.origin.file.display().to_string(),
            "line": configured.origin.line, "target": configured.spelled,
        }));
    }
    if state.set_result(|| json!({"servers": rows})) {
        return Ok(());
    }
    if configuration.servers.is_empty() {
        return printer.print("no servers configured; add one with `spar config add`\n").await;
    }
    printer.print(&table.render(printer.paint(), printer.width(), 0)).await
}

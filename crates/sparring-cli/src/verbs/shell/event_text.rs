//! Renders the states and events of servers as text.

use std::time::Duration;

use sparring_host::manager::{Changes, Connection, Event, Lists, ServerState};

use crate::output::line;

/// An event as text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct EventText {
    /// The server of the event.
    pub(super) server: Option<String>,
    /// The text for the log. The end of a stderr follows in more lines.
    pub(super) logged: String,
    /// The text to print; nothing for unimportant events.
    pub(super) printed: Option<String>,
    /// The new state of the connection, if it changed.
    pub(super) connected: Option<bool>,
}

/// Renders an event, or nothing if it has no text.
pub(super) fn render_event(event: &Event) -> Option<EventText> {
    match event {
        Event::State { server, state } => {
            let (logged, printed) = render_state(server, state);
            let connected = Some(matches!(state, ServerState::Connected(_)));
            Some(EventText { server: Some(server.to_string()), logged, printed, connected })
        }
        Event::ListChanged { server, what } => {
            let text = format!("{server} changed its {}", list_title(what.field()));
            Some(server_event(server, text))
        }
        Event::ListStale { server, what, why } => {
            let what = list_title(what.field());
            let text = format!("keeping the previous {what} of {server}: {why}");
            Some(server_event(server, text))
        }
        Event::ListMalformed { server, what, why } => {
            let what = list_title(what.field());
            Some(server_event(server, format!("skipped malformed {what} of {server}: {why}")))
        }
        Event::SubscriptionFailed { server, why } => {
            Some(server_event(server, format!("{server} does not notify about changes: {why}")))
        }
        Event::LeftRunning { server, what } => {
            Some(server_event(server, format!("processes of {server} may be left: {what}")))
        }
        Event::Reloaded(changes) if changes.is_empty() => None,
        Event::Reloaded(changes) => Some(general_event(render_changes(changes))),
        Event::ReloadFailed { problem } => {
            Some(general_event(format!("cannot reload the configuration: {problem}")))
        }
        Event::Missed(count) => Some(general_event(format!("{count} events were dropped"))),
        _ => None,
    }
}

/// Renders the message that a server is connected, with the counts of its items.
pub(super) fn render_connected(connection: &Connection) -> String {
    format!("connected to {} ({})", connection.server(), render_contents(&connection.lists()))
}

/// Renders the counts of a server's items: always tools, and all other lists that are not empty.
pub(super) fn render_contents(lists: &Lists) -> String {
    let others = [
        (lists.resources.items.len() + lists.templates.items.len(), "resource"),
        (lists.prompts.items.len(), "prompt"),
    ];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    let others = others.map(|(count, what)| pluralize(count, what));
    let tools = pluralize(lists.tools.items.len(), "tool");
    std::iter::once(tools).chain(others).collect::<Vec<_>>().join(", ")
}

/// Renders the changes of a reload.
pub(super) fn render_changes(changes: &Changes) -> String {
    let lists = [
        ("added", &changes.added),
        ("removed", &changes.removed),
        ("changed", &changes.changed),
        ("changed rules or limits of", &changes.policy_only),
    ];
    let named = lists.into_iter().filter(|(_, names)| !names.is_empty());
    let named: Vec<String> = named
        .map(|(what, names)| {
            let names: Vec<&str> = names.iter().map(|name| &**name).collect();
            format!("{what} {}", names.join(", "))
        })
        .collect();
    match named.is_empty() {
        true => "reloaded: no changes".to_owned(),
        false => format!("reloaded: {}", named.join("; ")),
    }
}

/// `1 tool`, `2 tools`.
pub(super) fn pluralize(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Returns the first line of an error, without the announcement of the server's stderr.
pub(super) fn first_line(text: &str) -> String {
    let line = line::first_line(text);
    line.strip_suffix("; its stderr ends with:").unwrap_or(&line).to_owned()
}

/// Formats a duration.
pub(super) fn format_age(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds}s"),
        seconds => format!("{}min", seconds / 60),
    }
}

fn render_state(server: &str, state: &ServerState) -> (String, Option<String>) {
    match state {
        ServerState::Connected(connection) => {
            let text = render_connected(connection);
            (text.clone(), Some(text))
        }
        ServerState::Lost { why, attempt, .. } => {
            let why = why.to_string();
            let when = state.retry_in().map(format_age).unwrap_or_default();
            let printed =
                format!("{}; connecting again in {when} (attempt {attempt})", first_line(&why));
            (why, Some(printed))
        }
        ServerState::Failed { why } => {
            let why = why.to_string();
            let more = if why.contains('\n') { "; see /mcp log" } else { "" };
            let printed = format!("not connected: {}{more}", first_line(&why));
            (why, Some(printed))
        }
        ServerState::Connecting { attempt: 0 } => ("connecting".to_owned(), None),
        ServerState::Connecting { attempt } => (format!("connecting (attempt {attempt})"), None),
        ServerState::Idle => (format!("disconnected from {server}"), None),
        other => (other.name().to_owned(), None),
    }
}

fn server_event(server: &str, text: String) -> EventText {
    let server = Some(server.to_owned());
    EventText { server, logged: text.clone(), printed: Some(text), connected: None }
}

fn general_event(text: String) -> EventText {
    EventText { logged: text.clone(), printed: Some(text), ..EventText::default() }
}

fn list_title(field: &str) -> &str {
    if field == "resourceTemplates" { "resource templates" } else { field }
}

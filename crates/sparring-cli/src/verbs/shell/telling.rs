//! Words for how servers are and what happens to them.

use std::time::Duration;

use sparring_host::manager::{Changes, Connection, Event, Lists, State};

use crate::output::line;

/// Something that happened, in words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// The server that it happened to.
    pub(super) server: Option<String>,
    /// What is kept of it; the end of a stderr follows in lines of its own.
    pub(super) kept: String,
    /// What is said of it at once, where it is worth that.
    pub(super) said: Option<String>,
    /// Whether the server is connected, where that has changed.
    pub(super) connected: Option<bool>,
}

/// An event in words; none where there is nothing to say.
pub(super) fn told(event: &Event) -> Option<Told> {
    match event {
        Event::State { server, state } => {
            let (kept, said) = of_state(server, state);
            let connected = Some(matches!(state, State::Connected(_)));
            Some(Told { server: Some(server.to_string()), kept, said, connected })
        }
        Event::Listed { server, what } => {
            let text = format!("{server} has other {}", title(what.field()));
            Some(of_server(server, text))
        }
        Event::Stale { server, what, why } => {
            let what = title(what.field());
            let text = format!("the {what} of {server} stay as they were: {why}");
            Some(of_server(server, text))
        }
        Event::Malformed { server, what, why } => {
            let what = title(what.field());
            Some(of_server(server, format!("{server} has malformed {what}, left out: {why}")))
        }
        Event::NotListening { server, why } => {
            Some(of_server(server, format!("{server} does not tell of changes: {why}")))
        }
        Event::Left { server, what } => {
            Some(of_server(server, format!("something of {server} may be left: {what}")))
        }
        Event::Reloaded(changes) if changes.is_empty() => None,
        Event::Reloaded(changes) => Some(alone(changed(changes))),
        Event::NotReloaded { problem } => {
            Some(alone(format!("the configuration cannot be used, and all stays: {problem}")))
        }
        Event::Missed(count) => Some(alone(format!("{count} events came too fast to be told"))),
        _ => None,
    }
}

/// That a server is connected, and what it has.
pub(super) fn connected(connection: &Connection) -> String {
    format!("connected to {} ({})", connection.server(), contents(&connection.lists()))
}

/// How much a server has: tools always, all else only where there is any.
pub(super) fn contents(lists: &Lists) -> String {
    let others = [
        (lists.resources.items.len() + lists.templates.items.len(), "resource"),
        (lists.prompts.items.len(), "prompt"),
    ];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    let others = others.map(|(count, what)| counted(count, what));
    let tools = counted(lists.tools.items.len(), "tool");
    std::iter::once(tools).chain(others).collect::<Vec<_>>().join(", ")
}

/// What another configuration has changed.
pub(super) fn changed(changes: &Changes) -> String {
    let lists = [
        ("added", &changes.added),
        ("removed", &changes.removed),
        ("changed", &changes.changed),
        ("other rules or limits for", &changes.policy_only),
    ];
    let named = lists.into_iter().filter(|(_, names)| !names.is_empty());
    let named: Vec<String> = named
        .map(|(what, names)| {
            let names: Vec<&str> = names.iter().map(|name| &**name).collect();
            format!("{what} {}", names.join(", "))
        })
        .collect();
    match named.is_empty() {
        true => "reloaded: nothing has changed".to_owned(),
        false => format!("reloaded: {}", named.join("; ")),
    }
}

/// `1 tool`, `2 tools`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The first line of what is wrong, without the announcement of what a server
/// said last.
pub(super) fn first_line(text: &str) -> String {
    let line = line::first(text);
    line.strip_suffix("; its stderr ends with:").unwrap_or(&line).to_owned()
}

/// A time for a person.
pub(super) fn seconds(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds}s"),
        seconds => format!("{}min", seconds / 60),
    }
}

fn of_state(server: &str, state: &State) -> (String, Option<String>) {
    match state {
        State::Connected(connection) => {
            let text = connected(connection);
            (text.clone(), Some(text))
        }
        State::Lost { why, attempt, .. } => {
            let why = why.to_string();
            let when = state.tried_in().map(seconds).unwrap_or_default();
            let said = format!("{}; try {attempt} to connect in {when}", first_line(&why));
            (why, Some(said))
        }
        State::Failed { why } => {
            let why = why.to_string();
            let more = if why.contains('\n') { "; /mcp log tells more" } else { "" };
            let said = format!("not connected: {}{more}", first_line(&why));
            (why, Some(said))
        }
        State::Connecting { attempt: 0 } => ("connecting".to_owned(), None),
        State::Connecting { attempt } => (format!("connecting, try {attempt}"), None),
        State::Idle => (format!("disconnected from {server}"), None),
        other => (other.name().to_owned(), None),
    }
}

fn of_server(server: &str, text: String) -> Told {
    let server = Some(server.to_owned());
    Told { server, kept: text.clone(), said: Some(text), connected: None }
}

fn alone(text: String) -> Told {
    Told { kept: text.clone(), said: Some(text), ..Told::default() }
}

fn title(field: &str) -> &str {
    if field == "resourceTemplates" { "resource templates" } else { field }
}

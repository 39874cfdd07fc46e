//! Prints the events of the servers to stderr.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::convert::Infallible;

use sparring_host::gateway;
use sparring_host::manager::{Changes, Connection, Event, Manager, ServerState};
use sparring_host::registry::Registry;

use crate::host::{Host, many_tools_note};
use crate::output::Printer;

/// Prints events.
pub(super) struct EventOutput<'a> {
    manager: &'a Manager,
    registry: &'a Registry,
    pub(super) printer: &'a Printer,
    /// True if the first connects are done. Until then, the code that connects prints the
    /// failures.
    startup_done: Cell<bool>,
    /// The notes about items that were printed.
    printed_items: RefCell<HashSet<String>>,
}

impl<'a> EventOutput<'a> {
    pub(super) fn new(host: &'a Host, printer: &'a Printer) -> Self {
        let Host { manager, registry, .. } = host;
        EventOutput {
            manager,
            registry,
            printer,
            startup_done: Cell::new(false),
            printed_items: RefCell::default(),
        }
    }

    /// Prints the served servers and tools, after the first connection attempts.
    pub(super) async fn print_summary(&self) {
        self.startup_done.set(true);
        let status = self.manager.status();
        let tools = self.registry.tools().len();
        let note = format!(
            "serving {}, {} and {} of {}",
            count(tools, "tool"),
            count(status.resources, "resource"),
            count(status.prompts, "prompt"),
            count(status.connected_servers, "server"),
        );
        self.printer.note(&note).await;
        if let Some(note) = many_tools_note(tools) {
            self.printer.note(&note).await;
        }
    }

    /// Prints events until it is dropped.
    pub(super) async fn run(&self) -> Infallible {
        let mut events = self.manager.subscribe();
        while let Some(event) = events.next().await {
            self.print_event(event).await;
        }
        std::future::pending().await
    }

    /// Prints a note for each item that is not listed, once.
    async fn print_unlisted_items(&self, connection: &Connection) {
        for note in gateway::unlisted_items(connection) {
            let note = format!("`{}`: {note}", connection.server());
            if self.printed_items.borrow_mut().insert(note.clone()) {
                self.printer.note(&note).await;
            }
        }
    }

    async fn print_event(&self, event: Event) {
        match event {
            Event::State { server, state: ServerState::Connected(connection) } => {
                let tools = count(connection.tools().items.len(), "tool");
                self.printer.note(&format!("`{server}` is connected: {tools}")).await;
                self.print_unlisted_items(&connection).await;
            }
            Event::ListChanged { server, .. } => {
                if let Some(connection) = self.manager.get(&server) {
                    self.print_unlisted_items(&connection).await;
                }
            }
            Event::State { state: ServerState::Lost { why, .. }, .. } => {
                self.printer.error(&format!("{why}; reconnecting")).await;
            }
            Event::State { state: ServerState::Failed { why }, .. } if self.startup_done.get() => {
                self.printer.error(&why.to_string()).await;
            }
            Event::ListStale { server, what, why } => {
                let method = what.method();
                let note = format!("`{server}`: keeping the previous result of {method}: {why}");
                self.printer.note(&note).await;
            }
            Event::ListMalformed { server, what, why } => {
                let method = what.method();
                let note = format!("`{server}`: skipped malformed items of {method}: {why}");
                self.printer.note(&note).await;
            }
            Event::SubscriptionFailed { server, why } => {
                self.printer
                    .note(&format!("`{server}` does not notify about changes: {why}"))
                    .await;
            }
            Event::LeftRunning { server, what } => {
                self.printer.note(&format!("processes of `{server}` may be left: {what}")).await;
            }
            Event::Reloaded(changes) => {
                if let Some(summary) = render_changes(&changes) {
                    self.printer.note(&format!("reloaded the configuration: {summary}")).await;
                }
            }
            Event::ReloadFailed { problem } => {
                self.printer.error(&problem).await;
                self.printer.note("still serving the previous configuration").await;
            }
            _ => {}
        }
    }
}

fn render_changes(changes: &Changes) -> Option<String> {
    let each = [
        (&changes.added, "new"),
        (&changes.removed, "removed"),
        (&changes.changed, "changed"),
        (&changes.policy_only, "with changed rules"),
    ];
    let each = each.into_iter().filter(|(names, _)| !names.is_empty());
    let each: Vec<String> =
        each.map(|(names, what)| format!("{} {what}", names.join(", "))).collect();
    (!each.is_empty()).then(|| each.join("; "))
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

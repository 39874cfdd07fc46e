//! Tells on stderr what becomes of the servers.

use std::cell::Cell;
use std::convert::Infallible;

use sparring_host::manager::{Changes, Event, Manager, State};
use sparring_host::registry::Registry;

use crate::host::Host;
use crate::output::Printer;

/// Who tells.
pub(super) struct Telling<'a> {
    manager: &'a Manager,
    registry: &'a Registry,
    pub(super) printer: &'a Printer,
    /// Whether all are connected that were to be at first; until then, whoever
    /// connects them tells what fails.
    has_begun: Cell<bool>,
}

impl<'a> Telling<'a> {
    pub(super) fn new(host: &'a Host, printer: &'a Printer) -> Self {
        let Host { manager, registry, .. } = host;
        Telling { manager, registry, printer, has_begun: Cell::new(false) }
    }

    /// Tells what there is, once all servers are connected that can be.
    pub(super) async fn begun(&self) {
        self.has_begun.set(true);
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
    }

    /// Tells what happens, for as long as somebody waits for it.
    pub(super) async fn follow(&self) -> Infallible {
        let mut events = self.manager.subscribe();
        while let Some(event) = events.next().await {
            self.tell(event).await;
        }
        std::future::pending().await
    }

    async fn tell(&self, event: Event) {
        match event {
            Event::State { server, state: State::Connected(connection) } => {
                let tools = count(connection.tools().items.len(), "tool");
                self.printer.note(&format!("`{server}` is connected and has {tools}")).await;
            }
            Event::State { state: State::Lost { why, .. }, .. } => {
                self.printer.error(&format!("{why}; it is tried again")).await;
            }
            Event::State { state: State::Failed { why }, .. } if self.has_begun.get() => {
                self.printer.error(&why.to_string()).await;
            }
            Event::Stale { server, what, why } => {
                let method = what.method();
                let note =
                    format!("`{server}` gives no new {method}, and its old one stays: {why}");
                self.printer.note(&note).await;
            }
            Event::Malformed { server, what, why } => {
                let method = what.method();
                let note = format!("`{server}` has malformed items in {method}, left out: {why}");
                self.printer.note(&note).await;
            }
            Event::NotListening { server, why } => {
                self.printer.note(&format!("`{server}` does not tell of changes: {why}")).await;
            }
            Event::Left { server, what } => {
                self.printer.note(&format!("of `{server}` something may be left: {what}")).await;
            }
            Event::Reloaded(changes) => {
                if let Some(summary) = summary(&changes) {
                    self.printer.note(&format!("the files were read again: {summary}")).await;
                }
            }
            Event::NotReloaded { problem } => {
                self.printer.error(&problem).await;
                self.printer.note("what the files said before is still served").await;
            }
            _ => {}
        }
    }
}

fn summary(changes: &Changes) -> Option<String> {
    let each = [
        (&changes.added, "new"),
        (&changes.removed, "gone"),
        (&changes.changed, "changed"),
        (&changes.policy_only, "with other rules"),
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

//! What only a server that is right for it can do: `restart`, `stderr`, HTTP,
//! and what goes with tests that run at once.

use sparring_script::{Node, Span};

use super::Loader;
use crate::model::{Collection, Facet, Journal, Server, Step, Test, Verb, Way};

impl Loader {
    /// The steps under `setup` or `teardown`.
    pub(super) fn around(&mut self, node: &Node, key: &str) -> Vec<Step> {
        let steps = node.get(key).map(Node::items).unwrap_or_default();
        let steps = self.steps(steps);
        for (span, _) in steps.iter().filter_map(|step| step.expect.snapshot()) {
            self.problems.add(span, format!("`snapshot` does not go into `{key}`"));
        }
        steps
    }

    /// What is done on each server after its start and before its end.
    pub(super) fn suite_around(
        &mut self,
        node: &Node,
        servers: &[Server],
    ) -> (Vec<Step>, Vec<Step>) {
        let (setup, teardown) = (self.around(node, "setup"), self.around(node, "teardown"));
        self.check_no_restart(&setup, "setup");
        self.check_no_restart(&teardown, "teardown");
        self.check_holes(setup.iter().chain(&teardown), Vec::new());
        for server in servers {
            self.check_server(setup.iter().chain(&teardown), Some(server));
        }
        (setup, teardown)
    }

    /// What a server is started anew for is the test, and its setup: not the
    /// suite, whose setup is done after each start, nor what cleans up.
    pub(super) fn check_no_restart(&mut self, steps: &[Step], key: &str) {
        for step in steps.iter().filter(|step| matches!(step.verb, Verb::Restart)) {
            self.problems.add(step.span, format!("`restart` does not go into this `{key}`"));
        }
    }

    /// Whether a server has what the steps look at.
    pub(super) fn check_server<'s>(
        &mut self,
        steps: impl Iterator<Item = &'s Step>,
        server: Option<&Server>,
    ) {
        let Some(server) = server else { return };
        let name = &server.name;
        let started = matches!(server.way, Way::Child(_) | Way::Container(..));
        for step in steps {
            if matches!((&step.verb, &server.way), (Verb::Restart, Way::Http(_))) {
                let message = format!("`{name}` is not started here, and cannot be started anew");
                self.problems.add(step.span, message);
            }
            for (span, facet) in &step.expect.0 {
                match facet {
                    Facet::Stderr(_) if !started && !step.verb.is_agent() => {
                        let message = format!("the stderr of `{name}` cannot be seen from here");
                        self.problems.add(*span, message);
                    }
                    Facet::Status(_) | Facet::Headers(_) if started => {
                        let message = format!("`{name}` is not talked to over HTTP");
                        self.problems.add(*span, message);
                    }
                    _ => {}
                }
            }
        }
    }

    /// What tests that run at once share belongs to none of them.
    pub(super) fn check_shared(&mut self, node: &Node, test: &Test, server: Option<&Server>) {
        let Some(server) = server.filter(|server| server.concurrency > 1) else { return };
        let mut refuse = |span: Span, what: &str| {
            let message = format!("{what} does not go with the `concurrency` of `{}`", server.name);
            self.problems.add(span, message);
        };
        if let Some(isolate) = node.entry("isolate").filter(|_| test.isolate) {
            refuse(isolate.key_span, "`isolate`");
        }
        for step in test.all_steps() {
            if matches!(step.verb, Verb::Restart) {
                refuse(step.span, "`restart`");
            }
            if !step.answers.0.is_empty() {
                refuse(step.span, "an `answer`");
            }
            for (span, facet) in &step.expect.0 {
                if let Some(key) = shared(facet, step.verb.is_agent()) {
                    refuse(*span, &format!("`{key}`"));
                }
            }
        }
    }
}

/// The key of an expectation of what a connection shares.
fn shared(facet: &Facet, of_agent: bool) -> Option<&'static str> {
    match facet {
        Facet::Stderr(_) if of_agent => None,
        Facet::Exit(_) | Facet::Stdout(_) | Facet::Files(_) => None,
        Facet::Journal { journal: Journal::Received, .. } => Some("received"),
        Facet::Journal { journal: Journal::Called, .. } => Some("called"),
        Facet::Items(Collection::List, _)
        | Facet::Value(..)
        | Facet::Within(_)
        | Facet::Snapshot(_) => None,
        Facet::Items(collection, _) => Some(collection.key()),
        Facet::Stderr(_) => Some("stderr"),
        Facet::Status(_) => Some("status"),
        Facet::Headers(_) => Some("headers"),
    }
}

//! Reads `setup` and `teardown`, and checks that the server supports the features that
//! steps use: `restart`, `stderr`, HTTP and `concurrency`.

use sparring_script::{Node, Span};

use super::Loader;
use crate::model::{Collection, Expectation, Journal, Server, ServerKind, Step, Test, Verb};

impl Loader {
    /// Reads the steps of `setup` or `teardown`.
    pub(super) fn read_setup_steps(&mut self, node: &Node, key: &str) -> Vec<Step> {
        let steps = node.get(key).map(Node::items).unwrap_or_default();
        let steps = self.read_steps(steps);
        for (span, _) in steps.iter().filter_map(|step| step.expect.snapshot()) {
            self.problems.add(span, format!("`snapshot` cannot be used in `{key}`"));
        }
        steps
    }

    /// Reads the steps that run on each server after it starts and before it stops.
    pub(super) fn read_suite_setup(
        &mut self,
        node: &Node,
        servers: &[Server],
    ) -> (Vec<Step>, Vec<Step>) {
        let (setup, teardown) =
            (self.read_setup_steps(node, "setup"), self.read_setup_steps(node, "teardown"));
        self.check_no_restart(&setup, "setup");
        self.check_no_restart(&teardown, "teardown");
        self.check_templates(setup.iter().chain(&teardown), Vec::new());
        for server in servers {
            self.check_server(setup.iter().chain(&teardown), Some(server));
        }
        (setup, teardown)
    }

    /// Refuses `restart` in the suite's setup, which runs after each start, and in every
    /// teardown.
    pub(super) fn check_no_restart(&mut self, steps: &[Step], key: &str) {
        for step in steps.iter().filter(|step| matches!(step.verb, Verb::Restart)) {
            self.problems.add(step.span, format!("`restart` cannot be used in this `{key}`"));
        }
    }

    /// Checks that the server supports the verbs and expectations of the steps.
    pub(super) fn check_server<'s>(
        &mut self,
        steps: impl Iterator<Item = &'s Step>,
        server: Option<&Server>,
    ) {
        let Some(server) = server else { return };
        let name = &server.name;
        let over_stdio = matches!(server.kind, ServerKind::Child(_) | ServerKind::Container(..));
        let started = over_stdio || matches!(server.kind, ServerKind::HttpProcess(_));
        for step in steps {
            if matches!((&step.verb, &server.kind), (Verb::Restart, ServerKind::Http(_))) {
                let message = format!("spar does not start `{name}`, so it cannot restart it");
                self.problems.add(step.span, message);
            }
            for (span, expectation) in &step.expect.0 {
                match expectation {
                    Expectation::Stderr(_) if !started && !step.verb.is_agent() => {
                        let message =
                            format!("spar does not start `{name}`, so it cannot read its stderr");
                        self.problems.add(*span, message);
                    }
                    Expectation::Status(_) | Expectation::Headers(_) if over_stdio => {
                        let message = format!("`{name}` does not use HTTP");
                        self.problems.add(*span, message);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Refuses keys that tests with `concurrency` cannot have, because they share a connection.
    pub(super) fn check_concurrency(&mut self, node: &Node, test: &Test, server: Option<&Server>) {
        let Some(server) = server.filter(|server| server.concurrency > 1) else { return };
        let mut refuse = |span: Span, what: &str| {
            let message =
                format!("{what} cannot be used with the `concurrency` of `{}`", server.name);
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
            for (span, expectation) in &step.expect.0 {
                if let Some(key) = shared_key(expectation, step.verb.is_agent()) {
                    refuse(*span, &format!("`{key}`"));
                }
            }
        }
    }
}

/// The key of an expectation that checks shared state of a connection.
fn shared_key(expectation: &Expectation, of_agent: bool) -> Option<&'static str> {
    match expectation {
        Expectation::Stderr(_) if of_agent => None,
        Expectation::Exit(_) | Expectation::Stdout(_) | Expectation::Files(_) => None,
        Expectation::Journal { journal: Journal::Received, .. } => Some("received"),
        Expectation::Journal { journal: Journal::Called, .. } => Some("called"),
        Expectation::Items(Collection::List, _)
        | Expectation::Value(..)
        | Expectation::Within(_)
        | Expectation::Snapshot(_) => None,
        Expectation::Items(collection, _) => Some(collection.key()),
        Expectation::Stderr(_) => Some("stderr"),
        Expectation::Status(_) => Some("status"),
        Expectation::Headers(_) => Some("headers"),
    }
}

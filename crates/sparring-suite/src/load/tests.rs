//! The tests of a suite.

use sparring_script::{Entry, Node, did_you_mean};

use super::Loader;
use super::steps::VERBS;
use crate::model::{Server, Step, Test};

/// The keys of a step, which a test with `steps` cannot have itself.
const BESIDE: [&str; 4] = ["with", "answer", "expect", "save"];

impl Loader<'_> {
    pub(super) fn tests(&mut self, node: &Node, servers: &[Server]) -> Vec<Test> {
        let Some(tests) = node.get("tests") else { return Vec::new() };
        if tests.items().is_empty() {
            self.problems.add(tests.span, "there is no test");
        }
        let read: Vec<Test> = tests.items().iter().map(|node| self.test(node, servers)).collect();
        self.check_names(tests);
        read
    }

    fn test(&mut self, node: &Node, servers: &[Server]) -> Test {
        let server = self.server_of(node, servers);
        let steps = self.steps_of(node);
        self.check_holes(&steps);
        self.check_stderr(&steps, servers.get(server));
        Test {
            name: node.get("name").and_then(Node::as_str).unwrap_or_default().to_owned(),
            span: node.get("name").map_or(node.span, |name| name.span),
            tags: super::texts(node, "tags"),
            skip: node.get("skip").and_then(Node::as_str).map(str::to_owned),
            server,
            steps,
        }
    }

    /// Which server a test is about; the first where it does not say.
    fn server_of(&mut self, node: &Node, servers: &[Server]) -> usize {
        let Some(named) = node.get("server") else { return 0 };
        let name = named.as_str().unwrap_or_default();
        servers.iter().position(|server| server.name == name).unwrap_or_else(|| {
            let help = did_you_mean(name, servers.iter().map(|server| &*server.name));
            let message = format!("there is no server `{name}`");
            self.problems.add_with_help(named.span, message, help);
            0
        })
    }

    fn steps_of(&mut self, node: &Node) -> Vec<Step> {
        let Some(steps) = node.get("steps") else {
            return self.step(node).into_iter().collect();
        };
        let of_a_step =
            |entry: &&Entry| VERBS.contains(&&*entry.key) || BESIDE.contains(&&*entry.key);
        for entry in node.entries().iter().filter(of_a_step) {
            let message = format!("`{}` belongs into one of the `steps`", entry.key);
            self.problems.add(entry.key_span, message);
        }
        if steps.items().is_empty() {
            self.problems.add(steps.span, "there is no step");
        }
        steps.items().iter().filter_map(|step| self.step(step)).collect()
    }

    /// A test is chosen and told by its name, so no two may have the same.
    fn check_names(&mut self, tests: &Node) {
        let named = |node: &&Node| node.get("name").is_some_and(|name| name.as_str().is_some());
        let tests: Vec<&Node> = tests.items().iter().filter(named).collect();
        for (at, test) in tests.iter().enumerate() {
            let Some(name) = test.get("name") else { continue };
            let text = name.as_str().unwrap_or_default();
            if text.trim().is_empty() {
                self.problems.add(name.span, "the name is empty");
            } else if tests[..at]
                .iter()
                .any(|it| it.get("name").and_then(Node::as_str) == Some(text))
            {
                self.problems.add(name.span, format!("there is a test `{text}` already"));
            }
        }
    }
}

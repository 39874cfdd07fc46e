//! The tests of a suite.

use std::collections::HashSet;

use serde_json::{Map, Value};
use sparring_script::{Node, Path, Scope, Tree, Undefined, did_you_mean, duration};

use super::Loader;
use super::holes::RESERVED;
use super::steps::VERBS;
use crate::model::{Server, Step, Test};

/// What may stand beside a verb.
const BESIDE: [&str; 5] = ["with", "cancel", "answer", "expect", "save"];

/// Whether it is a key of a step, which a test with `steps` cannot have itself.
pub(super) fn is_of_a_step(key: &str) -> bool {
    VERBS.contains(&key) || BESIDE.contains(&key)
}

impl Loader {
    pub(super) fn tests(&mut self, node: &Node, servers: &[Server], known: &[&str]) -> Vec<Test> {
        let Some(tests) = node.get("tests") else { return Vec::new() };
        if tests.items().is_empty() {
            self.problems.add(tests.span, "there is no test");
        }
        let read = tests.items().iter().flat_map(|node| self.rows(node, servers, known));
        let read: Vec<Test> = read.collect();
        self.check_names(&read);
        read
    }

    /// A test, or one for each row of its table.
    fn rows(&mut self, node: &Node, servers: &[Server], known: &[&str]) -> Vec<Test> {
        let Some(cases) = node.get("cases") else {
            return vec![self.test(node, servers, known, Map::new())];
        };
        if cases.items().is_empty() {
            self.problems.add(cases.span, "there is no case");
        }
        let rows = cases.items().iter().map(|row| {
            for column in row.entries().iter().filter(|it| RESERVED.contains(&&*it.key)) {
                let message = format!("`{}` has a meaning of its own in templates", column.key);
                self.problems.add(column.key_span, message);
            }
            match row.to_json() {
                Value::Object(row) => self.test(node, servers, known, row),
                _ => self.test(node, servers, known, Map::new()),
            }
        });
        rows.collect()
    }

    fn test(
        &mut self,
        node: &Node,
        servers: &[Server],
        known: &[&str],
        case: Map<String, Value>,
    ) -> Test {
        let is = |key| node.get(key).and_then(Node::as_bool).unwrap_or_default();
        let (setup, teardown) = (self.around(node, "setup"), self.around(node, "teardown"));
        let steps = self.steps_of(node);
        let all = || setup.iter().chain(&steps).chain(&teardown);
        let server = self.server_of(node, servers, all());
        let interactions = self.brought(node, all());
        let turns = self.turns(node, servers.get(server));
        let test = Test {
            name: self.name_of(node, &case),
            only: is("only"),
            isolate: is("isolate"),
            retry: node.get("retry").and_then(Node::as_u64),
            timeout: node.get("timeout").and_then(Node::as_str).and_then(|it| duration(it).ok()),
            case,
            span: node.get("name").map_or(node.span, |name| name.span),
            tags: super::texts(node, "tags"),
            skip: node.get("skip").and_then(Node::as_str).map(str::to_owned),
            interactions,
            turns,
            server,
            setup,
            steps,
            teardown,
        };
        self.check_brought(node, test.all_steps());
        self.check_journals(test.all_steps(), servers.get(server));
        let known = known.iter().copied().chain(test.case.keys().map(String::as_str));
        let known: Vec<&str> = known.collect();
        if let Some(turns) = &test.turns {
            self.check_turns(turns, &known);
        }
        self.check_holes(test.all_steps(), known);
        self.check_no_restart(&test.teardown, "teardown");
        self.check_server(test.all_steps(), servers.get(server));
        self.check_shared(node, &test, servers.get(server));
        test
    }

    /// The name of a test; the columns of its row are filled in.
    fn name_of(&mut self, node: &Node, case: &Map<String, Value>) -> String {
        let Some(name) = node.get("name") else { return String::new() };
        // Of what is no text that was told already; it is told by its place.
        let text = name.as_str().map_or_else(|| format!("{:?}", name.span), str::to_owned);
        if case.is_empty() {
            return text;
        }
        match Tree::read(name, &mut self.problems).spelled().render(&Row(case)) {
            Ok(Value::String(name)) => name,
            Ok(other) => other.to_string(),
            Err(missing) => {
                self.problems.add(missing.span, missing.undefined.to_string());
                text
            }
        }
    }

    /// Which server a test is about; the first where it does not say.
    fn server_of<'s>(
        &mut self,
        node: &Node,
        servers: &[Server],
        mut steps: impl Iterator<Item = &'s Step>,
    ) -> usize {
        let Some(named) = node.get("server") else {
            // Behind the last there is nobody, for those who only run agents.
            return if steps.all(|step| step.verb.is_agent()) { servers.len() } else { 0 };
        };
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
            return self.steps(std::slice::from_ref(node));
        };
        for entry in node.entries().iter().filter(|entry| is_of_a_step(&entry.key)) {
            let message = format!("`{}` belongs into one of the `steps`", entry.key);
            self.problems.add(entry.key_span, message);
        }
        if steps.items().is_empty() {
            self.problems.add(steps.span, "there is no step");
        }
        self.steps(steps.items())
    }

    /// A test is chosen and told by its name, so no two may have the same.
    fn check_names(&mut self, tests: &[Test]) {
        let mut known = HashSet::new();
        for Test { name, span, case, .. } in tests {
            if name.trim().is_empty() {
                self.problems.add(*span, "the name is empty");
            } else if !known.insert(name) {
                let help = (!case.is_empty())
                    .then(|| "put a column into the name, as `it adds ${a} and ${b}`".to_owned());
                let message = format!("there is a test `{name}` already");
                self.problems.add_with_help(*span, message, help);
            }
        }
    }
}

/// The columns of a row, for the name of its test.
struct Row<'a>(&'a Map<String, Value>);

impl Scope for Row<'_> {
    fn get(&self, path: &Path) -> Result<Value, Undefined> {
        let column = self.0.get(path.root()).ok_or_else(|| {
            Undefined(format!("${{{path}}}: the table has no column `{}`", path.root()))
        })?;
        path.find(column, 1).cloned()
    }
}

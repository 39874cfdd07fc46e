//! The tests of a suite.

use std::collections::HashSet;

use serde_json::{Map, Value};
use sparring_script::{Node, NodeKind, Path, Scope, TemplateTree, UndefinedPath, did_you_mean};

use super::steps::VERBS;
use super::template_check::RESERVED;
use super::{Loader, one_or_many};
use crate::model::{Server, Step, Test};

/// The keys that a step can have beside its verb.
const STEP_KEYS: [&str; 5] = ["with", "cancel", "answer", "expect", "save"];

/// Returns true if a key belongs to a step. A test with `steps` cannot have such keys.
pub(super) fn is_step_key(key: &str) -> bool {
    VERBS.contains(&key) || STEP_KEYS.contains(&key)
}

impl Loader {
    pub(super) fn read_tests(
        &mut self,
        node: &Node,
        servers: &[Server],
        known: &[&str],
    ) -> Vec<Test> {
        let Some(tests) = node.get("tests") else { return Vec::new() };
        if tests.items().is_empty() {
            self.problems.add(tests.span, "`tests` is empty");
        }
        let read = tests.items().iter().flat_map(|node| self.read_cases(node, servers, known));
        let read: Vec<Test> = read.collect();
        self.check_test_names(&read);
        read
    }

    /// Reads a test, or one test for each of its `cases`.
    fn read_cases(&mut self, node: &Node, servers: &[Server], known: &[&str]) -> Vec<Test> {
        let Some(cases) = node.get("cases") else {
            return vec![self.read_test(node, servers, known, Map::new())];
        };
        if cases.items().is_empty() {
            self.problems.add(cases.span, "`cases` is empty");
        }
        self.check_columns(node, cases);
        let rows = cases.items().iter().map(|row| {
            for column in row.entries().iter().filter(|it| RESERVED.contains(&&*it.key)) {
                let message = format!("`{}` is reserved in templates", column.key);
                self.problems.add(column.key_span, message);
            }
            match row.to_json() {
                Value::Object(row) => self.read_test(node, servers, known, row),
                _ => self.read_test(node, servers, known, Map::new()),
            }
        });
        rows.collect()
    }

    /// Refuses columns that no template uses.
    fn check_columns(&mut self, test: &Node, cases: &Node) {
        for row in cases.items().iter().filter(|row| row.entries().is_empty()) {
            self.problems.add(row.span, "this case has no values");
        }
        let mut known = HashSet::from(RESERVED);
        let columns = cases.items().iter().flat_map(Node::entries);
        for column in columns.filter(|column| known.insert(&column.key)) {
            let is_used = |text: &str| text.contains(&format!("${{{}", column.key));
            let mut parts = test.entries().iter().filter(|entry| entry.key != "cases");
            let in_test = parts.any(|entry| any_string(&entry.value, &is_used));
            if in_test || self.shared.iter().any(|node| any_string(node, &is_used)) {
                continue;
            }
            let help = match is_step_key(&column.key) {
                true => "move it to the test; a case has only values for templates".to_owned(),
                false => format!("write `${{{}}}` where the test needs the value", column.key),
            };
            let message = format!("no template uses the column `{}`", column.key);
            self.problems.add_with_help(column.key_span, message, Some(help));
        }
    }

    fn read_test(
        &mut self,
        node: &Node,
        servers: &[Server],
        known: &[&str],
        case: Map<String, Value>,
    ) -> Test {
        let is = |key| node.get(key).and_then(Node::as_bool).unwrap_or_default();
        let (setup, teardown) =
            (self.read_setup_steps(node, "setup"), self.read_setup_steps(node, "teardown"));
        let steps = self.read_test_steps(node);
        let all = || setup.iter().chain(&steps).chain(&teardown);
        let server = self.find_server(node, servers, all());
        let interactions = self.read_interactions(node, all());
        let turns = self.read_turns(node, servers.get(server));
        let test = Test {
            name: self.read_name(node, &case),
            only: is("only"),
            isolate: is("isolate"),
            retry: node.get("retry").and_then(Node::as_u64),
            timeout: self.read_timeout(node),
            case,
            extent: node.span,
            span: node.get("name").map_or(node.span, |name| name.span),
            tags: self.read_tags(node),
            skip: self.read_full_text(node, "skip"),
            interactions,
            turns,
            server,
            setup,
            steps,
            teardown,
        };
        self.check_interactions(node, test.all_steps());
        self.check_journals(test.all_steps(), servers.get(server));
        let known = known.iter().copied().chain(test.case.keys().map(String::as_str));
        let known: Vec<&str> = known.collect();
        for (_, turns) in &test.turns {
            self.check_turns(turns, &known);
        }
        self.check_templates(test.all_steps(), known);
        self.check_no_restart(&test.teardown, "teardown");
        self.check_server(test.all_steps(), servers.get(server));
        self.check_concurrency(node, &test, servers.get(server));
        test
    }

    /// Reads the name of a test and renders the values of its case into it.
    fn read_name(&mut self, node: &Node, case: &Map<String, Value>) -> String {
        let Some(name) = node.get("name") else { return String::new() };
        // The grammar reported a name that is not a string; its position makes it unique.
        let text = name.as_str().map_or_else(|| format!("{:?}", name.span), str::to_owned);
        if case.is_empty() {
            return text;
        }
        match TemplateTree::from_node(name, &mut self.problems).into_text().render(&CaseScope(case))
        {
            Ok(Value::String(name)) => name,
            Ok(other) => other.to_string(),
            Err(missing) => {
                self.problems.add(missing.span, missing.undefined.to_string());
                text
            }
        }
    }

    fn read_tags(&mut self, node: &Node) -> Vec<String> {
        for tag in node.get("tags").map(one_or_many).unwrap_or_default() {
            if tag.as_str().is_some_and(|text| text.trim().is_empty()) {
                self.problems.add(tag.span, "the tag is empty");
            }
        }
        super::texts(node, "tags")
    }

    /// Finds the server of a test (default: the first).
    fn find_server<'s>(
        &mut self,
        node: &Node,
        servers: &[Server],
        mut steps: impl Iterator<Item = &'s Step>,
    ) -> usize {
        let Some(named) = node.get("server") else {
            // This is the index of `Server::none()`, for tests that only run agents.
            return if steps.all(|step| step.verb.is_agent()) { servers.len() } else { 0 };
        };
        let name = named.as_str().unwrap_or_default();
        servers.iter().position(|server| server.name == name).unwrap_or_else(|| {
            let help = did_you_mean(name, servers.iter().map(|server| &*server.name));
            let message = format!("no server named `{name}`");
            self.problems.add_with_help(named.span, message, help);
            0
        })
    }

    fn read_test_steps(&mut self, node: &Node) -> Vec<Step> {
        let Some(steps) = node.get("steps") else {
            return self.read_steps(std::slice::from_ref(node));
        };
        for entry in node.entries().iter().filter(|entry| is_step_key(&entry.key)) {
            let message = format!("`{}` belongs in one of the `steps`", entry.key);
            self.problems.add(entry.key_span, message);
        }
        if steps.items().is_empty() {
            self.problems.add(steps.span, "`steps` is empty");
        }
        self.read_steps(steps.items())
    }

    /// Checks that the names are unique, because tests are selected and reported by name.
    fn check_test_names(&mut self, tests: &[Test]) {
        let mut known = HashSet::new();
        for Test { name, span, case, .. } in tests {
            if name.trim().is_empty() {
                self.problems.add(*span, "the name is empty");
            } else if !known.insert(name) {
                let help = (!case.is_empty()).then(|| {
                    "use a value of the case in the name, such as `it adds ${a} and ${b}`"
                        .to_owned()
                });
                let message = format!("a test named `{name}` exists already");
                self.problems.add_with_help(*span, message, help);
            }
        }
    }
}

/// Returns true if a string in the node, at any depth, fulfils a condition.
fn any_string(node: &Node, condition: &impl Fn(&str) -> bool) -> bool {
    match &node.kind {
        NodeKind::String(text) => condition(text),
        NodeKind::List(items) => items.iter().any(|item| any_string(item, condition)),
        NodeKind::Map(entries) => {
            entries.iter().any(|it| condition(&it.key) || any_string(&it.value, condition))
        }
        _ => false,
    }
}

/// The values of a case, for the name of its test.
struct CaseScope<'a>(&'a Map<String, Value>);

impl Scope for CaseScope<'_> {
    fn get(&self, path: &Path) -> Result<Value, UndefinedPath> {
        let column = self.0.get(path.root()).ok_or_else(|| {
            UndefinedPath(format!("${{{path}}}: the case has no value `{}`", path.root()))
        })?;
        path.find(column, 1).cloned()
    }
}

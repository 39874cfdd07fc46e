//! The arguments with which the suites of a folder call tools, for checks that need good
//! arguments.
//!
//! Only literal arguments count: those with templates need a running suite. Calls that expect
//! an error are left out. Included files are not read.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use sparring_script::grammar::check_node;
use sparring_script::{Node, Problems, Shape, Source};
use sparring_transport::read_text_file;
use walkdir::WalkDir;

use crate::find::{is_searched, is_suite, without_dot};
use crate::grammar::SUITE;

/// The limits of the search: levels of folders, files and folders, suites, and the size of a
/// suite in bytes.
const MAX_DEPTH: usize = 8;
const MAX_ENTRIES: usize = 20_000;
const MAX_SUITES: usize = 200;
const MAX_SUITE_BYTES: u64 = 1024 * 1024;

/// The maximum number of arguments for one tool, and of tools.
const MAX_ARGUMENTS: usize = 8;
const MAX_TOOLS: usize = 1_000;

/// The keys with steps.
const STEPS: [&str; 3] = ["setup", "steps", "teardown"];

/// The arguments that suites have.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct CallArguments {
    /// The arguments by the name of the tool, each once.
    pub arguments: BTreeMap<String, Vec<Value>>,
    /// A remark for each suite that could not be read.
    pub notes: Vec<String>,
}

/// Reads the suites in a folder and below.
pub fn of_folder(folder: &Path) -> CallArguments {
    let mut found = CallArguments::default();
    let entries = WalkDir::new(folder).max_depth(MAX_DEPTH).sort_by_file_name().into_iter();
    let entries = entries.filter_entry(is_searched).take(MAX_ENTRIES).filter_map(Result::ok);
    let suites = entries.filter(|entry| is_suite(entry) && !entry.path().is_dir());
    for entry in suites.take(MAX_SUITES) {
        let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
        let name = without_dot(path).display().to_string();
        match read_text_file(entry.path(), MAX_SUITE_BYTES) {
            Ok(text) => found.add_suite(&Source::new(name, text)),
            Err(error) => found.add_note(&name, &error.to_string()),
        }
    }
    found
}

/// Returns the arguments in the text of one suite.
pub fn of_suite(source: &Source) -> CallArguments {
    let mut found = CallArguments::default();
    found.add_suite(source);
    found
}

impl CallArguments {
    fn add_suite(&mut self, source: &Source) {
        match parse(source) {
            Ok(suite) => self.add_calls(&suite),
            Err(problems) => {
                let first = problems.iter().next();
                let message = first.map(|it| it.message.clone()).unwrap_or_default();
                let at = first.map(|it| source.location(it.span)).unwrap_or_default();
                self.add_note(&at, &message);
            }
        }
    }

    fn add_note(&mut self, at: &str, why: &str) {
        self.notes.push(format!("the suite is not used for arguments: {at}: {why}"));
    }

    fn add_calls(&mut self, suite: &Node) {
        let fragments = suite.get("fragments").map(Node::entries).unwrap_or_default();
        fragments.iter().for_each(|fragment| self.add_steps(&fragment.value));
        let tests = suite.get("tests").map(Node::items).unwrap_or_default();
        for test in tests.iter().chain([suite]) {
            self.add_step(test);
            STEPS.iter().filter_map(|key| test.get(key)).for_each(|steps| self.add_steps(steps));
        }
    }

    fn add_steps(&mut self, steps: &Node) {
        steps.items().iter().for_each(|step| self.add_step(step));
    }

    fn add_step(&mut self, step: &Node) {
        let Some(tool) = step.get("call").and_then(Node::as_str) else { return };
        let arguments = step.get("with").map_or_else(|| json!({}), Node::to_json);
        let has_template = |text: &str| text.contains("${");
        if expects_error(step) || has_template(tool) || has_template(&arguments.to_string()) {
            return;
        }
        if self.arguments.len() == MAX_TOOLS && !self.arguments.contains_key(tool) {
            return;
        }
        let known = self.arguments.entry(tool.to_owned()).or_default();
        if known.len() < MAX_ARGUMENTS && !known.contains(&arguments) {
            known.push(arguments);
        }
    }
}

fn expects_error(step: &Node) -> bool {
    let Some(expected) = step.get("expect") else { return step.get("cancel").is_some() };
    let is_error = expected.get("is_error").is_some_and(|it| it.as_bool() != Some(false));
    is_error || expected.get("error").is_some() || step.get("cancel").is_some()
}

fn parse(source: &Source) -> Result<Node, Problems> {
    let mut node = Node::parse(source)?;
    let mut problems = Problems::new(source);
    check_node(&mut node, &Shape::Object(&SUITE), &mut problems);
    problems.into_result(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_literal_arguments_of_calls_that_succeed() {
        let suite = "
servers: {it: {command: x}}
fragments: {more: [{call: echo, with: {message: fragment}}]}
setup: [{call: open}]
tests:
  - {name: one, call: echo, with: {message: hello}}
  - {name: same, call: echo, with: {message: hello}}
  - {name: template, call: echo, with: {message: '${x}'}}
  - {name: fails, call: echo, with: {message: 1}, expect: {isError: true}}
  - {name: refused, call: echo, with: {message: 2}, expect: {error: {code: 1}}}
  - name: steps
    steps:
      - {call: sum, with: {a: 1, b: [2]}}
      - {list: tools}
";
        let found = of_suite(&Source::new("a.spar.yaml", suite));
        assert!(found.notes.is_empty(), "{:?}", found.notes);
        let expected = [
            ("echo", vec![json!({"message": "fragment"}), json!({"message": "hello"})]),
            ("open", vec![json!({})]),
            ("sum", vec![json!({"a": 1, "b": [2]})]),
        ];
        let expected = expected.map(|(tool, arguments)| (tool.to_owned(), arguments));
        assert_eq!(found.arguments, BTreeMap::from(expected));
    }

    #[test]
    fn a_broken_suite_is_a_note() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a.spar.yaml"), "tests: [").unwrap();
        std::fs::write(at("b.spar.yaml"), "tests: [{name: x, call: y}]\nwhat: 1").unwrap();
        std::fs::write(at("c.spar.yaml"), b"\xff").unwrap();
        std::fs::create_dir(at("d.spar.yaml")).unwrap();
        let large = "#".repeat(usize::try_from(MAX_SUITE_BYTES).unwrap() + 1);
        std::fs::write(at("e.spar.yaml"), large).unwrap();
        std::fs::write(at("f.spar.yaml"), "tests: [{name: x, call: good}]").unwrap();
        let found = of_folder(folder.path());
        assert_eq!(found.arguments.keys().collect::<Vec<_>>(), ["good"]);
        assert_eq!(found.notes.len(), 4, "{:?}", found.notes);
        let start = "the suite is not used for arguments: b.spar.yaml:2:1: ";
        assert!(found.notes[1].starts_with(start), "{:?}", found.notes);
    }
}

//! Reads agents and the expectations of agent steps.

use std::path::{Component, Path};

use serde_json::Value;
use sparring_script::{MapEntry, Node, TemplateTree};

use super::Loader;
use crate::model::{
    Agent, Expectation, FileExpectation, FileForm, Glob, MatcherTemplate, Server, Step, SuiteMock,
    Test, Verb,
};

impl Loader {
    /// Reads the agent of a suite or a step.
    pub(super) fn read_agent(&mut self, node: &Node) -> Option<Agent> {
        let entry = node.entry("agent")?;
        if entry.value.get("command").is_none() {
            self.problems.add(entry.key_span, "an agent needs a `command`");
            return None;
        }
        let command = self.read_command(&entry.value)?;
        let timeout = self.read_timeout(&entry.value);
        let stdin = self.read_text(&entry.value, "stdin");
        let asks = |tree: &TemplateTree| {
            tree.placeholders().iter().any(|(path, ..)| path.root() == "input")
        };
        let stdin = match command.trees().any(asks) {
            true => stdin,
            false => stdin.or_else(|| Some(self.default_stdin(entry))),
        };
        Some(Agent { span: entry.key_span, command, stdin, timeout })
    }

    /// The default stdin: `${input}`, or nothing if the step has no input.
    fn default_stdin(&mut self, entry: &MapEntry) -> TemplateTree {
        let text = Node::from((entry.key_span, "${input:-}".into()));
        TemplateTree::from_node(&text, &mut self.problems).into_text()
    }

    /// Reads a step that runs an agent.
    pub(super) fn read_agent_step(&mut self, node: &Node) -> Verb {
        let own = self.read_agent(node);
        if node.get("agent").is_none() && !self.has_agent {
            let span = node.entry("input").map_or(node.span, |entry| entry.key_span);
            let help = "write `agent: {command: …}` in this step or at the top of the suite";
            let help = Some(help.to_owned());
            self.problems.add_with_help(span, "the suite has no agent for this input", help);
        }
        Verb::Agent { own, input: self.read_text(node, "input") }
    }

    /// Reads an expectation that only agent steps have.
    pub(super) fn read_agent_expectation(&mut self, entry: &MapEntry) -> Option<Expectation> {
        match &*entry.key {
            "exit" => {
                Some(Expectation::Exit(MatcherTemplate::read(&entry.value, &mut self.problems)))
            }
            "stdout" => {
                Some(Expectation::Stdout(MatcherTemplate::read(&entry.value, &mut self.problems)))
            }
            "files" => {
                let files = entry.value.entries().iter().filter_map(|entry| self.read_files(entry));
                Some(Expectation::Files(files.collect()))
            }
            _ => None,
        }
    }

    fn read_files(&mut self, entry: &MapEntry) -> Option<FileExpectation> {
        let (node, span) = (&entry.value, entry.key_span);
        let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !Path::new(&entry.key).components().all(plain) {
            self.problems.add(span, "only files below ${tmp} can be checked");
        }
        let pattern = entry.key.strip_prefix("./").unwrap_or(&entry.key);
        let glob = match Glob::new(pattern) {
            Ok(glob) => glob,
            Err(why) => {
                self.problems.add(span, format!("not a file pattern: {why}"));
                return None;
            }
        };
        let exists = node.get("exists").and_then(Node::as_bool);
        if let Some(other) =
            node.entries().iter().find(|it| exists == Some(false) && it.key != "exists")
        {
            let message = format!("`{}` cannot be used with `exists: false`", other.key);
            self.problems.add(other.key_span, message);
        }
        let mut of = |key| node.get(key).map(|it| MatcherTemplate::read(it, &mut self.problems));
        let (count, size) = (of("count"), of("size"));
        let contents = FileForm::ALL.into_iter().filter_map(|it| Some((it, of(it.key())?)));
        let contents = contents.collect();
        Some(FileExpectation { name: entry.key.clone(), span, glob, exists, count, size, contents })
    }

    /// Reads the interactions of a test (default: those of the suite).
    pub(super) fn read_interactions<'s>(
        &self,
        node: &Node,
        mut steps: impl Iterator<Item = &'s Step>,
    ) -> Option<Value> {
        let runs = steps.any(|step| step.verb.is_agent());
        let own = node.get("mcp_interactions").map(Node::to_json);
        own.or_else(|| self.interactions.clone().filter(|_| runs))
    }

    /// Checks that a test with interactions has an agent, and a mock that answers with them.
    pub(super) fn check_interactions<'a>(
        &mut self,
        node: &Node,
        mut steps: impl Iterator<Item = &'a Step>,
    ) {
        let Some(interactions) = node.entry("mcp_interactions") else { return };
        if !steps.any(|step| step.verb.is_agent()) {
            let message = "no step runs an agent that could carry these responses";
            self.problems.add(interactions.key_span, message);
        } else if !self.mocks.iter().any(SuiteMock::is_mcp) {
            let help = "write `mocks: {data: {mcp_interactions: []}}` at the top of the suite";
            let message = "the suite has no mock for these responses";
            self.problems.add_with_help(interactions.key_span, message, Some(help.to_owned()));
        }
    }

    /// Checks that tests with requests have a server.
    pub(super) fn check_servers(&mut self, node: &Node, servers: &[Server], tests: &[Test]) {
        let asks = |test: &&Test| test.all_steps().any(|step| !step.verb.is_agent());
        let known = node.get("servers");
        match known {
            Some(known) if known.entries().is_empty() => {
                self.problems.add(known.span, "`servers` is empty");
            }
            None if servers.is_empty() => {
                if let Some(test) = tests.iter().find(asks) {
                    let message =
                        format!("test `{}` needs a server, and the suite has none", test.name);
                    self.problems.add(test.span, message);
                }
            }
            _ => {}
        }
    }
}

//! Agents, and what is expected of them.

use std::path::{Component, Path};

use serde_json::Value;
use sparring_script::{Entry, Node, Tree, duration};

use super::Loader;
use crate::model::{
    Agent, Facet, FileExpect, Glob, Pattern, Reading, Server, StandIn, Step, Test, Verb,
};

impl Loader {
    /// The agent below a key.
    pub(super) fn agent(&mut self, node: &Node) -> Option<Agent> {
        let entry = node.entry("agent")?;
        if entry.value.get("command").is_none() {
            self.problems.add(entry.key_span, "an agent must have a `command`");
            return None;
        }
        let command = self.command(&entry.value)?;
        let timeout = entry.value.get("timeout").and_then(Node::as_str);
        let stdin = self.text(&entry.value, "stdin");
        let asks = |tree: &Tree| tree.holes().iter().any(|(path, ..)| path.root() == "input");
        let stdin = match command.trees().any(asks) {
            true => stdin,
            false => stdin.or_else(|| Some(self.input(entry))),
        };
        let timeout = timeout.and_then(|it| duration(it).ok());
        Some(Agent { span: entry.key_span, command, stdin, timeout })
    }

    /// `${input}`, or nothing where there is no input.
    fn input(&mut self, entry: &Entry) -> Tree {
        let text = Node::from((entry.key_span, "${input:-}".into()));
        Tree::read(&text, &mut self.problems).spelled()
    }

    /// The verb of a step that runs an agent.
    pub(super) fn run_agent(&mut self, node: &Node) -> Verb {
        let own = self.agent(node);
        if node.get("agent").is_none() && !self.has_agent {
            let span = node.entry("input").map_or(node.span, |entry| entry.key_span);
            let help = "write `agent: {command: …}` beside it, or at the top of the suite";
            let help = Some(help.to_owned());
            self.problems.add_with_help(span, "there is no agent to give this to", help);
        }
        Verb::Agent { own, input: self.text(node, "input") }
    }

    /// What is expected of an agent.
    pub(super) fn agent_facet(&mut self, entry: &Entry) -> Option<Facet> {
        match &*entry.key {
            "exit" => Some(Facet::Exit(Pattern::read(&entry.value, &mut self.problems))),
            "stdout" => Some(Facet::Stdout(Pattern::read(&entry.value, &mut self.problems))),
            "files" => {
                let files = entry.value.entries().iter().filter_map(|entry| self.files(entry));
                Some(Facet::Files(files.collect()))
            }
            _ => None,
        }
    }

    fn files(&mut self, entry: &Entry) -> Option<FileExpect> {
        let (node, span) = (&entry.value, entry.key_span);
        let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !Path::new(&entry.key).components().all(plain) {
            self.problems.add(span, "only files below ${tmp} can be looked at");
        }
        let pattern = entry.key.strip_prefix("./").unwrap_or(&entry.key);
        let glob = match Glob::new(pattern) {
            Ok(glob) => glob,
            Err(why) => {
                self.problems.add(span, format!("this is no pattern: {why}"));
                return None;
            }
        };
        let exists = node.get("exists").and_then(Node::as_bool);
        if let Some(other) =
            node.entries().iter().find(|it| exists == Some(false) && it.key != "exists")
        {
            let message = format!("where nothing may be, `{}` has nothing to look at", other.key);
            self.problems.add(other.key_span, message);
        }
        let mut of = |key| node.get(key).map(|it| Pattern::read(it, &mut self.problems));
        let (count, size) = (of("count"), of("size"));
        let contents = Reading::ALL.into_iter().filter_map(|it| Some((it, of(it.key())?)));
        let contents = contents.collect();
        Some(FileExpect { name: entry.key.clone(), span, glob, exists, count, size, contents })
    }

    /// The responses that a test brings, or the suite for all of them.
    pub(super) fn brought<'s>(
        &self,
        node: &Node,
        mut steps: impl Iterator<Item = &'s Step>,
    ) -> Option<Value> {
        let runs = steps.any(|step| step.verb.is_agent());
        let own = node.get("mcp_interactions").map(Node::to_json);
        own.or_else(|| self.brought.clone().filter(|_| runs))
    }

    /// Responses need an agent that carries them, and a mock that gives them.
    pub(super) fn check_brought<'a>(
        &mut self,
        node: &Node,
        mut steps: impl Iterator<Item = &'a Step>,
    ) {
        let Some(brought) = node.entry("mcp_interactions") else { return };
        if !steps.any(|step| step.verb.is_agent()) {
            let message = "no agent is run that could carry these responses";
            self.problems.add(brought.key_span, message);
        } else if !self.stand_ins.iter().any(StandIn::is_mcp) {
            let help = "write `mocks: {data: {mcp_interactions: []}}` at the top of the suite";
            let message = "there is no mock that would give these responses";
            self.problems.add_with_help(brought.key_span, message, Some(help.to_owned()));
        }
    }

    /// Tests that ask something of a server need one.
    pub(super) fn check_servers(&mut self, node: &Node, servers: &[Server], tests: &[Test]) {
        let asks = |test: &&Test| test.all_steps().any(|step| !step.verb.is_agent());
        let known = node.get("servers");
        match known {
            Some(known) if known.entries().is_empty() => {
                self.problems.add(known.span, "there is no server");
            }
            None if servers.is_empty() => {
                if let Some(test) = tests.iter().find(asks) {
                    let message = format!("`{}` needs a server, and there is none", test.name);
                    self.problems.add(test.span, message);
                }
            }
            _ => {}
        }
    }
}

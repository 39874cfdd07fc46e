//! The servers of a suite.

use std::path::Path;

use sparring_mock::{MockServer, Settings};
use sparring_script::{Entry, Node, Tree, casing, duration};
use sparring_wire::Revision;

use super::{Loader, is_almost};
use crate::grammar::SERVER;
use crate::model::{Address, Command, Container, Script, Server, Transport, Way};

/// The keys that say how to get to a server, and what may stand beside each.
const WAYS: [(&str, &[&str]); 3] = [
    ("command", &["args", "env", "cwd", "container", "engine"]),
    ("url", &["bearer", "headers"]),
    ("mock", &["vars", "transport"]),
];

impl Loader {
    pub(super) fn servers(&mut self, node: &Node) -> Vec<Server> {
        node.get("servers")
            .map(Node::entries)
            .unwrap_or_default()
            .iter()
            .filter_map(|entry| self.server(entry))
            .collect()
    }

    fn server(&mut self, entry: &Entry) -> Option<Server> {
        let node = &entry.value;
        let ways: Vec<_> = WAYS.iter().filter(|(key, _)| node.get(key).is_some()).collect();
        let [(key, beside)] = ways[..] else {
            // An unknown key has been told with the way that is meant.
            let meant =
                node.entries().iter().any(|it| is_almost(it, &SERVER, WAYS.map(|way| way.0)));
            if !(ways.is_empty() && meant) {
                let name = &entry.key;
                let message =
                    format!("the server `{name}` must have one of `command`, `url` and `mock`");
                self.problems.add(entry.key_span, message);
            }
            return None;
        };
        for other in node.entries() {
            let belongs = other.key == *key || other.key == "timeout";
            let known = WAYS.iter().any(|(_, keys)| keys.contains(&&*other.key));
            if known && !belongs && !beside.contains(&&*other.key) {
                let message = format!("`{}` does not go with `{key}`", other.key);
                self.problems.add(other.key_span, message);
            }
        }
        let way = match *key {
            "command" => {
                let command = self.command(node)?;
                let engine = self.text(node, "engine");
                match self.text(node, "container") {
                    Some(name) => Way::Container(Container { name, engine, command }),
                    None => {
                        if let Some(engine) = node.entry("engine") {
                            let message = "`engine` is that of a `container`, which is not here";
                            self.problems.add(engine.key_span, message);
                        }
                        Way::Child(command)
                    }
                }
            }
            "url" => Way::Http(self.address(node)?),
            _ => Way::Mock(self.script(node)?),
        };
        let timeout = node.get("timeout").and_then(Node::as_str);
        let timeout = timeout.and_then(|text| duration(text).ok());
        let concurrency = node.get("concurrency").and_then(Node::as_u64);
        let capabilities = node.get("capabilities").cloned().map(|mut node| {
            casing::to_wire(&mut node);
            Tree::read(&node, &mut self.problems)
        });
        let protocols = super::texts(node, "protocol");
        let transports = super::texts(node, "transport");
        Some(Server {
            name: entry.key.clone(),
            span: entry.key_span,
            way,
            timeout,
            concurrency: concurrency.and_then(|it| usize::try_from(it).ok()).unwrap_or(1),
            capabilities,
            protocols: protocols.iter().filter_map(|name| Revision::from_name(name)).collect(),
            transports: transports.iter().filter_map(|name| Transport::from_name(name)).collect(),
        })
    }

    pub(super) fn command(&mut self, node: &Node) -> Option<Command> {
        let command = node.get("command")?;
        let (program, args) = match node.get("args") {
            Some(args) => (command.clone(), args.items().to_vec()),
            None => self.words(command)?,
        };
        if program.as_str().is_some_and(str::is_empty) {
            self.problems.add(command.span, "the command is empty");
        }
        let mut text = |node: &Node| Tree::read(node, &mut self.problems).spelled();
        let (program, args) = (text(&program), args.iter().map(text).collect());
        Some(Command { program, args, env: self.pairs(node, "env"), cwd: self.text(node, "cwd") })
    }

    /// A command line in its words, each at the place of the whole.
    fn words(&mut self, command: &Node) -> Option<(Node, Vec<Node>)> {
        let Some(words) = shlex::split(command.as_str()?) else {
            self.problems.add(command.span, "a quote in this command is not closed");
            return None;
        };
        let mut words = words.into_iter().map(|word| Node::from((command.span, word.into())));
        match words.next() {
            Some(program) => Some((program, words.collect())),
            None => {
                self.problems.add(command.span, "the command is empty");
                None
            }
        }
    }

    fn address(&mut self, node: &Node) -> Option<Address> {
        let url = self.url(node, "url")?;
        let (bearer, headers) = (self.text(node, "bearer"), self.pairs(node, "headers"));
        Some(Address { url, bearer, headers })
    }

    /// A mock; where it can be known now whether its script is good, it is.
    pub(super) fn script(&mut self, node: &Node) -> Option<Script> {
        let path = self.text(node, "mock")?;
        let vars: Vec<(String, Tree)> = self.trees(node, "vars");
        let known = vars.iter().map(|(name, tree)| Some((name.clone(), tree.plain()?.clone())));
        if let (Some(file), Some(vars)) =
            (path.plain().and_then(|path| path.as_str()), known.collect::<Option<Vec<_>>>())
        {
            let settings = Settings { vars, ..Settings::default() };
            self.try_script(node, Path::new(file), &settings);
        }
        Some(Script { path, vars })
    }

    fn try_script(&mut self, node: &Node, file: &Path, settings: &Settings) {
        let reading = MockServer::read(self.files.folder(node.span).join(file), settings);
        self.watched.files.extend(reading.files);
        match reading.mock {
            Ok(_) => {}
            Err(sparring_mock::LoadError::Script(problems)) => {
                if !self.scripts.contains(&problems) {
                    self.scripts.push(problems);
                }
            }
            Err(error) => {
                let span = node.get("mock").map_or(node.span, |node| node.span);
                self.problems.add(span, error.to_string());
            }
        }
    }

    /// Texts under names.
    pub(super) fn pairs(&mut self, node: &Node, key: &str) -> Vec<(String, Tree)> {
        let trees = self.trees(node, key).into_iter();
        trees.map(|(name, tree)| (name, tree.spelled())).collect()
    }

    /// Values under names.
    fn trees(&mut self, node: &Node, key: &str) -> Vec<(String, Tree)> {
        let entries = node.get(key).map(Node::entries).unwrap_or_default();
        let read =
            |entry: &Entry| (entry.key.clone(), Tree::read(&entry.value, &mut self.problems));
        entries.iter().map(read).collect()
    }
}

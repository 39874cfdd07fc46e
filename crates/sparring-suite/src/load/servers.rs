//! Reads the servers of a suite.

use std::path::Path;

use sparring_mock::{MockServer, Settings};
use sparring_script::{MapEntry, Node, TemplateTree, casing, parse_duration};
use sparring_wire::Revision;

use super::{Loader, is_almost};
use crate::grammar::SERVER;
use crate::model::{Address, Command, Container, Script, Server, ServerKind, Transport};

/// The keys for the kind of a server, and the other keys that each kind can have.
const KINDS: [(&str, &[&str]); 3] = [
    ("command", &["args", "env", "cwd", "container", "engine", "ignore_exit_status"]),
    ("url", &["bearer", "headers"]),
    ("mock", &["vars", "transport"]),
];

impl Loader {
    pub(super) fn read_servers(&mut self, node: &Node) -> Vec<Server> {
        node.get("servers")
            .map(Node::entries)
            .unwrap_or_default()
            .iter()
            .filter_map(|entry| self.read_server(entry))
            .collect()
    }

    fn read_server(&mut self, entry: &MapEntry) -> Option<Server> {
        let node = &entry.value;
        let kinds: Vec<_> = KINDS.iter().filter(|(key, _)| node.get(key).is_some()).collect();
        let [(key, other_keys)] = kinds[..] else {
            // The grammar reported an unknown key and suggested the right one.
            let meant =
                node.entries().iter().any(|it| is_almost(it, &SERVER, KINDS.map(|kind| kind.0)));
            if !(kinds.is_empty() && meant) {
                let name = &entry.key;
                let message = format!("server `{name}` needs one of `command`, `url` and `mock`");
                self.problems.add(entry.key_span, message);
            }
            return None;
        };
        for other in node.entries() {
            let belongs = other.key == *key || other.key == "timeout";
            let known = KINDS.iter().any(|(_, keys)| keys.contains(&&*other.key));
            if known && !belongs && !other_keys.contains(&&*other.key) {
                let message = format!("`{}` cannot be used with `{key}`", other.key);
                self.problems.add(other.key_span, message);
            }
        }
        let kind = match *key {
            "command" => {
                let command = self.read_command(node)?;
                let engine = self.read_text(node, "engine");
                match self.read_text(node, "container") {
                    Some(name) => ServerKind::Container(Container { name, engine, command }),
                    None => {
                        if let Some(engine) = node.entry("engine") {
                            let message = "`engine` is that of a `container`, which is not here";
                            self.problems.add(engine.key_span, message);
                        }
                        ServerKind::Child(command)
                    }
                }
            }
            "url" => ServerKind::Http(self.read_address(node)?),
            _ => ServerKind::Mock(self.read_script(node)?),
        };
        let timeout = node.get("timeout").and_then(Node::as_str);
        let timeout = timeout.and_then(|text| parse_duration(text).ok());
        let concurrency = node.get("concurrency").and_then(Node::as_u64);
        let capabilities = node.get("capabilities").cloned().map(|mut node| {
            casing::rename_keys_to_wire(&mut node);
            TemplateTree::from_node(&node, &mut self.problems)
        });
        let ignores_exit_status = node.get("ignore_exit_status").and_then(Node::as_bool);
        let protocols = super::texts(node, "protocol");
        let transports = super::texts(node, "transport");
        Some(Server {
            name: entry.key.clone(),
            span: entry.key_span,
            kind,
            timeout,
            concurrency: concurrency.and_then(|it| usize::try_from(it).ok()).unwrap_or(1),
            capabilities,
            ignores_exit_status: ignores_exit_status.unwrap_or_default(),
            protocols: protocols.iter().filter_map(|name| Revision::from_name(name)).collect(),
            transports: transports.iter().filter_map(|name| Transport::from_name(name)).collect(),
        })
    }

    pub(super) fn read_command(&mut self, node: &Node) -> Option<Command> {
        let command = node.get("command")?;
        let (program, args) = match node.get("args") {
            Some(args) => (command.clone(), args.items().to_vec()),
            None => self.split_command(command)?,
        };
        if program.as_str().is_some_and(str::is_empty) {
            self.problems.add(command.span, "the command is empty");
        }
        let mut text = |node: &Node| TemplateTree::from_node(node, &mut self.problems).into_text();
        let (program, args) = (text(&program), args.iter().map(text).collect());
        Some(Command {
            program,
            args,
            env: self.read_texts(node, "env"),
            cwd: self.read_text(node, "cwd"),
        })
    }

    /// Splits a command line into words.
    fn split_command(&mut self, command: &Node) -> Option<(Node, Vec<Node>)> {
        let Some(words) = shlex::split(command.as_str()?) else {
            self.problems.add(command.span, "this command has an unclosed quote");
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

    fn read_address(&mut self, node: &Node) -> Option<Address> {
        let url = self.read_url(node, "url")?;
        let (bearer, headers) = (self.read_text(node, "bearer"), self.read_texts(node, "headers"));
        Some(Address { url, bearer, headers })
    }

    /// Reads a mock. Checks its script if its path and variables have no templates.
    pub(super) fn read_script(&mut self, node: &Node) -> Option<Script> {
        let path = self.read_text(node, "mock")?;
        let vars: Vec<(String, TemplateTree)> = self.read_trees(node, "vars");
        let known =
            vars.iter().map(|(name, tree)| Some((name.clone(), tree.as_literal()?.clone())));
        if let (Some(file), Some(vars)) =
            (path.as_literal().and_then(|path| path.as_str()), known.collect::<Option<Vec<_>>>())
        {
            let settings = Settings { vars, ..Settings::default() };
            self.check_script(node, Path::new(file), &settings);
        }
        Some(Script { path, vars })
    }

    fn check_script(&mut self, node: &Node, file: &Path, settings: &Settings) {
        let loaded = MockServer::read(self.files.folder(node.span).join(file), settings);
        self.watched.files.extend(loaded.files);
        match loaded.mock {
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

    /// Reads a map of strings.
    pub(super) fn read_texts(&mut self, node: &Node, key: &str) -> Vec<(String, TemplateTree)> {
        let trees = self.read_trees(node, key).into_iter();
        trees.map(|(name, tree)| (name, tree.into_text())).collect()
    }

    /// Reads a map of values.
    fn read_trees(&mut self, node: &Node, key: &str) -> Vec<(String, TemplateTree)> {
        let entries = node.get(key).map(Node::entries).unwrap_or_default();
        let read = |entry: &MapEntry| {
            (entry.key.clone(), TemplateTree::from_node(&entry.value, &mut self.problems))
        };
        entries.iter().map(read).collect()
    }
}

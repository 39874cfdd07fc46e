//! Reads the servers of a suite.

use std::path::Path;

use sparring_mock::{MockServer, Settings};
use sparring_script::{MapEntry, Node, TemplateTree, casing, did_you_mean, parse_duration};
use sparring_wire::Revision;

use super::{Loader, is_almost};
use crate::grammar::SERVER;
use crate::model::{
    Address, Command, Container, HttpProcess, Script, Server, ServerKind, Transport,
};

/// The keys for the kind of a server, and the other keys that each kind can have.
const KINDS: [(&str, &[&str]); 3] = [
    ("command", &["args", "env", "cwd", "container", "engine", "ignore_exit_status"]),
    ("url", &["bearer", "headers"]),
    ("mock", &["vars", "transport", "process"]),
];

/// The other keys of a `command` with `url`.
const HTTP_PROCESS_KEYS: [&str; 7] =
    ["command", "args", "env", "cwd", "bearer", "headers", "ready"];

/// The capabilities of clients in all revisions, with their members, if these are known.
const CAPABILITIES: [(&str, &[&str]); 6] = [
    ("roots", &["listChanged"]),
    ("sampling", &["context", "tools"]),
    ("elicitation", &["form", "url"]),
    ("tasks", &["list", "cancel", "requests"]),
    ("experimental", &[]),
    ("extensions", &[]),
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
        let (key, other_keys): (&str, &[&str]) = match kinds[..] {
            [(key, other_keys)] => (key, other_keys),
            [("command", _), ("url", _)] => ("url", &HTTP_PROCESS_KEYS),
            _ => {
                // The grammar reported an unknown key and suggested the right one.
                let names = KINDS.map(|kind| kind.0);
                let meant = node.entries().iter().any(|it| is_almost(it, &SERVER, names));
                if !(kinds.is_empty() && meant) {
                    let name = &entry.key;
                    let message = format!(
                        "server `{name}` needs one of `command`, `url` and `mock`, or `command` with `url`"
                    );
                    self.problems.add(entry.key_span, message);
                }
                return None;
            }
        };
        self.check_keys_of_kind(node, key, other_keys);
        let kind = match key {
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
            "url" if node.get("command").is_some() => {
                ServerKind::HttpProcess(self.read_http_process(node)?)
            }
            "url" => ServerKind::Http(self.read_address(node)?),
            _ => ServerKind::Mock(self.read_script(node)?),
        };
        let timeout = self.read_timeout(node);
        let concurrency = node.get("concurrency").and_then(Node::as_u64);
        let capabilities = node.get("capabilities").cloned().map(|mut node| {
            casing::rename_keys_to_wire(&mut node);
            self.check_capabilities(&node);
            TemplateTree::from_node(&node, &mut self.problems)
        });
        let ignores_exit_status = node.get("ignore_exit_status").and_then(Node::as_bool);
        let protocols = super::texts(node, "protocol");
        let transports = super::texts(node, "transport");
        self.check_process(node, &transports, "memory");
        self.check_repetitions(node, "protocol");
        self.check_repetitions(node, "transport");
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

    /// Refuses misspelled capabilities of clients. Other unknown ones may be those of an
    /// extension.
    fn check_capabilities(&mut self, node: &Node) {
        let names = CAPABILITIES.map(|(name, _)| name);
        for entry in node.entries() {
            match CAPABILITIES.iter().find(|(name, _)| *name == entry.key) {
                None => self.check_capability(entry, &names),
                Some((_, members)) => {
                    entry.value.entries().iter().for_each(|it| self.check_capability(it, members));
                }
            }
        }
    }

    fn check_capability(&mut self, entry: &MapEntry, known: &[&str]) {
        let meant = did_you_mean(&entry.key, known.iter().copied());
        if let Some(meant) = meant.filter(|_| !known.contains(&&*entry.key)) {
            let message = format!("unknown capability `{}`", entry.key);
            self.problems.add_with_help(entry.key_span, message, Some(meant));
        }
    }

    /// Refuses a choice that is listed twice.
    fn check_repetitions(&mut self, node: &Node, key: &str) {
        let chosen = node.get(key).map(Node::items).unwrap_or_default();
        for (at, choice) in chosen.iter().enumerate() {
            if chosen[..at].iter().any(|it| it.kind == choice.kind) {
                let name = choice.as_str().unwrap_or_default();
                self.problems.add(choice.span, format!("`{name}` is here twice"));
            }
        }
    }

    /// Refuses the keys that servers of this kind do not have.
    fn check_keys_of_kind(&mut self, node: &Node, key: &str, other_keys: &[&str]) {
        for other in node.entries() {
            let belongs = other.key == key || other.key == "timeout";
            let mut known = KINDS.iter().flat_map(|(_, keys)| *keys).chain(&HTTP_PROCESS_KEYS);
            let is_known = known.any(|key| *key == other.key);
            if is_known && !belongs && !other_keys.contains(&&*other.key) {
                let message = format!("`{}` cannot be used with `{key}`", other.key);
                let help = match (&*other.key, key) {
                    ("ready", "command") => Some("add the `url` at which the command serves"),
                    ("ready", "url") => Some("add the `command` that spar starts"),
                    _ => None,
                };
                self.problems.add_with_help(other.key_span, message, help.map(str::to_owned));
            }
        }
    }

    fn read_http_process(&mut self, node: &Node) -> Option<HttpProcess> {
        let command = self.read_command(node)?;
        let address = self.read_address(node)?;
        let ready = node.get("ready");
        let within = ready.and_then(|ready| ready.get("within")).and_then(Node::as_str);
        Some(HttpProcess {
            command,
            address,
            ready_path: ready.and_then(|ready| self.read_text(ready, "path")),
            ready_timeout: within.and_then(|text| parse_duration(text).ok()),
        })
    }

    /// Refuses `process` for a mock that is never served over HTTP.
    pub(super) fn check_process(&mut self, node: &Node, transports: &[String], default: &str) {
        let is_http = |name: &str| name == "http" || name == "sse";
        let over_http = match transports.is_empty() {
            true => is_http(default),
            false => transports.iter().any(|name| is_http(name)),
        };
        if let Some(process) = node.entry("process").filter(|_| is_process(node) && !over_http) {
            let message = "`process` needs `transport: http` or `transport: sse`";
            self.problems.add(process.key_span, message);
        }
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
        Some(Script { path, vars, is_process: is_process(node) })
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

/// Returns true if a mock over HTTP is a separate process.
pub(super) fn is_process(node: &Node) -> bool {
    node.get("process").and_then(Node::as_bool).unwrap_or_default()
}

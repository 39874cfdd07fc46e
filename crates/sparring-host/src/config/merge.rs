//! Merges all files into one set of servers. Entries override whole entries,
//! and an untrusted entry overrides none.

use std::collections::BTreeMap;

use sparring_script::{Node, Position, Problems, Source, Span};

use super::config_context::ConfigContext;
use super::configuration::{
    Config, ConfiguredServer, EntryState, FileProblem, FileRules, LocatedPattern, UntrustedServer,
    UnusedEntry, UnusedReason,
};
use super::entry::{self, EntryContext};
use super::locations::{ConfigLocation, ConfigLocations};
use super::read::{File, FileContent, RawEntry, digest, parse_content, parse_patterns, read_text};
use super::redact;
use super::server_config::{Origin, Rules, Scope};
use super::trust::Trust;
use crate::names::{find_collisions, sanitize};

pub(super) fn read_all(locations: &ConfigLocations, config_context: &ConfigContext) -> Config {
    let mut merger = Merger {
        config: Config {
            servers: BTreeMap::new(),
            unused: Vec::new(),
            rules: Vec::new(),
            roots: Vec::new(),
            faults: Vec::new(),
            notes: Vec::new(),
            files: Vec::new(),
            patterns: Vec::new(),
        },
        spans: BTreeMap::new(),
        rules_are_complete: true,
        config_context,
    };
    let trust = merger.read_trust();
    for location in &locations.0 {
        merger.add_file(location, &trust);
    }
    merger.find_collisions();
    merger.ask_if_rules_are_incomplete();
    merger.config
}

struct Merger<'a> {
    config: Config,
    /// The positions of the names of used entries.
    spans: BTreeMap<String, (Source, Span)>,
    /// True if the permissions of all files could be read.
    rules_are_complete: bool,
    config_context: &'a ConfigContext,
}

impl Merger<'_> {
    fn read_trust(&mut self) -> Trust {
        let Some(store) = &self.config_context.trust else { return Trust::default() };
        match Trust::read(store) {
            Ok(trust) => trust,
            Err(error) => {
                let fault = FileProblem::Unreadable { file: error.file, why: error.why };
                self.config.faults.push(fault);
                Trust::default()
            }
        }
    }

    fn add_file(&mut self, location: &ConfigLocation, trust: &Trust) {
        let mut file =
            File { location: location.clone(), is_there: true, is_trusted: false, digest: None };
        match read_text(&location.file) {
            Ok(None) => file.is_there = false,
            Ok(Some(text)) => {
                let digest = digest(&text);
                file.is_trusted =
                    location.scope == Scope::User || trust.covers(&location.file, &digest);
                file.digest = Some(digest);
                match parse_content(location, &text) {
                    Ok(content) => self.add_content(location, content, file.is_trusted),
                    Err(problems) => {
                        self.rules_are_complete = false;
                        self.config.faults.push(FileProblem::Invalid(problems));
                    }
                }
            }
            Err(why) => {
                self.rules_are_complete = false;
                let fault = FileProblem::Unreadable { file: location.file.clone(), why };
                self.config.faults.push(fault);
            }
        }
        self.config.files.push(file);
    }

    fn add_content(&mut self, location: &ConfigLocation, content: FileContent, is_trusted: bool) {
        let FileContent {
            source,
            entries,
            inputs,
            mut rules,
            roots,
            patterns: global_patterns,
            problems,
            rules_are_complete,
            notes,
        } = content;
        self.rules_are_complete &= rules_are_complete;
        self.config.notes.extend(notes);
        if !problems.is_empty() {
            self.config.faults.push(FileProblem::Invalid(problems));
        }
        if !is_trusted {
            rules.allow.clear();
        } else {
            let folders = roots.iter().filter_map(Node::as_str);
            let folders =
                folders.map(|text| entry::resolve_path(text, location, self.config_context));
            self.config.roots.extend(folders);
        }
        if rules != Rules::default() {
            let (file, scope) = (location.file.clone(), location.scope);
            self.config.rules.push(FileRules { file, scope, rules });
        }
        let mut add_patterns = |server: Option<&String>, found: Vec<(String, Span)>| {
            let pattern = |(pattern, span)| LocatedPattern {
                server: server.cloned(),
                pattern,
                source: source.clone(),
                span,
            };
            self.config.patterns.extend(found.into_iter().map(pattern));
        };
        add_patterns(None, global_patterns);
        for raw in &entries {
            let permissions = raw.node.get("permissions");
            add_patterns(Some(&raw.name), permissions.map(parse_patterns).unwrap_or_default());
        }
        let entry_context =
            EntryContext { location, inputs: &inputs, config_context: self.config_context };
        let mut lines = LineCounter::new(&source);
        for raw in &entries {
            redact::add_literal_secrets(&raw.node, &self.config_context.secrets);
            let Position { line, column } = lines.position(raw.key_span.start);
            let origin =
                Origin { file: location.file.clone(), scope: location.scope, line, column };
            if self.add_entry(raw, origin, entry_context, is_trusted) {
                self.spans.insert(raw.name.clone(), (source.clone(), raw.key_span));
            }
        }
    }

    /// Adds an entry; returns true if it is used.
    fn add_entry(
        &mut self,
        raw: &RawEntry,
        origin: Origin,
        entry_context: EntryContext<'_>,
        is_trusted: bool,
    ) -> bool {
        let state = match entry::read_server(raw, &origin, entry_context) {
            Ok(server) if is_trusted => EntryState::Ready(Box::new(server)),
            Ok(server) => EntryState::Untrusted(UntrustedServer(Box::new(server))),
            Err(problems) => EntryState::Invalid(problems),
        };
        let configured = ConfiguredServer {
            origin,
            transport: transport_name(&raw.node),
            spelled: written_target(&raw.node),
            entry: redact::masked_entry(&raw.node),
            enabled: raw.node.get("enabled").and_then(Node::as_bool).unwrap_or(true),
            state,
        };
        let name = raw.name.clone();
        let before = self.config.servers.get(&name);
        // The name may refer to the user's own entry.
        let overrides_trusted = before.is_some_and(|before| self.is_trusted(before));
        if !is_trusted && overrides_trusted {
            self.config.unused.push(unused_entry(name, &configured, UnusedReason::Untrusted));
            return false;
        }
        if let Some(before) = self.config.servers.insert(name.clone(), configured) {
            let why = if self.is_trusted(&before) {
                UnusedReason::Overridden
            } else {
                UnusedReason::Untrusted
            };
            self.config.unused.push(unused_entry(name, &before, why));
        }
        true
    }

    /// Returns true if an entry is in a trusted file.
    fn is_trusted(&self, configured: &ConfiguredServer) -> bool {
        let file = &configured.origin.file;
        let scope = configured.origin.scope;
        // The current file is not in the list yet, and its own names are
        // unique.
        let mut files = self.config.files.iter();
        scope == Scope::User || files.any(|it| it.location.file == *file && it.is_trusted)
    }

    /// Servers with the same sanitized name are errors; but an untrusted server
    /// cannot invalidate a trusted one.
    fn find_collisions(&mut self) {
        let servers = self.config.servers.keys().map(String::as_str);
        let sets = find_collisions(servers).into_iter();
        let sets: Vec<Vec<String>> =
            sets.map(|set| set.into_iter().map(str::to_owned).collect()).collect();
        for names in &sets {
            let same = sanitize(&names[0]);
            let trusted: Vec<&String> =
                names.iter().filter(|name| self.is_trusted(&self.config.servers[*name])).collect();
            let trusted_one = if trusted.len() == 1 { Some(trusted[0].clone()) } else { None };
            for name in names.iter().filter(|name| Some(*name) != trusted_one.as_ref()) {
                let others: Vec<String> = names
                    .iter()
                    .filter(|other| *other != name)
                    .map(|other| format!("`{other}`"))
                    .collect();
                let message = format!(
                    "server `{name}`: its tools would have the same names `mcp__{same}__…` as those of {}",
                    others.join(" and ")
                );
                self.mark_invalid(name, message);
            }
        }
    }

    fn mark_invalid(&mut self, name: &str, message: String) {
        let Some((source, span)) = self.spans.get(name) else { return };
        let Some(configured) = self.config.servers.get_mut(name) else { return };
        let mut problems = match &configured.state {
            EntryState::Invalid(problems) => problems.clone(),
            _ => Problems::new(source),
        };
        problems.add(*span, message);
        configured.state = EntryState::Invalid(problems);
    }

    /// If some rules could not be read, a missing one may deny what another
    /// allows. So allowed tools then need a question.
    fn ask_if_rules_are_incomplete(&mut self) {
        if self.rules_are_complete {
            return;
        }
        let ask = |rules: &mut Rules| rules.ask.append(&mut rules.allow);
        self.config.rules.iter_mut().for_each(|it| ask(&mut it.rules));
        for configured in self.config.servers.values_mut() {
            if let EntryState::Ready(server) | EntryState::Untrusted(UntrustedServer(server)) =
                &mut configured.state
            {
                ask(&mut server.rules);
            }
        }
    }
}

/// Counts the lines of a text for increasing positions, because counting from
/// the beginning for each would be quadratic in large files.
struct LineCounter<'a> {
    text: &'a str,
    byte: usize,
    position: Position,
}

impl LineCounter<'_> {
    fn new(source: &Source) -> LineCounter<'_> {
        LineCounter { text: source.text(), byte: 0, position: Position { line: 1, column: 1 } }
    }

    fn position(&mut self, byte: usize) -> Position {
        for c in self.text.get(self.byte..byte).unwrap_or_default().chars() {
            self.position = match c {
                '\n' => Position { line: self.position.line + 1, column: 1 },
                _ => Position { column: self.position.column + 1, ..self.position },
            };
        }
        self.byte = self.byte.max(byte);
        self.position
    }
}

fn unused_entry(name: String, configured: &ConfiguredServer, why: UnusedReason) -> UnusedEntry {
    let ConfiguredServer { origin, transport, spelled, .. } = configured;
    UnusedEntry { name, origin: origin.clone(), transport, spelled: spelled.clone(), why }
}

pub(super) fn transport_name(node: &Node) -> &'static str {
    match (node.get("transport").and_then(Node::as_str), node.get("command"), node.get("url")) {
        (Some("stdio"), _, _) | (None, Some(_), None) => "stdio",
        (Some("sse"), _, _) => "sse",
        (Some("http"), _, _) | (None, None, Some(_)) => "http",
        _ => "?",
    }
}

/// The command line or URL, without the user information of a URL.
pub(super) fn written_target(node: &Node) -> String {
    let text = |key| node.get(key).and_then(Node::as_str).unwrap_or_default();
    if node.get("url").is_some() {
        let url = text("url");
        let (scheme, rest) = url.split_at(url.find("://").map_or(0, |end| end + 3));
        let end = rest.find('/').unwrap_or(rest.len());
        let host = rest[..end].rfind('@').map_or(0, |at| at + 1);
        return format!("{scheme}{}", &rest[host..]);
    }
    let args = node.get("args").map(Node::items).unwrap_or_default();
    let words = std::iter::once(text("command")).chain(args.iter().filter_map(Node::as_str));
    let quoted = words.map(|word| match word.contains(|c: char| c.is_whitespace() || c == '"') {
        true => format!("{word:?}"),
        false => word.to_owned(),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

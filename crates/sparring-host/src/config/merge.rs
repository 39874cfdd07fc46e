//! From all files to one set of servers: whole entries take the place of whole
//! entries, and one that is not trusted takes nobody's.

use std::collections::BTreeMap;

use sparring_script::{Node, Position, Problems, Source, Span};

use super::all::{Config, Configured, Fault, FileRules, Pattern, State, Untrusted, Unused, Why};
use super::entry::{self, Around};
use super::places::{Place, Places};
use super::read::{Content, File, Raw, content, patterns, text};
use super::server::{Origin, Rules, Scope};
use super::surroundings::Surroundings;
use super::trust::Trust;
use crate::names::{colliding, sanitized};

pub(super) fn read(places: &Places, surroundings: &Surroundings) -> Config {
    let mut merging = Merging {
        config: Config {
            servers: BTreeMap::new(),
            unused: Vec::new(),
            rules: Vec::new(),
            faults: Vec::new(),
            notes: Vec::new(),
            files: Vec::new(),
            patterns: Vec::new(),
        },
        spans: BTreeMap::new(),
        rules_are_whole: true,
        surroundings,
    };
    let trust = merging.trust();
    for place in &places.0 {
        merging.file(place, &trust);
    }
    merging.find_collisions();
    merging.ask_where_rules_are_missing();
    merging.config
}

struct Merging<'a> {
    config: Config,
    /// Where the names of the entries that count stand.
    spans: BTreeMap<String, (Source, Span)>,
    /// Whether all that files say of permissions is known.
    rules_are_whole: bool,
    surroundings: &'a Surroundings,
}

impl Merging<'_> {
    fn trust(&mut self) -> Trust {
        let Some(store) = &self.surroundings.trust else { return Trust::default() };
        match Trust::read(store) {
            Ok(trust) => trust,
            Err(error) => {
                let fault = Fault::Unreadable { file: error.file, why: error.why };
                self.config.faults.push(fault);
                Trust::default()
            }
        }
    }

    fn file(&mut self, place: &Place, trust: &Trust) {
        let mut file = File { place: place.clone(), is_there: true, is_trusted: false };
        match text(&place.file) {
            Ok(None) => file.is_there = false,
            Ok(Some(text)) => {
                file.is_trusted = place.scope == Scope::User || trust.covers(&place.file, &text);
                match content(place, &text) {
                    Ok(content) => self.content(place, content, file.is_trusted),
                    Err(problems) => {
                        self.rules_are_whole = false;
                        self.config.faults.push(Fault::Wrong(problems));
                    }
                }
            }
            Err(why) => {
                self.rules_are_whole = false;
                let fault = Fault::Unreadable { file: place.file.clone(), why };
                self.config.faults.push(fault);
            }
        }
        self.config.files.push(file);
    }

    fn content(&mut self, place: &Place, content: Content, is_trusted: bool) {
        let Content {
            source,
            entries,
            inputs,
            mut rules,
            patterns: of_all,
            problems,
            rules_are_whole,
            notes,
        } = content;
        self.rules_are_whole &= rules_are_whole;
        self.config.notes.extend(notes);
        if !problems.is_empty() {
            self.config.faults.push(Fault::Wrong(problems));
        }
        if !is_trusted {
            rules.allow.clear();
        }
        if rules != Rules::default() {
            let (file, scope) = (place.file.clone(), place.scope);
            self.config.rules.push(FileRules { file, scope, rules });
        }
        let mut stand = |server: Option<&String>, found: Vec<(String, Span)>| {
            let pattern = |(pattern, span)| Pattern {
                server: server.cloned(),
                pattern,
                source: source.clone(),
                span,
            };
            self.config.patterns.extend(found.into_iter().map(pattern));
        };
        stand(None, of_all);
        for raw in &entries {
            let permissions = raw.node.get("permissions");
            stand(Some(&raw.name), permissions.map(patterns).unwrap_or_default());
        }
        let around = Around { place, inputs: &inputs, surroundings: self.surroundings };
        let mut lines = Lines::new(&source);
        for raw in &entries {
            let Position { line, column } = lines.position(raw.key_span.start);
            let origin = Origin { file: place.file.clone(), scope: place.scope, line, column };
            if self.entry(raw, origin, around, is_trusted) {
                self.spans.insert(raw.name.clone(), (source.clone(), raw.key_span));
            }
        }
    }

    /// Takes an entry; says whether it counts.
    fn entry(&mut self, raw: &Raw, origin: Origin, around: Around<'_>, is_trusted: bool) -> bool {
        let state = match entry::server(raw, &origin, around) {
            Ok(server) if is_trusted => State::Ready(Box::new(server)),
            Ok(server) => State::Untrusted(Untrusted(Box::new(server))),
            Err(problems) => State::Broken(problems),
        };
        let configured = Configured {
            origin,
            transport: transport(&raw.node),
            spelled: spelled(&raw.node),
            enabled: raw.node.get("enabled").and_then(Node::as_bool).unwrap_or(true),
            state,
        };
        let name = raw.name.clone();
        let before = self.config.servers.get(&name);
        // Whoever named it may have meant their own.
        let counts_before = before.is_some_and(|before| self.is_trusted(before));
        if !is_trusted && counts_before {
            self.config.unused.push(unused(name, &configured, Why::Untrusted));
            return false;
        }
        if let Some(before) = self.config.servers.insert(name.clone(), configured) {
            let why = if self.is_trusted(&before) { Why::Overridden } else { Why::Untrusted };
            self.config.unused.push(unused(name, &before, why));
        }
        true
    }

    /// Whether an entry stands in a file that is trusted.
    fn is_trusted(&self, configured: &Configured) -> bool {
        let file = &configured.origin.file;
        let scope = configured.origin.scope;
        // The file that is being read is not among them yet, and its own names
        // do not meet each other.
        let mut files = self.config.files.iter();
        scope == Scope::User || files.any(|it| it.place.file == *file && it.is_trusted)
    }

    /// Names that are the same among the names of tools are an error for each;
    /// but one that is not trusted cannot break one that is.
    fn find_collisions(&mut self) {
        let servers = self.config.servers.keys().map(String::as_str);
        let sets = colliding(servers).into_iter();
        let sets: Vec<Vec<String>> =
            sets.map(|set| set.into_iter().map(str::to_owned).collect()).collect();
        for names in &sets {
            let same = sanitized(&names[0]);
            let trusted: Vec<&String> =
                names.iter().filter(|name| self.is_trusted(&self.config.servers[*name])).collect();
            let spared = if trusted.len() == 1 { Some(trusted[0].clone()) } else { None };
            for name in names.iter().filter(|name| Some(*name) != spared.as_ref()) {
                let others: Vec<String> = names
                    .iter()
                    .filter(|other| *other != name)
                    .map(|other| format!("`{other}`"))
                    .collect();
                let message = format!(
                    "server `{name}`: it is called `{same}` among the names of tools, and so is {}",
                    others.join(" and ")
                );
                self.break_entry(name, message);
            }
        }
    }

    fn break_entry(&mut self, name: &str, message: String) {
        let Some((source, span)) = self.spans.get(name) else { return };
        let Some(configured) = self.config.servers.get_mut(name) else { return };
        let mut problems = match &configured.state {
            State::Broken(problems) => problems.clone(),
            _ => Problems::new(source),
        };
        problems.add(*span, message);
        configured.state = State::Broken(problems);
    }

    /// Somebody may have denied what is allowed elsewhere; so nothing is called
    /// without asking.
    fn ask_where_rules_are_missing(&mut self) {
        if self.rules_are_whole {
            return;
        }
        let ask = |rules: &mut Rules| rules.ask.append(&mut rules.allow);
        self.config.rules.iter_mut().for_each(|it| ask(&mut it.rules));
        for configured in self.config.servers.values_mut() {
            if let State::Ready(server) | State::Untrusted(Untrusted(server)) =
                &mut configured.state
            {
                ask(&mut server.rules);
            }
        }
    }
}

/// Counts the lines of a text once, for places that come one after the other: in
/// a large file, counting for each from the beginning would take for ever.
struct Lines<'a> {
    text: &'a str,
    byte: usize,
    position: Position,
}

impl Lines<'_> {
    fn new(source: &Source) -> Lines<'_> {
        Lines { text: source.text(), byte: 0, position: Position { line: 1, column: 1 } }
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

fn unused(name: String, configured: &Configured, why: Why) -> Unused {
    let Configured { origin, transport, spelled, .. } = configured;
    Unused { name, origin: origin.clone(), transport, spelled: spelled.clone(), why }
}

pub(super) fn transport(node: &Node) -> &'static str {
    match (node.get("transport").and_then(Node::as_str), node.get("command"), node.get("url")) {
        (Some("stdio"), _, _) | (None, Some(_), None) => "stdio",
        (Some("sse"), _, _) => "sse",
        (Some("http"), _, _) | (None, None, Some(_)) => "http",
        _ => "?",
    }
}

/// The command line or the URL, without what stands in a URL before the host.
pub(super) fn spelled(node: &Node) -> String {
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

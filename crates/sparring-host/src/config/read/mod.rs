//! From a file to its entries, in one form whoever wrote it. What the entries
//! mean is not asked here.

mod foreign;
mod json;
mod text;

use sparring_script::grammar::check;
use sparring_script::{Entry, Kind, Node, Problems, Shape, Source, Span};

use super::grammar::{CONFIG, SERVER};
use super::hidden;
use super::places::{Format, Place};
use super::server::Rules;

pub(super) use foreign::Input;
pub(super) use json::options as json_options;
pub(super) use text::{digest, text};

/// A config file that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Where.
    pub place: Place,
    /// Whether there is anything.
    pub is_there: bool,
    /// Whether what it says may be done: it is the user's own, or they trust it
    /// as it is now.
    pub is_trusted: bool,
}

/// What stands in a file.
#[derive(Debug)]
pub(super) struct Content {
    /// The text, without what may be secret in it.
    pub(super) source: Source,
    pub(super) entries: Vec<Raw>,
    pub(super) inputs: Vec<Input>,
    pub(super) rules: Rules,
    /// The patterns in these, and where they stand.
    pub(super) patterns: Vec<(String, Span)>,
    /// What is wrong with it beside its entries.
    pub(super) problems: Problems,
    /// Whether all that it says of permissions could be read.
    pub(super) rules_are_whole: bool,
    /// What is worth knowing of it, each with its place.
    pub(super) notes: Vec<String>,
}

/// An entry that has the keys of the grammar, or problems.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) name: String,
    pub(super) key_span: Span,
    pub(super) node: Node,
    pub(super) problems: Problems,
}

/// Takes a text apart.
///
/// # Errors
/// When it is not what its format is.
pub(super) fn parse(source: &Source, format: Format) -> Result<Node, Problems> {
    match format {
        Format::Yaml => Node::parse(source),
        _ => json::parse(source),
    }
}

/// Reads the text of a file.
///
/// # Errors
/// When nothing can be made of it.
pub(super) fn content(place: &Place, text: &str) -> Result<Content, Problems> {
    let name = place.file.display().to_string();
    let source = Source::new(&*name, text);
    let mut root =
        parse(&source, place.format).map_err(|problems| hidden::of_unreadable(&problems))?;
    let source = hidden::source(&source, &root, place.format);
    let mut content = Content {
        problems: Problems::new(&source),
        source: source.clone(),
        entries: Vec::new(),
        inputs: Vec::new(),
        rules: Rules::default(),
        patterns: Vec::new(),
        rules_are_whole: true,
        notes: Vec::new(),
    };
    if !matches!(root.kind, Kind::Map(_)) {
        let message = format!("expected a map with `{}`", place.format.servers());
        content.problems.add(root.span, message);
        return Err(hidden::of_unreadable(&content.problems));
    }
    let servers = take_servers(&mut root, place.format, &mut content.problems);
    match place.format {
        Format::Yaml => {
            check(&mut root, &Shape::Object(&CONFIG), &mut content.problems);
            let permissions = root.entry("permissions");
            content.rules = permissions.map(|it| rules(&it.value)).unwrap_or_default();
            content.patterns = permissions.map(|it| patterns(&it.value)).unwrap_or_default();
            content.rules_are_whole = content.problems.is_empty();
        }
        format => foreign::top(&root, format, &mut content),
    }
    content.entries = servers.into_iter().map(|entry| raw(entry, place.format, &source)).collect();
    if place.format.is_foreign() {
        for entry in &mut content.entries {
            foreign::entry(entry, &source, &mut content.notes);
        }
    }
    for entry in &mut content.entries {
        check(&mut entry.node, &Shape::Object(&SERVER), &mut entry.problems);
    }
    Ok(content)
}

/// Patterns of tools, as far as they are texts.
pub(super) fn rules(node: &Node) -> Rules {
    let patterns = |key| {
        let items = node.get(key).map(Node::items).unwrap_or_default();
        items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    Rules { deny: patterns("deny"), ask: patterns("ask"), allow: patterns("allow") }
}

/// The same, each with where it stands.
pub(super) fn patterns(node: &Node) -> Vec<(String, Span)> {
    let lists = node.entries().iter().flat_map(|entry| entry.value.items());
    lists.filter_map(|item| Some((item.as_str()?.to_owned(), item.span))).collect()
}

/// Takes the servers out of a file, so that what is wrong with one of them is
/// told of it alone.
fn take_servers(root: &mut Node, format: Format, problems: &mut Problems) -> Vec<Entry> {
    let Kind::Map(entries) = &mut root.kind else { return Vec::new() };
    let Some(servers) = entries.iter_mut().find(|entry| entry.key == format.servers()) else {
        return Vec::new();
    };
    match std::mem::replace(&mut servers.value.kind, Kind::Map(Vec::new())) {
        Kind::Map(entries) => entries,
        Kind::Null => Vec::new(),
        other => {
            let found = Node { kind: other, span: servers.value.span };
            let message = format!("expected a map of servers, found {}", found.what());
            problems.add(found.span, message);
            Vec::new()
        }
    }
}

fn raw(entry: Entry, format: Format, source: &Source) -> Raw {
    let mut problems = Problems::new(source);
    if entry.key.trim().is_empty() {
        problems.add(entry.key_span, "a server needs a name");
    }
    if entry.key.chars().any(char::is_control) {
        problems.add(entry.key_span, "the name of a server has no control characters");
    }
    let mut node = entry.value;
    if !matches!(node.kind, Kind::Map(_)) {
        if format.is_foreign() || node.kind != Kind::Null {
            let message = format!("expected a server, which is a map, found {}", node.what());
            problems.add(entry.key_span, message);
        }
        node.kind = Kind::Map(Vec::new());
    }
    Raw { name: entry.key, key_span: entry.key_span, node, problems }
}

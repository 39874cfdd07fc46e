//! Reads a file into entries with the same keys, whatever its format. It does
//! not interpret the entries.

mod foreign;
mod json;

use std::io;
use std::path::Path;

use ring::digest::{SHA256, digest as sum};
use sparring_script::grammar::check_node;
use sparring_script::{MapEntry, Node, NodeKind, Problems, Shape, Source, Span};
use sparring_transport::read_text_file;

use super::grammar::{CONFIG, SERVER};
use super::locations::{ConfigLocation, Format};
use super::redact;
use super::server_config::Rules;

pub(super) use foreign::{Input, convert_entry};
pub(super) use json::{json_options, parse as parse_json};

/// The maximum size of a file.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// A config file that was searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its location.
    pub location: ConfigLocation,
    /// True if it exists.
    pub is_there: bool,
    /// True if it may be used: it is the user's own, or the user trusts its
    /// current contents.
    pub is_trusted: bool,
    /// The SHA-256 digest of its text, if it could be read.
    pub digest: Option<String>,
}

/// The contents of a file.
#[derive(Debug)]
pub(super) struct FileContent {
    /// The text, with masked secrets.
    pub(super) source: Source,
    pub(super) entries: Vec<RawEntry>,
    pub(super) inputs: Vec<Input>,
    pub(super) rules: Rules,
    /// The folders of `roots`, as written.
    pub(super) roots: Vec<Node>,
    /// The patterns in the rules, with their positions.
    pub(super) patterns: Vec<(String, Span)>,
    /// The problems outside of the entries.
    pub(super) problems: Problems,
    /// True if all permissions could be read.
    pub(super) rules_are_complete: bool,
    /// Notes, each with its position.
    pub(super) notes: Vec<String>,
}

/// An entry with the keys of the grammar, or with problems.
#[derive(Debug)]
pub(super) struct RawEntry {
    pub(super) name: String,
    pub(super) key_span: Span,
    pub(super) node: Node,
    pub(super) problems: Problems,
}

/// The text of a file; `None` if it does not exist.
///
/// # Errors
/// If the file cannot be read; the message does not contain its path.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, String> {
    read_limited_text(path, MAX_FILE_BYTES)
}

/// The text of a file of at most that many bytes; `None` if it does not exist.
///
/// # Errors
/// As [`read_text`].
pub(super) fn read_limited_text(path: &Path, limit: u64) -> Result<Option<String>, String> {
    match read_text_file(path, limit) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // The path goes through a file, so the config file does not exist
        // either.
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// The SHA-256 digest of a text, in hexadecimal digits.
pub(super) fn digest(text: &str) -> String {
    let digest = sum(&SHA256, text.as_bytes());
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Parses a text.
///
/// # Errors
/// If it does not have the syntax of its format.
pub(super) fn parse(source: &Source, format: Format) -> Result<Node, Problems> {
    match format {
        Format::Yaml => Node::parse(source),
        _ => json::parse(source),
    }
}

/// Reads the text of a file.
///
/// # Errors
/// If the file as a whole is invalid.
pub(super) fn parse_content(
    location: &ConfigLocation,
    text: &str,
) -> Result<FileContent, Problems> {
    let name = location.file.display().to_string();
    let source = Source::new(&*name, text);
    let mut root =
        parse(&source, location.format).map_err(|problems| redact::mask_unparsed(&problems))?;
    let source = redact::mask_secrets(&source, &root, location.format);
    let mut content = FileContent {
        problems: Problems::new(&source),
        source: source.clone(),
        entries: Vec::new(),
        inputs: Vec::new(),
        rules: Rules::default(),
        roots: Vec::new(),
        patterns: Vec::new(),
        rules_are_complete: true,
        notes: Vec::new(),
    };
    if !matches!(root.kind, NodeKind::Map(_)) {
        let message = format!("expected a map with `{}`", location.format.servers_key());
        content.problems.add(root.span, message);
        return Err(redact::mask_unparsed(&content.problems));
    }
    let servers = take_servers(&mut root, location.format, &mut content.problems);
    match location.format {
        Format::Yaml => {
            check_node(&mut root, &Shape::Object(&CONFIG), &mut content.problems);
            content.roots = root.get("roots").map(Node::items).unwrap_or_default().to_vec();
            let permissions = root.entry("permissions");
            content.rules = permissions.map(|it| parse_rules(&it.value)).unwrap_or_default();
            content.patterns = permissions.map(|it| parse_patterns(&it.value)).unwrap_or_default();
            content.rules_are_complete = content.problems.is_empty();
        }
        format => foreign::read_top_level(&root, format, &mut content),
    }
    content.entries =
        servers.into_iter().map(|entry| to_raw_entry(entry, location.format, &source)).collect();
    if location.format.is_foreign() {
        for entry in &mut content.entries {
            foreign::convert_entry(entry, &source, &mut content.notes);
        }
    }
    for entry in &mut content.entries {
        check_node(&mut entry.node, &Shape::Object(&SERVER), &mut entry.problems);
    }
    Ok(content)
}

/// The patterns of permission rules, as far as they are strings.
pub(super) fn parse_rules(node: &Node) -> Rules {
    let patterns = |key| {
        let items = node.get(key).map(Node::items).unwrap_or_default();
        items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    };
    Rules { deny: patterns("deny"), ask: patterns("ask"), allow: patterns("allow") }
}

/// The same patterns with their positions.
pub(super) fn parse_patterns(node: &Node) -> Vec<(String, Span)> {
    let lists = node.entries().iter().flat_map(|entry| entry.value.items());
    lists.filter_map(|item| Some((item.as_str()?.to_owned(), item.span))).collect()
}

/// Takes the servers out of a file, so that a problem of one is reported for
/// that one only.
fn take_servers(root: &mut Node, format: Format, problems: &mut Problems) -> Vec<MapEntry> {
    let NodeKind::Map(entries) = &mut root.kind else { return Vec::new() };
    let Some(servers) = entries.iter_mut().find(|entry| entry.key == format.servers_key()) else {
        return Vec::new();
    };
    match std::mem::replace(&mut servers.value.kind, NodeKind::Map(Vec::new())) {
        NodeKind::Map(entries) => entries,
        NodeKind::Null => Vec::new(),
        other => {
            let found = Node { kind: other, span: servers.value.span };
            let message = format!("expected a map of servers, found {}", found.describe());
            problems.add(found.span, message);
            Vec::new()
        }
    }
}

pub(super) fn to_raw_entry(entry: MapEntry, format: Format, source: &Source) -> RawEntry {
    let mut problems = Problems::new(source);
    if entry.key.trim().is_empty() {
        problems.add(entry.key_span, "the server's name is empty");
    }
    if entry.key.chars().any(char::is_control) {
        problems.add(entry.key_span, "the server's name contains control characters");
    }
    let mut node = entry.value;
    if !matches!(node.kind, NodeKind::Map(_)) {
        if format.is_foreign() || node.kind != NodeKind::Null {
            let message = format!("expected a map for the server, found {}", node.describe());
            problems.add(entry.key_span, message);
        }
        node.kind = NodeKind::Map(Vec::new());
    }
    RawEntry { name: entry.key, key_span: entry.key_span, node, problems }
}

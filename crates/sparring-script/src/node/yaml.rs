//! Parses YAML to nodes. `granit-parser` parses the syntax and reports the span of each
//! value.

use std::collections::{HashMap, HashSet};

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError};

use super::scalar::parse_scalar;
use super::{MapEntry, Node, NodeKind};
use crate::problem::Problems;
use crate::source::{Source, Span};

/// The maximum nesting depth of values.
const MAX_DEPTH: usize = 64;

/// The maximum number of values, and of bytes in strings. Aliases can expand a small text
/// to a huge value.
const MAX_VALUES: usize = 250_000;
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The key whose value is merged into its map.
const MERGE_KEY: &str = "<<";

/// The span and the message of an error.
type YamlError = (Span, String);

/// Parses a document and reports duplicate keys.
pub(super) fn parse(source: &Source) -> Result<Node, Problems> {
    let mut problems = Problems::new(source);
    let node = match parse_text(source.text()) {
        Ok(node) => node,
        Err((span, message)) => {
            problems.add(span, format!("invalid YAML: {message}"));
            return Err(problems);
        }
    };
    find_duplicates(&node, &mut problems);
    problems.into_result(match node.kind {
        NodeKind::Null => Node { kind: NodeKind::Map(Vec::new()), ..node },
        _ => node,
    })
}

fn find_duplicates(node: &Node, problems: &mut Problems) {
    let mut seen = HashSet::new();
    for entry in node.entries() {
        if !seen.insert(&entry.key) {
            problems.add(entry.key_span, format!("duplicate key `{}`", entry.key));
        }
        find_duplicates(&entry.value, problems);
    }
    for item in node.items() {
        find_duplicates(item, problems);
    }
}

fn parse_text(text: &str) -> Result<Node, YamlError> {
    let mut builder = TreeBuilder::default();
    for next in Parser::new_from_str(text) {
        let (event, span) = next.map_err(|error| scan_error(text, &error))?;
        let span = Span {
            start: byte_offset(text, &span.start),
            end: byte_offset(text, &span.end).max(byte_offset(text, &span.start)),
        };
        builder.handle_event(event, span)?;
    }
    Ok(builder.root.unwrap_or(Node { span: Span::default(), kind: NodeKind::Null }))
}

/// Converts an error of the parser.
fn scan_error(text: &str, error: &ScanError) -> YamlError {
    let start = byte_offset(text, error.marker());
    let message = match error.kind() {
        ErrorKind::UnknownAnchor => "the alias refers to an unknown anchor".to_owned(),
        kind => kind.to_string(),
    };
    (Span { start, end: start }, message)
}

/// Returns the byte offset of a marker; some markers have only a character offset.
fn byte_offset(text: &str, marker: &granit_parser::Marker) -> usize {
    marker.byte_offset().unwrap_or_else(|| {
        text.char_indices().nth(marker.index()).map_or(text.len(), |(byte, _)| byte)
    })
}

/// Builds the tree of nodes from the events of the parser.
#[derive(Default)]
struct TreeBuilder {
    root: Option<Node>,
    /// The lists and maps that have not ended, the outermost first.
    open: Vec<OpenContainer>,
    /// The nodes that aliases refer to.
    anchors: HashMap<usize, Node>,
    /// The size of all nodes so far.
    size: NodeSize,
}

/// A list or a map that has not ended.
struct OpenContainer {
    span: Span,
    anchor: usize,
    contents: Contents,
}

enum Contents {
    List(Vec<Node>),
    /// `merged` are the values of merge keys.
    Map {
        entries: Vec<MapEntry>,
        merged: Vec<Node>,
        key: Option<PendingKey>,
    },
}

/// A key whose value has not been parsed.
struct PendingKey {
    name: String,
    span: Span,
    /// True if it is the merge key.
    merges: bool,
}

impl TreeBuilder {
    fn handle_event(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let merges = style == ScalarStyle::Plain && tag.is_none() && text == MERGE_KEY;
                let kind = parse_scalar(text, style, tag.as_deref()).map_err(|why| (span, why))?;
                self.add(Node { span, kind }, anchor, merges)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open(OpenContainer { span, anchor, contents: Contents::List(Vec::new()) })
            }
            Event::MappingStart(_, anchor, _) => {
                let contents = Contents::Map { entries: Vec::new(), merged: Vec::new(), key: None };
                self.open(OpenContainer { span, anchor, contents })
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(OpenContainer { span, anchor, contents }) = self.open.pop() else {
                    return Ok(());
                };
                let kind = match contents {
                    Contents::List(items) => NodeKind::List(items),
                    Contents::Map { entries, merged, .. } => {
                        NodeKind::Map(merge_entries(entries, merged)?)
                    }
                };
                self.add(Node { span, kind }, anchor, false)
            }
            Event::Alias(anchor) => self.add_alias(anchor, span),
            Event::DocumentStart(..) if self.root.is_some() => {
                Err((span, "more than one document".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, container: OpenContainer) -> Result<(), YamlError> {
        if self.open.len() == MAX_DEPTH {
            return Err((container.span, too_deep()));
        }
        if matches!(
            self.open.last(),
            Some(OpenContainer { contents: Contents::Map { key: None, .. }, .. })
        ) {
            return Err((container.span, "a key must be a string".to_owned()));
        }
        self.open.push(container);
        Ok(())
    }

    fn add(&mut self, node: Node, anchor: usize, merges: bool) -> Result<(), YamlError> {
        self.size.count += 1;
        if let NodeKind::String(text) = &node.kind {
            self.size.bytes += text.len();
        }
        if anchor != 0 {
            self.size = self.size.plus(NodeSize::measure(&node));
        }
        self.size.check_limits(node.span)?;
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        self.insert(node, merges)
    }

    fn add_alias(&mut self, anchor: usize, span: Span) -> Result<(), YamlError> {
        let Some(node) = self.anchors.get(&anchor) else {
            return Err((span, "the alias is inside the value that it refers to".to_owned()));
        };
        let size = NodeSize::measure(node);
        if self.open.len() + size.depth > MAX_DEPTH {
            return Err((span, too_deep()));
        }
        self.size = self.size.plus(size);
        self.size.check_limits(span)?;
        let node = Node { span, kind: node.kind.clone() };
        self.insert(node, false)
    }

    /// Adds a node to the innermost open container.
    fn insert(&mut self, node: Node, merges: bool) -> Result<(), YamlError> {
        match self.open.last_mut().map(|open| &mut open.contents) {
            None => self.root = Some(node),
            Some(Contents::List(items)) => items.push(node),
            Some(Contents::Map { entries, merged, key }) => match key.take() {
                None => *key = Some(PendingKey { span: node.span, merges, name: key_name(node)? }),
                Some(PendingKey { merges: true, .. }) => merged.push(node),
                Some(PendingKey { name, span, .. }) => {
                    entries.push(MapEntry { key: name, key_span: span, value: node });
                }
            },
        }
        Ok(())
    }
}

/// The size of a node with all that it contains.
#[derive(Clone, Copy, Default)]
struct NodeSize {
    count: usize,
    bytes: usize,
    depth: usize,
}

impl NodeSize {
    fn measure(node: &Node) -> NodeSize {
        let own = match &node.kind {
            NodeKind::String(text) => NodeSize { count: 1, bytes: text.len(), depth: 0 },
            NodeKind::List(_) | NodeKind::Map(_) => NodeSize { count: 1, bytes: 0, depth: 1 },
            _ => NodeSize { count: 1, bytes: 0, depth: 0 },
        };
        let values = node.items().iter().chain(node.entries().iter().map(|entry| &entry.value));
        values.map(NodeSize::measure).fold(own, |all, one| NodeSize {
            depth: all.depth.max(own.depth + one.depth),
            ..all.plus(one)
        })
    }

    /// Adds the counts and bytes; the depth stays that of `self`.
    fn plus(self, other: NodeSize) -> NodeSize {
        let count = self.count.saturating_add(other.count);
        NodeSize { count, bytes: self.bytes.saturating_add(other.bytes), ..self }
    }

    fn check_limits(self, span: Span) -> Result<(), YamlError> {
        match self.count > MAX_VALUES || self.bytes > MAX_BYTES {
            true => Err((span, "the document is too large after its aliases are expanded".into())),
            false => Ok(()),
        }
    }
}

fn too_deep() -> String {
    format!("values are nested more than {MAX_DEPTH} levels deep")
}

/// Returns the key of a map: any scalar, as a string.
fn key_name(node: Node) -> Result<String, YamlError> {
    match node.kind {
        NodeKind::String(text) => Ok(text),
        NodeKind::Number(number) => Ok(number.to_string()),
        NodeKind::Bool(value) => Ok(value.to_string()),
        NodeKind::Null => Ok("null".to_owned()),
        NodeKind::List(_) | NodeKind::Map(_) => {
            Err((node.span, "a key must be a string".to_owned()))
        }
    }
}

/// Appends the entries of merged maps. The map's own entries take precedence over merged
/// ones, and earlier maps over later ones.
fn merge_entries(
    mut entries: Vec<MapEntry>,
    merged: Vec<Node>,
) -> Result<Vec<MapEntry>, YamlError> {
    if merged.is_empty() {
        return Ok(entries);
    }
    let mut known: HashSet<String> = entries.iter().map(|entry| entry.key.clone()).collect();
    for node in merged {
        let maps = match node.kind {
            NodeKind::List(maps) => maps,
            _ => vec![node],
        };
        for map in maps {
            let NodeKind::Map(others) = map.kind else {
                return Err((map.span, format!("`{MERGE_KEY}` needs a map or a list of maps")));
            };
            entries.extend(others.into_iter().filter(|entry| known.insert(entry.key.clone())));
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Result<Node, String> {
        Node::parse(&Source::new("a.yaml", text)).map_err(|problems| problems.to_string())
    }

    #[test]
    fn parses_plain_values_by_the_core_schema() {
        let text = "a: 1\nb: -2.5\nc: yes\nd: true\ne: ~\nf: 2025-11-25\ng: 1.0.0\n\
                    h: \"1\"\ni: [x, {y: z}]\nj: |\n  two\n  lines\n18446744073709551615: k\n";
        let expected = json!({
            "a": 1, "b": -2.5, "c": "yes", "d": true, "e": null, "f": "2025-11-25", "g": "1.0.0",
            "h": "1", "i": ["x", {"y": "z"}], "j": "two\nlines\n", "18446744073709551615": "k",
        });
        assert_eq!(parse(text).unwrap().to_json(), expected);
        assert_eq!(parse("").unwrap().to_json(), json!({}));
        assert_eq!(parse("# nothing\n").unwrap().to_json(), json!({}));
    }

    #[test]
    fn every_value_and_every_key_has_its_span() {
        let text = "ä: {key: value}\nlist:\n  - one\n  - \"two\"\n";
        let source = Source::new("a.yaml", text);
        let node = Node::parse(&source).unwrap();
        let key = node.get("ä").and_then(|it| it.entry("key")).unwrap();
        assert_eq!(source.location(key.key_span), "a.yaml:1:5");
        assert_eq!(source.location(key.value.span), "a.yaml:1:10");
        assert_eq!(&text[key.value.span.start..key.value.span.end], "value");
        assert_eq!(source.location(node.get("list").unwrap().items()[1].span), "a.yaml:4:5");
    }

    #[test]
    fn an_alias_has_the_span_of_its_use() {
        let source = Source::new("a.yaml", "a: &x {b: 1}\nc: *x\n");
        let node = Node::parse(&source).unwrap();
        assert_eq!(node.get("c").unwrap().to_json(), json!({"b": 1}));
        assert_eq!(source.location(node.get("c").unwrap().span), "a.yaml:2:4");
    }

    #[test]
    fn all_duplicate_keys_are_reported() {
        let message = parse("a: 1\nb: {c: 1, c: 2}\na: 2\n").unwrap_err();
        assert!(
            message.contains("duplicate key `c`") && message.contains("duplicate key `a`"),
            "{message}"
        );
        assert!(message.contains("a.yaml:2:11") && message.contains("a.yaml:3:1"), "{message}");
    }

    #[test]
    fn invalid_yaml_is_reported_with_its_position() {
        for wrong in ["a: [1, 2\n", "a: b: c\n", "a: 'x\n", "%", "*x", "{", "? [a]\n: b"] {
            let message = parse(wrong).unwrap_err();
            assert!(message.contains("a.yaml:"), "{wrong}: {message}");
        }
    }

    #[test]
    fn merged_entries_follow_those_of_the_map() {
        let text = "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], x: 0}\n";
        let merged = parse(text).unwrap().get("c").unwrap().to_json();
        assert_eq!(merged.to_string(), r#"{"x":0,"y":2,"z":4}"#);
        assert_eq!(parse("\"<<\": 1").unwrap().to_json(), json!({"<<": 1}));
        assert!(parse("<<: 1").unwrap_err().contains("needs a map"));
    }

    #[test]
    fn a_huge_expansion_of_aliases_is_refused() {
        let level = |n: u8| format!("{}: &{} [{}]\n", n, n, format!("*{}, ", n - 1).repeat(9));
        let bomb: String = (1..20).map(level).collect();
        let message = parse(&format!("0: &0 lol\n{bomb}")).unwrap_err();
        assert!(message.contains("too large after its aliases are expanded"), "{message}");
        let deeper = |n: u8| format!("{n}: &{n} [[[[[[[[*{}]]]]]]]]\n", n - 1);
        let deep: String = (1..20).map(deeper).collect();
        let message = parse(&format!("0: &0 lol\n{deep}")).unwrap_err();
        assert!(message.contains("nested more than 64 levels deep"), "{message}");
        assert!(parse("a: &a [*a]").unwrap_err().contains("inside the value that it refers to"));
    }

    #[test]
    fn a_second_document_is_refused() {
        assert_eq!(parse("---\na: 1\n...\n").unwrap().to_json(), json!({"a": 1}));
        assert!(parse("a: 1\n---\nb: 2\n").unwrap_err().contains("more than one document"));
    }
}

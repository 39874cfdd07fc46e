//! From YAML to nodes. The parser is `granit-parser`, which tells each value's
//! place; what a value means is not asked here.

use std::collections::{HashMap, HashSet};

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError};

use super::scalar::scalar;
use super::{Entry, Kind, Node};
use crate::problem::Problems;
use crate::source::{Source, Span};

/// How deep values may be nested.
const DEEPEST: usize = 64;

/// How many values a text may have, and how many bytes of texts: aliases can make
/// very much of very little.
const MOST: usize = 250_000;
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The key whose value has more entries for its map.
const MERGE: &str = "<<";

/// Where something is wrong, and what.
type Wrong = (Span, String);

pub(super) fn read(source: &Source) -> Result<Node, Problems> {
    let mut problems = Problems::new(source);
    let node = match parse(source.text()) {
        Ok(node) => node,
        Err((span, message)) => {
            problems.add(span, format!("this is not YAML: {message}"));
            return Err(problems);
        }
    };
    find_duplicates(&node, &mut problems);
    problems.or(match node.kind {
        Kind::Null => Node { kind: Kind::Map(Vec::new()), ..node },
        _ => node,
    })
}

fn find_duplicates(node: &Node, problems: &mut Problems) {
    let mut seen = HashSet::new();
    for entry in node.entries() {
        if !seen.insert(&entry.key) {
            problems.add(entry.key_span, format!("a second `{}` in one map", entry.key));
        }
        find_duplicates(&entry.value, problems);
    }
    for item in node.items() {
        find_duplicates(item, problems);
    }
}

fn parse(text: &str) -> Result<Node, Wrong> {
    let mut reading = Reading::default();
    for next in Parser::new_from_str(text) {
        let (event, span) = next.map_err(|error| wrong(text, &error))?;
        let span = Span {
            start: byte(text, &span.start),
            end: byte(text, &span.end).max(byte(text, &span.start)),
        };
        reading.take(event, span)?;
    }
    Ok(reading.root.unwrap_or(Node { span: Span::default(), kind: Kind::Null }))
}

/// What the parser says of a text that it cannot read.
fn wrong(text: &str, error: &ScanError) -> Wrong {
    let start = byte(text, error.marker());
    let message = match error.kind() {
        ErrorKind::UnknownAnchor => "alias references unknown anchor".to_owned(),
        kind => kind.to_string(),
    };
    (Span { start, end: start }, message)
}

/// Where a place is in bytes; some are told in characters only.
fn byte(text: &str, marker: &granit_parser::Marker) -> usize {
    marker.byte_offset().unwrap_or_else(|| {
        text.char_indices().nth(marker.index()).map_or(text.len(), |(byte, _)| byte)
    })
}

/// A text as far as it was read.
#[derive(Default)]
struct Reading {
    root: Option<Node>,
    /// The lists and maps that have begun, from the outermost on.
    open: Vec<Open>,
    /// What aliases can stand for.
    anchors: HashMap<usize, Node>,
    /// What all values come to.
    weight: Weight,
}

/// A list or a map that has begun.
struct Open {
    span: Span,
    anchor: usize,
    what: Begun,
}

enum Begun {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, more: Vec<Node>, key: Option<Key> },
}

/// A key whose value is still to come.
struct Key {
    name: String,
    span: Span,
    /// Whether its value has more entries for the map.
    merges: bool,
}

impl Reading {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Wrong> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let merges = style == ScalarStyle::Plain && tag.is_none() && text == MERGE;
                let kind = scalar(text, style, tag.as_deref()).map_err(|why| (span, why))?;
                self.add(Node { span, kind }, anchor, merges)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(Open { span, anchor, what: Begun::List(Vec::new()) })
            }
            Event::MappingStart(_, anchor, _) => {
                let what = Begun::Map { entries: Vec::new(), more: Vec::new(), key: None };
                self.begin(Open { span, anchor, what })
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Open { span, anchor, what }) = self.open.pop() else { return Ok(()) };
                let kind = match what {
                    Begun::List(items) => Kind::List(items),
                    Begun::Map { entries, more, .. } => Kind::Map(merged(entries, more)?),
                };
                self.add(Node { span, kind }, anchor, false)
            }
            Event::Alias(anchor) => self.add_alias(anchor, span),
            Event::DocumentStart(..) if self.root.is_some() => {
                Err((span, "there is more than one document".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, open: Open) -> Result<(), Wrong> {
        if self.open.len() == DEEPEST {
            return Err((open.span, too_deep()));
        }
        if matches!(self.open.last(), Some(Open { what: Begun::Map { key: None, .. }, .. })) {
            return Err((open.span, "a key is a text".to_owned()));
        }
        self.open.push(open);
        Ok(())
    }

    fn add(&mut self, node: Node, anchor: usize, merges: bool) -> Result<(), Wrong> {
        self.weight.count += 1;
        if let Kind::String(text) = &node.kind {
            self.weight.bytes += text.len();
        }
        if anchor != 0 {
            self.weight = self.weight.with(Weight::of(&node));
        }
        self.weight.check(node.span)?;
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        self.put(node, merges)
    }

    fn add_alias(&mut self, anchor: usize, span: Span) -> Result<(), Wrong> {
        let Some(node) = self.anchors.get(&anchor) else {
            return Err((span, "an alias stands within what it stands for".to_owned()));
        };
        let weight = Weight::of(node);
        if self.open.len() + weight.depth > DEEPEST {
            return Err((span, too_deep()));
        }
        self.weight = self.weight.with(weight);
        self.weight.check(span)?;
        let node = Node { span, kind: node.kind.clone() };
        self.put(node, false)
    }

    /// Puts a value where it belongs.
    fn put(&mut self, node: Node, merges: bool) -> Result<(), Wrong> {
        match self.open.last_mut().map(|open| &mut open.what) {
            None => self.root = Some(node),
            Some(Begun::List(items)) => items.push(node),
            Some(Begun::Map { entries, more, key }) => match key.take() {
                None => *key = Some(Key { span: node.span, merges, name: name(node)? }),
                Some(Key { merges: true, .. }) => more.push(node),
                Some(Key { name, span, .. }) => {
                    entries.push(Entry { key: name, key_span: span, value: node });
                }
            },
        }
        Ok(())
    }
}

/// What a value comes to.
#[derive(Clone, Copy, Default)]
struct Weight {
    count: usize,
    bytes: usize,
    depth: usize,
}

impl Weight {
    fn of(node: &Node) -> Weight {
        let own = match &node.kind {
            Kind::String(text) => Weight { count: 1, bytes: text.len(), depth: 0 },
            Kind::List(_) | Kind::Map(_) => Weight { count: 1, bytes: 0, depth: 1 },
            _ => Weight { count: 1, bytes: 0, depth: 0 },
        };
        let values = node.items().iter().chain(node.entries().iter().map(|entry| &entry.value));
        values.map(Weight::of).fold(own, |all, one| Weight {
            depth: all.depth.max(own.depth + one.depth),
            ..all.with(one)
        })
    }

    /// Both; how deep the first of them is.
    fn with(self, other: Weight) -> Weight {
        let count = self.count.saturating_add(other.count);
        Weight { count, bytes: self.bytes.saturating_add(other.bytes), ..self }
    }

    fn check(self, span: Span) -> Result<(), Wrong> {
        match self.count > MOST || self.bytes > MOST_BYTES {
            true => Err((span, "there is too much of it, with what its aliases stand for".into())),
            false => Ok(()),
        }
    }
}

fn too_deep() -> String {
    format!("values are nested more than {DEEPEST} deep")
}

/// The key of a map: any scalar, as text.
fn name(node: Node) -> Result<String, Wrong> {
    match node.kind {
        Kind::String(text) => Ok(text),
        Kind::Number(number) => Ok(number.to_string()),
        Kind::Bool(value) => Ok(value.to_string()),
        Kind::Null => Ok("null".to_owned()),
        Kind::List(_) | Kind::Map(_) => Err((node.span, "a key is a text".to_owned())),
    }
}

/// The entries of a map, and after them what is merged into it: what stands there itself
/// counts more, and of several maps the first.
fn merged(mut entries: Vec<Entry>, more: Vec<Node>) -> Result<Vec<Entry>, Wrong> {
    if more.is_empty() {
        return Ok(entries);
    }
    let mut known: HashSet<String> = entries.iter().map(|entry| entry.key.clone()).collect();
    for node in more {
        let maps = match node.kind {
            Kind::List(maps) => maps,
            _ => vec![node],
        };
        for map in maps {
            let Kind::Map(merged) = map.kind else {
                return Err((map.span, format!("`{MERGE}` takes a map, or a list of maps")));
            };
            entries.extend(merged.into_iter().filter(|entry| known.insert(entry.key.clone())));
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
    fn reads_values_as_what_they_look_like() {
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
    fn every_value_and_every_key_knows_its_place() {
        let text = "ä: {key: value}\nlist:\n  - one\n  - \"two\"\n";
        let source = Source::new("a.yaml", text);
        let node = Node::parse(&source).unwrap();
        let key = node.get("ä").and_then(|it| it.entry("key")).unwrap();
        assert_eq!(source.place(key.key_span), "a.yaml:1:5");
        assert_eq!(source.place(key.value.span), "a.yaml:1:10");
        assert_eq!(&text[key.value.span.start..key.value.span.end], "value");
        assert_eq!(source.place(node.get("list").unwrap().items()[1].span), "a.yaml:4:5");
    }

    #[test]
    fn an_alias_stands_where_it_is_used() {
        let source = Source::new("a.yaml", "a: &x {b: 1}\nc: *x\n");
        let node = Node::parse(&source).unwrap();
        assert_eq!(node.get("c").unwrap().to_json(), json!({"b": 1}));
        assert_eq!(source.place(node.get("c").unwrap().span), "a.yaml:2:4");
    }

    #[test]
    fn all_duplicates_are_told_at_once() {
        let told = parse("a: 1\nb: {c: 1, c: 2}\na: 2\n").unwrap_err();
        assert!(told.contains("a second `c`") && told.contains("a second `a`"), "{told}");
        assert!(told.contains("a.yaml:2:11") && told.contains("a.yaml:3:1"), "{told}");
    }

    #[test]
    fn what_is_no_yaml_is_told_with_its_place() {
        for wrong in ["a: [1, 2\n", "a: b: c\n", "a: 'x\n", "%", "*x", "{", "? [a]\n: b"] {
            let told = parse(wrong).unwrap_err();
            assert!(told.contains("a.yaml:"), "{wrong}: {told}");
        }
    }

    #[test]
    fn merged_entries_stand_behind_those_of_the_map_itself() {
        let text = "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\nc: {<<: [*a, *b], x: 0}\n";
        let merged = parse(text).unwrap().get("c").unwrap().to_json();
        assert_eq!(merged.to_string(), r#"{"x":0,"y":2,"z":4}"#);
        assert_eq!(parse("\"<<\": 1").unwrap().to_json(), json!({"<<": 1}));
        assert!(parse("<<: 1").unwrap_err().contains("takes a map"));
    }

    #[test]
    fn what_aliases_blow_up_is_refused() {
        let level = |n: u8| format!("{}: &{} [{}]\n", n, n, format!("*{}, ", n - 1).repeat(9));
        let bomb: String = (1..20).map(level).collect();
        let told = parse(&format!("0: &0 lol\n{bomb}")).unwrap_err();
        assert!(told.contains("there is too much of it"), "{told}");
        let deeper = |n: u8| format!("{n}: &{n} [[[[[[[[*{}]]]]]]]]\n", n - 1);
        let deep: String = (1..20).map(deeper).collect();
        let told = parse(&format!("0: &0 lol\n{deep}")).unwrap_err();
        assert!(told.contains("nested more than 64 deep"), "{told}");
        assert!(parse("a: &a [*a]").unwrap_err().contains("within what it stands for"));
    }

    #[test]
    fn there_is_one_document() {
        assert_eq!(parse("---\na: 1\n...\n").unwrap().to_json(), json!({"a": 1}));
        assert!(parse("a: 1\n---\nb: 2\n").unwrap_err().contains("more than one document"));
    }
}

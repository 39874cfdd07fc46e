//! From YAML to nodes. The parser is `serde-saphyr`, which tells each value's
//! place; what a value means is not asked here.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_saphyr::{DuplicateKeyPolicy, Location, Spanned, budget, options};

use super::{Entry, Kind, Node};
use crate::problem::Problems;
use crate::source::{Source, Span};

/// How deep values may be nested.
const DEEPEST: usize = 64;

/// What the parser needs for values as deep as that, in builds that are not
/// optimized; the thread that asks may have less.
const STACK: usize = 8 * 1024 * 1024;

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

fn parse(text: &str) -> Result<Node, (Span, String)> {
    let work = || {
        let options = options! {
            budget: budget! { max_depth: DEEPEST },
            // Found by ourselves, all of them at once.
            duplicate_keys: DuplicateKeyPolicy::LastWins,
            strict_booleans: true,
            with_snippet: false,
        };
        let read = serde_saphyr::from_str_with_options::<Spanned<Raw>>(text, options);
        read.map(node).map_err(|error| (place(text, error.location()), sentence(&error)))
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let read = thread.spawn_scoped(scope, work).map(|thread| thread.join());
        let no_thread = |error: std::io::Error| (Span::default(), error.to_string());
        let panicked = |_| (Span::default(), "the parser failed".to_owned());
        read.map_err(no_thread)?.map_err(panicked)?
    })
}

/// What the parser says, without the place that stands beside it anyway.
fn sentence(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let text = text.lines().next().unwrap_or_default();
    if let Some(float) = text.strip_prefix("non-finite float ") {
        let float = float.split(" rejected").next().unwrap_or_default();
        return format!("{float} is a number that JSON does not have");
    }
    let end = text.rfind(" at line ").or_else(|| text.rfind("; line ")).unwrap_or(text.len());
    text[..end].trim_end_matches([':', ',', ' ']).to_owned()
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

/// A value before its place is known.
enum Raw {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<Name>, Spanned<Raw>)>),
}

/// The key of a map: any scalar, as text.
struct Name(String);

fn node(spanned: Spanned<Raw>) -> Node {
    let kind = match spanned.value {
        Raw::Null => Kind::Null,
        Raw::Bool(value) => Kind::Bool(value),
        Raw::Number(number) => Kind::Number(number),
        Raw::String(text) => Kind::String(text),
        Raw::List(items) => Kind::List(items.into_iter().map(node).collect()),
        Raw::Map(pairs) => {
            let entry = |(key, value): (Spanned<Name>, _)| Entry {
                key: key.value.0,
                key_span: span(key.referenced),
                value: node(value),
            };
            Kind::Map(pairs.into_iter().map(entry).collect())
        }
    };
    Node { span: span(spanned.referenced), kind }
}

/// Where an error is; some are told by line and column only.
fn place(text: &str, location: Option<Location>) -> Span {
    let Some(location) = location else { return Span::default() };
    if location.span().byte_offset().is_some_and(|at| at > 0) {
        return span(location);
    }
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
    let before = text.split_inclusive('\n').take(number(location.line())).map(str::len).sum();
    let line = text[before..].chars().take(number(location.column()));
    let start = before + line.map(char::len_utf8).sum::<usize>();
    Span { start, end: start }
}

fn span(location: Location) -> Span {
    let span = location.span();
    let start = span.byte_offset().and_then(|at| usize::try_from(at).ok()).unwrap_or_default();
    let length = span.byte_len().and_then(|len| usize::try_from(len).ok()).unwrap_or_default();
    Span { start, end: start.saturating_add(length) }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Raw, E> {
        let number = Number::from_f64(value);
        // The parser refuses the others before, and says which it was.
        number.map(Raw::Number).ok_or_else(|| E::custom("non-finite float "))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Raw, E> {
        Ok(Raw::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Raw::Map(pairs))
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Raw::deserialize(deserializer)? {
            Raw::String(text) => Ok(Name(text)),
            Raw::Number(number) => Ok(Name(number.to_string())),
            Raw::Bool(value) => Ok(Name(value.to_string())),
            Raw::Null => Ok(Name("null".to_owned())),
            Raw::List(_) | Raw::Map(_) => Err(D::Error::custom("a key is a text")),
        }
    }
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
}

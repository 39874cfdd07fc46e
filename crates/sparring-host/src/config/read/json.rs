//! From JSON to nodes. Comments and trailing commas are taken, as VS Code takes
//! them, and nothing else that is no JSON.

use std::collections::HashSet;

use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use sparring_script::{Entry, Kind, Node, Problems, Source, Span};

/// How deep values may be nested.
const DEEPEST: usize = 64;

/// What is JSON here.
pub(in crate::config) fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Reads a text of one value; an empty one is an empty map.
///
/// # Errors
/// When it is not JSON, or a map has a key twice.
pub(in crate::config) fn parse(source: &Source) -> Result<Node, Problems> {
    let mut problems = Problems::new(source);
    // An editor on Windows may have put a mark before it.
    let text = source.text();
    let skipped = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let parsed = parse_to_ast(&text[skipped..], &CollectOptions::default(), &options());
    let value = match parsed {
        Ok(parsed) => parsed.value,
        Err(error) => {
            let message = error.kind().to_string();
            let message = format!("this is not JSON: {}", lower(&message));
            problems.add(span(error.range(), skipped), message);
            return Err(problems);
        }
    };
    let whole = Node { span: Span::default(), kind: Kind::Map(Vec::new()) };
    let mut reading = Reading { problems, skipped };
    let node = value.map_or(whole, |value| reading.node(&value, 0));
    reading.problems.or(node)
}

struct Reading {
    problems: Problems,
    skipped: usize,
}

impl Reading {
    fn node(&mut self, value: &Value<'_>, depth: usize) -> Node {
        let span = span(value.range(), self.skipped);
        if depth > DEEPEST {
            self.problems.add(span, format!("more than {DEEPEST} maps and lists in each other"));
            return Node { span, kind: Kind::Null };
        }
        let kind = match value {
            Value::NullKeyword(_) => Kind::Null,
            Value::BooleanLit(it) => Kind::Bool(it.value),
            Value::StringLit(it) => Kind::String(it.value.clone().into_owned()),
            Value::NumberLit(it) => match serde_json::from_str(it.value) {
                Ok(number) => Kind::Number(number),
                Err(_) => {
                    self.problems.add(span, "this number is too large");
                    Kind::Null
                }
            },
            Value::Array(it) => {
                Kind::List(it.elements.iter().map(|item| self.node(item, depth + 1)).collect())
            }
            Value::Object(it) => {
                let mut seen = HashSet::new();
                let mut entries = Vec::new();
                for property in &it.properties {
                    let (ObjectPropName::String(_) | ObjectPropName::Word(_)) = &property.name;
                    let key = property.name.as_str().to_owned();
                    let key_span = self::span(property.name.range(), self.skipped);
                    if !seen.insert(key.clone()) {
                        self.problems.add(key_span, format!("a second `{key}` in one map"));
                    }
                    let value = self.node(&property.value, depth + 1);
                    entries.push(Entry { key, key_span, value });
                }
                Kind::Map(entries)
            }
        };
        Node { span, kind }
    }
}

fn span(range: Range, skipped: usize) -> Span {
    Span { start: range.start + skipped, end: range.end + skipped }
}

/// With a small letter at the beginning, as all messages have it.
fn lower(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<serde_json::Value, String> {
        let source = Source::new("a.json", text);
        parse(&source).map(|node| node.to_json()).map_err(|problems| problems.to_string())
    }

    #[test]
    fn comments_trailing_commas_tabs_and_a_mark_are_taken() {
        let text = "\u{feff}{\n\t// which\n\t\"a\": [1, \"\\ud83d\\ude00\",], /* and */\n}\n";
        assert_eq!(parsed(text), Ok(serde_json::json!({"a": [1, "😀"]})));
        assert_eq!(parsed(""), Ok(serde_json::json!({})));
    }

    #[test]
    fn values_know_their_place_behind_a_mark_too() {
        let text = "\u{feff}{\"ä\": \"b\"}";
        let source = Source::new("a.json", text);
        let node = parse(&source).unwrap();
        let entry = node.entry("ä").unwrap();
        assert_eq!(&text[entry.key_span.start..entry.key_span.end], "\"ä\"");
        assert_eq!(&text[entry.value.span.start..entry.value.span.end], "\"b\"");
    }

    #[test]
    fn what_is_no_json_is_told_with_its_place() {
        for wrong in ["{", "{a: 1}", "{\"a\": 'b'}", "[1 2]", "{\"a\": 1e999}", "nul", "{} {}"] {
            let told = parsed(wrong).unwrap_err();
            assert!(told.contains("a.json:1:"), "{wrong}: {told}");
        }
        let told = parsed("{\"a\": 1, \"a\": 2}").unwrap_err();
        assert!(told.contains("a second `a` in one map"), "{told}");
        for depth in [70, 600, 100_000] {
            let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            assert!(parsed(&deep).is_err(), "{depth}");
        }
    }
}

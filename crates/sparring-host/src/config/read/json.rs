//! Parses JSON into nodes. Accepts comments and trailing commas, as VS Code
//! does, and no other extensions.

use std::collections::HashSet;

use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use sparring_script::{MapEntry, Node, NodeKind, Problems, Source, Span};

/// The maximum depth of nested values.
const MAX_DEPTH: usize = 64;

/// The accepted JSON syntax.
pub(in crate::config) fn json_options() -> ParseOptions {
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

/// Parses a text with one value; an empty text is an empty map.
///
/// # Errors
/// If it is not JSON, or a map has a duplicate key.
pub(in crate::config) fn parse(source: &Source) -> Result<Node, Problems> {
    let mut problems = Problems::new(source);
    // Editors on Windows may write a byte order mark.
    let text = source.text();
    let skipped = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let parsed = parse_to_ast(&text[skipped..], &CollectOptions::default(), &json_options());
    let value = match parsed {
        Ok(parsed) => parsed.value,
        Err(error) => {
            let message = error.kind().to_string();
            let message = format!("not valid JSON: {}", lowercase_first(&message));
            problems.add(span(error.range(), skipped), message);
            return Err(problems);
        }
    };
    let whole = Node { span: Span::default(), kind: NodeKind::Map(Vec::new()) };
    let mut builder = NodeBuilder { problems, skipped };
    let node = value.map_or(whole, |value| builder.node(&value, 0));
    builder.problems.into_result(node)
}

struct NodeBuilder {
    problems: Problems,
    skipped: usize,
}

impl NodeBuilder {
    fn node(&mut self, value: &Value<'_>, depth: usize) -> Node {
        let span = span(value.range(), self.skipped);
        if depth > MAX_DEPTH {
            self.problems.add(span, format!("values are nested more than {MAX_DEPTH} deep"));
            return Node { span, kind: NodeKind::Null };
        }
        let kind = match value {
            Value::NullKeyword(_) => NodeKind::Null,
            Value::BooleanLit(it) => NodeKind::Bool(it.value),
            Value::StringLit(it) => NodeKind::String(it.value.clone().into_owned()),
            Value::NumberLit(it) => match serde_json::from_str(it.value) {
                Ok(number) => NodeKind::Number(number),
                Err(_) => {
                    self.problems.add(span, "this number is too large");
                    NodeKind::Null
                }
            },
            Value::Array(it) => {
                NodeKind::List(it.elements.iter().map(|item| self.node(item, depth + 1)).collect())
            }
            Value::Object(it) => {
                let mut seen = HashSet::new();
                let mut entries = Vec::new();
                for property in &it.properties {
                    let (ObjectPropName::String(_) | ObjectPropName::Word(_)) = &property.name;
                    let key = property.name.as_str().to_owned();
                    let key_span = self::span(property.name.range(), self.skipped);
                    if !seen.insert(key.clone()) {
                        self.problems.add(key_span, format!("duplicate key `{key}`"));
                    }
                    let value = self.node(&property.value, depth + 1);
                    entries.push(MapEntry { key, key_span, value });
                }
                NodeKind::Map(entries)
            }
        };
        Node { span, kind }
    }
}

fn span(range: Range, skipped: usize) -> Span {
    Span { start: range.start + skipped, end: range.end + skipped }
}

/// With a lower-case first letter, like all messages.
fn lowercase_first(message: &str) -> String {
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
    fn comments_trailing_commas_tabs_and_a_byte_order_mark_are_accepted() {
        let text = "\u{feff}{\n\t// which\n\t\"a\": [1, \"\\ud83d\\ude00\",], /* and */\n}\n";
        assert_eq!(parsed(text), Ok(serde_json::json!({"a": [1, "😀"]})));
        assert_eq!(parsed(""), Ok(serde_json::json!({})));
    }

    #[test]
    fn positions_are_right_after_a_byte_order_mark() {
        let text = "\u{feff}{\"ä\": \"b\"}";
        let source = Source::new("a.json", text);
        let node = parse(&source).unwrap();
        let entry = node.entry("ä").unwrap();
        assert_eq!(&text[entry.key_span.start..entry.key_span.end], "\"ä\"");
        assert_eq!(&text[entry.value.span.start..entry.value.span.end], "\"b\"");
    }

    #[test]
    fn invalid_json_is_reported_with_its_position() {
        for wrong in ["{", "{a: 1}", "{\"a\": 'b'}", "[1 2]", "{\"a\": 1e999}", "nul", "{} {}"] {
            let message = parsed(wrong).unwrap_err();
            assert!(message.contains("a.json:1:"), "{wrong}: {message}");
        }
        let message = parsed("{\"a\": 1, \"a\": 2}").unwrap_err();
        assert!(message.contains("duplicate key `a`"), "{message}");
        for depth in [70, 600, 100_000] {
            let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            assert!(parsed(&deep).is_err(), "{depth}");
        }
    }
}

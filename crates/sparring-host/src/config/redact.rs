//! Masks secrets in the text of a file: literal values of headers, of the
//! environment and of credentials become stars. Each byte gets one star, so
//! that positions stay the same.

use serde_json::Value;
use sparring_script::{Node, NodeKind, Problems, Source, Span};

use super::locations::Format;
use super::merge::written_target;

/// The keys of an entry whose values are masked. References to variables are
/// not masked: they are not secrets, and a reader needs them.
const SECRET_KEYS: [&str; 4] = ["env", "headers", "auth", "oauth"];

/// The mask of a value whose position does not matter.
const MASK: &str = "***";

/// Masks the secrets in a text.
pub(super) fn mask_secrets(source: &Source, root: &Node, format: Format) -> Source {
    let mut spans = Vec::new();
    let servers = root.get(format.servers_key()).map(Node::entries).unwrap_or_default();
    for server in servers {
        let entries = server.value.entries().iter();
        let secret = entries.filter(|entry| SECRET_KEYS.contains(&&*entry.key));
        secret.for_each(|entry| collect_values(&entry.value, &mut spans));
    }
    for input in root.get("inputs").map(Node::items).unwrap_or_default() {
        input.get("default").into_iter().for_each(|default| collect_values(default, &mut spans));
    }
    mask_spans(source, &spans)
}

/// An entry as JSON with masked secrets. The URL has no password.
pub(super) fn masked_entry(node: &Node) -> Value {
    let mut entry = node.to_json();
    for (key, value) in entry.as_object_mut().into_iter().flatten() {
        match &**key {
            "url" => *value = written_target(node).into(),
            key if SECRET_KEYS.contains(&key) => mask_value(value),
            _ => {}
        }
    }
    entry
}

fn mask_value(value: &mut Value) {
    match value {
        Value::String(text) if text.contains("${") => {}
        Value::String(_) | Value::Number(_) => *value = MASK.into(),
        Value::Array(items) => items.iter_mut().for_each(mask_value),
        Value::Object(members) => members.values_mut().for_each(mask_value),
        _ => {}
    }
}

/// Masks problems with a text that cannot be parsed: only its keys and
/// punctuation are shown, because the positions of its secrets are unknown.
pub(super) fn mask_unparsed(problems: &Problems) -> Problems {
    let source = problems.source();
    let mut spans = Vec::new();
    let mut start = 0;
    for line in source.text().split_inclusive('\n') {
        // A line without a key may be anything, for example part of a file that
        // a symbolic link points to.
        let from = line.find(':').unwrap_or_default();
        let words = line[from..].char_indices().filter(|(_, c)| c.is_alphanumeric());
        let at = words.map(|(at, c)| (start + from + at, c.len_utf8()));
        spans.extend(at.map(|(start, length)| Span { start, end: start + length }));
        start += line.len();
    }
    let mut masked = Problems::new(&mask_spans(source, &spans));
    for problem in problems.iter() {
        masked.add_with_help(problem.span, problem.message.clone(), problem.help.clone());
    }
    masked
}

fn collect_values(node: &Node, spans: &mut Vec<Span>) {
    match &node.kind {
        NodeKind::String(text) if text.contains("${") => {}
        NodeKind::String(_) | NodeKind::Number(_) => spans.push(node.span),
        _ => {
            node.entries().iter().for_each(|entry| collect_values(&entry.value, spans));
            node.items().iter().for_each(|item| collect_values(item, spans));
        }
    }
}

fn mask_spans(source: &Source, spans: &[Span]) -> Source {
    let mut bytes = source.text().as_bytes().to_vec();
    for span in spans {
        let end = span.end.min(bytes.len());
        let part = bytes.get_mut(span.start..end).unwrap_or_default();
        part.iter_mut().filter(|byte| !b"\n\r\"'".contains(byte)).for_each(|byte| *byte = b'*');
    }
    // Whole characters were replaced, so it is still valid UTF-8.
    Source::new(source.name(), String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_values_of_headers_and_environment_are_masked() {
        let text = "servers:\n  a:\n    args: [x]\n    env: {K: hünter2, L: \"${L}\", M: 5}\n    \
                    headers:\n      A: 'Bearer hunter2'\n";
        let whole = Source::new("a", text);
        let shown = mask_secrets(&whole, &Node::parse(&whole).unwrap(), Format::Yaml);
        let expected = "servers:\n  a:\n    args: [x]\n    env: {K: ********, L: \"${L}\", M: *}\n    \
                        headers:\n      A: '**************'\n";
        assert_eq!(shown.text(), expected);
    }

    #[test]
    fn only_keys_and_punctuation_of_an_unparsable_text_are_shown() {
        let source = Source::new("a", "headers:\n  A: \"Bearer hunter2\n");
        let problems = mask_unparsed(&Node::parse(&source).unwrap_err());
        assert_eq!(problems.source().text(), "headers:\n  A: \"****** *******\n");
        assert!(problems.to_string().contains("invalid YAML"));
        let source = Source::new("a", "-----BEGIN KEY-----\nabc\n");
        assert_eq!(
            mask_unparsed(&Problems::new(&source)).source().text(),
            "-----***** ***-----\n***\n"
        );
    }
}

//! Masks secrets in the text of a file: literal values of headers, of the
//! environment and of credentials become stars. Each byte gets one star, so
//! that positions stay the same.

use serde_json::Value;
use sparring_script::{Node, NodeKind, Problems, Source, Span};

use sparring_transport::Secrets;
use sparring_wire::secret_names::is_secret_setting;

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
        let url = server.value.get("url").map(|url| url.span);
        url.iter().for_each(|span| collect_url_secrets(source.text(), *span, &mut spans));
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

/// Collects the user and password of a URL, and the literal values of its query whose names
/// suggest a secret.
fn collect_url_secrets(text: &str, span: Span, spans: &mut Vec<Span>) {
    let Some(url) = text.get(span.start..span.end) else { return };
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    let mut add = |from: usize, to: usize| {
        if !url[from..to].contains("${") {
            spans.push(Span { start: span.start + from, end: span.start + to });
        }
    };
    if let Some(at) = url[start..end].rfind('@') {
        add(start, start + at);
    }
    let Some(query) = url.find('?') else { return };
    let mut from = query + 1;
    for pair in url[from..].split('&') {
        if let Some((name, _)) = pair.split_once('=')
            && is_secret_setting(name)
        {
            add(from + name.len() + 1, from + pair.len());
        }
        from += pair.len() + 1;
    }
}

/// Adds the literal secrets of an entry to a set: values of headers, of the environment, of
/// credentials, of the URL and of flags whose names suggest it.
pub(super) fn add_literal_secrets(entry: &Node, secrets: &Secrets) {
    let literal =
        |node: &Node| node.as_str().filter(|text| !text.contains("${")).map(str::to_owned);
    let pairs = |key: &str| -> Vec<(String, String)> {
        let entries = entry.get(key).map(Node::entries).unwrap_or_default();
        entries.iter().filter_map(|it| Some((it.key.clone(), literal(&it.value)?))).collect()
    };
    pairs("env").iter().for_each(|(name, value)| secrets.add_setting(name, value));
    pairs("headers").iter().for_each(|(name, value)| secrets.add_header(name, value));
    for (name, value) in pairs("auth") {
        match &*name {
            "basic" => secrets.add_user_and_password(&value),
            _ => secrets.add(&value),
        }
    }
    let oauth = entry.get("auth").and_then(|auth| auth.get("oauth"));
    let secret = oauth.and_then(|oauth| oauth.get("secret")).and_then(literal);
    secret.iter().for_each(|secret| secrets.add(secret));
    // A URL with a variable may have literal secrets beside it.
    let url = entry.get("url").and_then(Node::as_str);
    url.iter().for_each(|url| secrets.add_url(url));
    let args = entry.get("args").map(Node::items).unwrap_or_default();
    secrets.add_arguments(args.iter().filter_map(Node::as_str));
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
    fn secrets_of_a_url_are_masked() {
        let text = "servers:\n  a:\n    url: http://me:hunter2@h/mcp?key=abc&x=1&token=${T}\n";
        let whole = Source::new("a", text);
        let root = Node::parse(&whole).unwrap();
        let shown = mask_secrets(&whole, &root, Format::Yaml);
        let expected = "servers:\n  a:\n    url: http://**********@h/mcp?key=***&x=1&token=${T}\n";
        assert_eq!(shown.text(), expected);
    }

    #[test]
    fn literal_secrets_of_an_entry_are_added() {
        let text = "url: http://me:hunter1@h/?key=hunter2\nargs: [--token, hunter3, plain-word]\n\
                    env: {A_KEY: hunter4, B: other-word}\nheaders: {X: hunter5}\n\
                    auth: {bearer: hunter6, oauth: {secret: hunter7}}\n";
        let secrets = Secrets::default();
        add_literal_secrets(&Node::parse(&Source::new("a", text)).unwrap(), &secrets);
        let masked = secrets.mask(text);
        assert!(!masked.contains("hunter"), "{masked}");
        assert!(masked.contains("plain-word") && masked.contains("other-word"), "{masked}");
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

//! Writes values as YAML: unquoted if possible, and never as a template.

use serde_json::Value;
use sparring_report::is_invisible;

/// The maximum number of lines of a message in a comment.
const MAX_COMMENT_LINES: usize = 8;

/// The maximum length of such a line in characters.
const MAX_COMMENT_COLUMNS: usize = 160;

/// Words that are not strings in YAML.
const WORDS: [&str; 8] = ["true", "false", "null", "yes", "no", "on", "off", "~"];

/// Writes a string, unquoted if possible.
pub(super) fn string(text: &str) -> String {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        || text.starts_with("./")
        || text.starts_with("../")
        || text == "..";
    let plain = |c: char| c.is_ascii_alphanumeric() || " _./-;()'".contains(c);
    let bare = begins
        && text.chars().all(plain)
        && !text.ends_with(' ')
        && !WORDS.contains(&&*text.to_lowercase())
        && text.parse::<f64>().is_err();
    match bare {
        true => text.to_owned(),
        false => quoted(text),
    }
}

/// Writes the key of a map, which is never a template.
fn key(name: &str) -> String {
    match name.contains("${") {
        true => Value::from(name).to_string(),
        false => string(name),
    }
}

/// Writes a value in one line.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let entries = map.iter().map(|(name, value)| format!("{}: {}", key(name), flow(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Writes a comment before a test: a line about the message, the beginning of the
/// message, and a line after it.
pub(super) fn comment(before: &str, message: &str, after: &str) -> String {
    let lines = message.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let shown: Vec<String> = lines.map(|line| format!("  {}", shorten(line))).collect();
    let rest = shown.len().saturating_sub(MAX_COMMENT_LINES);
    let left_out = (rest > 0).then(|| format!("  … {rest} more lines"));
    let shown = shown.into_iter().take(MAX_COMMENT_LINES).chain(left_out);
    let after = Some(after.to_owned()).filter(|after| !after.is_empty());
    let all = std::iter::once(before.to_owned()).chain(shown).chain(after);
    all.map(|line| format!("  # {line}\n")).collect()
}

/// Replaces control characters and invisible ones, and cuts a long line.
fn shorten(line: &str) -> String {
    let clean = line.chars().map(|c| if is_invisible(c) { ' ' } else { c });
    let mut text: String = clean.clone().take(MAX_COMMENT_COLUMNS).collect();
    if clean.count() > MAX_COMMENT_COLUMNS {
        text.push('…');
    }
    text
}

/// Writes a quoted string in which `${` is escaped.
fn quoted(text: &str) -> String {
    quote_yaml(&text.replace("${", "$${"))
}

/// Quotes a text for YAML. Control characters and invisible ones are escaped, since people review
/// the file.
pub fn quote_yaml(text: &str) -> String {
    // JSON strings are valid YAML. It has no escapes of two units for one character.
    let json = Value::from(text).to_string();
    let mut quoted = String::with_capacity(json.len());
    for c in json.chars() {
        match u32::from(c) {
            code @ ..=0xffff if is_invisible(c) => quoted.push_str(&format!("\\u{code:04x}")),
            code if is_invisible(c) => quoted.push_str(&format!("\\U{code:08x}")),
            _ => quoted.push(c),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sparring_script::{Node, Source};

    use super::*;

    #[test]
    fn a_comment_cannot_end_before_its_last_line() {
        let message = format!("a\r\n\u{85}b\u{2028}\n{}\n{}", "c".repeat(200), "d\n".repeat(9));
        let text = comment("before", &message, "after");
        assert!(text.lines().all(|line| line.starts_with("  # ")), "{text}");
        assert!(text.contains("  #   … 4 more lines\n  # after\n"), "{text}");
        let source = Source::new("a", format!("a:\n{text}  - b\n"));
        assert_eq!(Node::parse(&source).unwrap().to_json(), json!({"a": ["b"]}));
    }

    #[test]
    fn writes_yaml_that_parses_to_the_same_value() {
        for text in [
            "echo",
            "get weather",
            "",
            "true",
            "No",
            "1.5",
            "1e3",
            ".5",
            "- a",
            "a: b",
            "a #b",
            "'a'",
            "a'",
            "{a}",
            "[a",
            "a, b",
            "*a",
            "&a",
            "!a",
            "%a",
            "@a",
            "`a",
            "a\nb",
            "\u{7}",
            "\u{9b}\u{85}\u{feff}\u{202e}\u{2066}\u{200b}\u{e0041}\u{7f}\u{2028}",
            "ä",
            "..",
            "...",
            "---",
            ".inf",
            "0x1F",
            "2026-01-01",
            "a ",
            " a",
            "a:",
            "?",
            "? a",
            "|",
            ">",
            "/a/b.c",
            "~",
        ] {
            let value = json!({"a": [text], text: 1});
            let source = Source::new("a", flow(&value));
            let read = Node::parse(&source).unwrap_or_else(|it| panic!("{text:?}: {it}"));
            assert_eq!(read.to_json(), value, "{text:?}");
        }
        let invisible = "\u{9b}\u{85}\u{feff}\u{202e}\u{200b}\u{e0041}";
        assert!(string(invisible).is_ascii());
        assert!(comment("", &format!("a{invisible}b"), "").is_ascii());
        assert_eq!(string("get-weather"), "get-weather");
        assert_eq!(string("${a}"), "\"$${a}\"");
        assert_eq!(flow(&json!({"${a}": 1})), "{\"${a}\": 1}");
    }
}

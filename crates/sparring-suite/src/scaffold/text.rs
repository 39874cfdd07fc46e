//! Values as they are written into a suite: as plain as YAML allows, and never
//! as a template.

use serde_json::Value;

/// Words that mean something else to YAML.
const WORDS: [&str; 8] = ["true", "false", "null", "yes", "no", "on", "off", "~"];

/// A text, bare where it can be.
pub(super) fn name(text: &str) -> String {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        || text.starts_with("./")
        || text.starts_with("../");
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

/// A value in one line.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => name(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| format!("{}: {}", name(key), flow(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A JSON text is a YAML text; `${` would be a hole.
fn quoted(text: &str) -> String {
    Value::from(text.replace("${", "$${")).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sparring_script::{Node, Source};

    use super::*;

    #[test]
    fn what_is_written_is_read_as_the_same() {
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
            "ä",
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
        assert_eq!(name("get-weather"), "get-weather");
        assert_eq!(name("${a}"), "\"$${a}\"");
    }
}

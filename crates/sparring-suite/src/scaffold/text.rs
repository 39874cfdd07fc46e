//! Writes values as YAML: unquoted if possible, and never as a template.

use serde_json::Value;

/// Words that are not strings in YAML.
const WORDS: [&str; 8] = ["true", "false", "null", "yes", "no", "on", "off", "~"];

/// Writes a string, unquoted if possible.
pub(super) fn string(text: &str) -> String {
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

/// Writes a value in one line.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let entries =
                map.iter().map(|(key, value)| format!("{}: {}", string(key), flow(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Writes a quoted string. JSON strings are valid YAML; `${` is escaped.
fn quoted(text: &str) -> String {
    Value::from(text.replace("${", "$${")).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sparring_script::{Node, Source};

    use super::*;

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
        assert_eq!(string("get-weather"), "get-weather");
        assert_eq!(string("${a}"), "\"$${a}\"");
    }
}

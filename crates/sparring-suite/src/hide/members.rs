//! The members of a JSON text that are called like a secret.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::names;

/// A member that is a text: its name, all up to its value, and the value.
static MEMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?s)("((?:[^"\\]|\\.){1,64})"\s*:\s*")(?:[^"\\]|\\.)+"#).expect("it is a pattern")
});

/// The same in JSON that is itself a text of JSON, as tools often answer.
static WITHIN: LazyLock<Regex> = LazyLock::new(|| {
    let value = r#"(?:[^"\\]|\\\\\\"|\\\\.|\\[^"\\])+"#;
    let name = r#"\\"([\p{L}\p{M}\p{N}_.$ -]{1,64})\\"\s*:\s*\\""#;
    Regex::new(&format!("(?s)({name}){value}")).expect("it is a pattern")
});

/// A JSON text, or something that begins like one, without the texts of those
/// members that are called like a secret.
pub(crate) fn without_secrets(text: &str) -> Cow<'_, str> {
    match hide(&WITHIN, text) {
        Cow::Borrowed(text) => hide(&MEMBER, text),
        Cow::Owned(text) => hide(&MEMBER, &text).into_owned().into(),
    }
}

/// A text without the values of those members that a pattern finds.
fn hide<'t>(members: &Regex, text: &'t str) -> Cow<'t, str> {
    members.replace_all(text, |found: &Captures<'_>| match names::is_secret(&found[2]) {
        true => format!("{}(hidden)", &found[1]),
        false => found[0].to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_like_a_secret_is_hidden() {
        for (text, expected) in [
            (r#"{"password": "a\"b", "x": "y"}"#, r#"{"password": "(hidden)", "x": "y"}"#),
            (r#"{"a":["b",{"apiKey":"c"}]}"#, r#"{"a":["b",{"apiKey":"(hidden)"}]}"#),
            (r#"{"token":"breaks o"#, r#"{"token":"(hidden)"#),
            (
                r#"{"text":"{\"secret\": \"a\\\"b\", \"x\": \"y\"}"}"#,
                r#"{"text":"{\"secret\": \"(hidden)\", \"x\": \"y\"}"}"#,
            ),
            (
                "{\"text\":\"{\\\"\u{e9}_token\\\": \\\"a\\\"}\"}",
                "{\"text\":\"{\\\"\u{e9}_token\\\": \\\"(hidden)\\\"}\"}",
            ),
        ] {
            assert_eq!(without_secrets(text), expected);
        }
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        for text in [
            r#"{"progressToken":"p","nextCursor":"c","token":7,"required":["token"]}"#,
            r#"{"properties":{"password":{"type":"string"}},"name":"token"}"#,
            "no json: \"token\"",
        ] {
            assert_eq!(without_secrets(text), text);
        }
    }
}

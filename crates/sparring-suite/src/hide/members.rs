//! Masks members of JSON text whose names suggest a secret.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use sparring_wire::secret_names::is_secret_name;

/// A member with a string value: its name, everything up to the value, and the value.
static MEMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?s)("((?:[^"\\]|\\.){1,64})"\s*:\s*")(?:[^"\\]|\\.)+"#)
        .expect("the pattern is valid")
});

/// The same in JSON inside a JSON string, as tools often return it.
static NESTED_MEMBER: LazyLock<Regex> = LazyLock::new(|| {
    let value = r#"(?:[^"\\]|\\\\\\"|\\\\.|\\[^"\\])+"#;
    let name = r#"\\"([\p{L}\p{M}\p{N}_.$ -]{1,64})\\"\s*:\s*\\""#;
    Regex::new(&format!("(?s)({name}){value}")).expect("the pattern is valid")
});

/// Masks the string values of members whose names suggest a secret, also in text that
/// is only the beginning of JSON.
pub(crate) fn mask_members(text: &str) -> Cow<'_, str> {
    match mask(&NESTED_MEMBER, text) {
        Cow::Borrowed(text) => mask(&MEMBER, text),
        Cow::Owned(text) => mask(&MEMBER, &text).into_owned().into(),
    }
}

/// Masks the members that a pattern finds.
fn mask<'t>(members: &Regex, text: &'t str) -> Cow<'t, str> {
    members.replace_all(text, |found: &Captures<'_>| match is_secret_name(&found[2]) {
        true => format!("{}(hidden)", &found[1]),
        false => found[0].to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_members_by_name() {
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
            assert_eq!(mask_members(text), expected);
        }
    }

    #[test]
    fn keeps_everything_else() {
        for text in [
            r#"{"progressToken":"p","nextCursor":"c","token":7,"required":["token"]}"#,
            r#"{"properties":{"password":{"type":"string"}},"name":"token"}"#,
            "no json: \"token\"",
        ] {
            assert_eq!(mask_members(text), text);
        }
    }
}

//! Headers, as they stand before a body: names and values in order.
//!
//! Kept as one text, since most are written once and looked at never. What a
//! header means is not known here.

use std::fmt;

/// Names and values, in order. Names are compared without regard to case.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers {
    /// Each as `name: value`, ended by a line feed.
    lines: String,
}

impl Headers {
    /// None at all; allocates nothing.
    pub const fn new() -> Self {
        Headers { lines: String::new() }
    }

    /// Adds one. What would end its line becomes a space.
    pub fn push(&mut self, name: &str, value: &str) {
        self.lines.reserve(name.len() + value.len() + 3);
        self.lines.push_str(name);
        self.lines.push_str(": ");
        match value.contains(['\r', '\n']) {
            true => self.lines.extend(value.chars().map(|c| match c {
                '\r' | '\n' => ' ',
                other => other,
            })),
            false => self.lines.push_str(value),
        }
        self.lines.push('\n');
    }

    /// The first value of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lines.lines().filter_map(|line| line.split_once(": "))
    }

    /// What all of them take, written out.
    pub(crate) fn size(&self) -> usize {
        self.lines.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

impl<'a> FromIterator<(&'a str, &'a str)> for Headers {
    fn from_iter<I: IntoIterator<Item = (&'a str, &'a str)>>(pairs: I) -> Self {
        let mut headers = Headers::new();
        for (name, value) in pairs {
            headers.push(name, value);
        }
        headers
    }
}

/// What of a header may be shown: a secret is only said to be there.
fn shown<'a>(name: &str, value: &'a str) -> &'a str {
    let secret = ["authorization", "proxy-authorization", "cookie", "set-cookie", "mcp-session-id"];
    match secret.iter().any(|secret| name.eq_ignore_ascii_case(secret)) {
        true => "(hidden)",
        false => value,
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(name, value)| (name, shown(name, value)))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_name_in_any_case_and_keeps_the_order() {
        let headers: Headers =
            [("Content-Type", "text/plain"), ("X-A", "1: 2"), ("x-a", "3")].into_iter().collect();
        assert_eq!(headers.get("content-type"), Some("text/plain"));
        assert_eq!(headers.get("X-a"), Some("1: 2"));
        assert_eq!(headers.iter().count(), 3);
        assert_eq!(headers.get("nope"), None);
    }

    #[test]
    fn a_secret_is_not_shown() {
        let headers: Headers =
            [("Authorization", "Bearer abc"), ("Accept", "*/*")].into_iter().collect();
        assert_eq!(format!("{headers:?}"), r#"{"Authorization": "(hidden)", "Accept": "*/*"}"#);
    }

    #[test]
    fn a_value_cannot_make_a_second_header() {
        let headers: Headers = [("a", "1\r\nb: 2"), ("c", "")].into_iter().collect();
        assert_eq!(headers.get("a"), Some("1  b: 2"));
        assert_eq!(headers.get("b"), None);
        assert_eq!(headers.get("c"), Some(""));
    }
}

//! A line of JSON, written in one go: this is done for every request, so nothing
//! is allocated on the way.

use sparring_wire::{Headers, RawJson};

/// What is shown of a secret.
const HIDDEN: &str = "(hidden)";

/// Headers whose values are secrets.
const SECRETS: [&str; 6] =
    ["authorization", "proxy-authorization", "cookie", "mcp-session-id", "x-api-key", "api-key"];

/// Whether the value of a header is a secret.
pub(crate) fn is_secret(header: &str) -> bool {
    SECRETS.iter().any(|secret| secret.eq_ignore_ascii_case(header))
}

/// An object being written.
pub(super) struct Line(String);

impl Line {
    pub(super) fn new(capacity: usize) -> Self {
        let mut line = String::with_capacity(capacity);
        line.push('{');
        Line(line)
    }

    /// A member that is a text.
    pub(super) fn quoted(&mut self, name: &str, text: &str) {
        self.begin(name);
        self.quote(text);
    }

    /// A member that is JSON already. Line breaks between its parts become
    /// spaces; within a text of JSON there are none.
    pub(super) fn raw(&mut self, name: &str, json: &str) {
        self.begin(name);
        match json.bytes().any(|byte| byte == b'\n' || byte == b'\r') {
            true => self.0 += &json.replace(['\n', '\r'], " "),
            false => self.0 += json,
        }
    }

    /// A member that has headers, their names in lower case and no secrets.
    pub(super) fn headers(&mut self, name: &str, headers: &Headers) {
        self.begin(name);
        self.0.push('{');
        for (name, value) in headers.iter() {
            let secret = is_secret(name);
            if !self.0.ends_with('{') {
                self.0.push(',');
            }
            let start = self.0.len();
            self.quote(name);
            self.0[start..].make_ascii_lowercase();
            self.0.push(':');
            self.quote(if secret { HIDDEN } else { value });
        }
        self.0.push('}');
    }

    pub(super) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }

    fn begin(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.quote(name);
        self.0.push(':');
    }

    fn quote(&mut self, text: &str) {
        let plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        if text.bytes().all(plain) {
            self.0.push('"');
            self.0 += text;
            self.0.push('"');
        } else {
            self.0 += RawJson::string(text).text();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_line_is_json_whatever_stands_in_it() {
        let headers = [("X-A", "1\"2"), ("Authorization", "Bearer x"), ("b", "")];
        let mut line = Line::new(0);
        line.quoted("a", "q\"\\\n\u{1}ä");
        line.raw("b", "{\r\n  \"c\": 1\n}");
        line.headers("h", &headers.into_iter().collect());
        line.headers("none", &Headers::new());
        let line = line.end();
        assert!(!line.contains('\n'), "{line}");
        let expected = json!({
            "a": "q\"\\\n\u{1}ä", "b": {"c": 1},
            "h": {"x-a": "1\"2", "authorization": "(hidden)", "b": ""}, "none": {},
        });
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
    }
}

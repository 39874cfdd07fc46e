//! Writes a journal entry as one line of JSON. This happens for every request, so it allocates
//! only the line.

use sparring_wire::secret_names::is_secret_header;
use sparring_wire::{Headers, RawJson};

/// Replaces a secret value.
const HIDDEN_VALUE: &str = "(hidden)";

/// A JSON object that is being written.
pub(super) struct JsonLine(String);

impl JsonLine {
    pub(super) fn new(capacity: usize) -> Self {
        let mut line = String::with_capacity(capacity);
        line.push('{');
        JsonLine(line)
    }

    /// Adds a string member.
    pub(super) fn push_text(&mut self, name: &str, text: &str) {
        self.push_key(name);
        self.write_quoted(text);
    }

    /// Adds a member that is JSON already. Line breaks between its parts become spaces; a JSON
    /// string contains none.
    pub(super) fn push_json(&mut self, name: &str, json: &str) {
        self.push_key(name);
        match json.bytes().any(|byte| byte == b'\n' || byte == b'\r') {
            true => self.0 += &json.replace(['\n', '\r'], " "),
            false => self.0 += json,
        }
    }

    /// Adds a member with headers, with names in lower case and without secrets.
    pub(super) fn push_headers(&mut self, name: &str, headers: &Headers) {
        self.push_key(name);
        self.0.push('{');
        for (name, value) in headers.iter() {
            let secret = is_secret_header(name);
            if !self.0.ends_with('{') {
                self.0.push(',');
            }
            let start = self.0.len();
            self.write_quoted(name);
            self.0[start..].make_ascii_lowercase();
            self.0.push(':');
            self.write_quoted(if secret { HIDDEN_VALUE } else { value });
        }
        self.0.push('}');
    }

    pub(super) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }

    fn push_key(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.write_quoted(name);
        self.0.push(':');
    }

    fn write_quoted(&mut self, text: &str) {
        let needs_no_escape = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        if text.bytes().all(needs_no_escape) {
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
    fn writes_one_line_of_valid_json() {
        let headers =
            [("X-A", "1\"2"), ("Authorization", "Bearer x"), ("b", ""), ("X-Goog-Api-Key", "k")];
        let mut line = JsonLine::new(0);
        line.push_text("a", "q\"\\\n\u{1}ä");
        line.push_json("b", "{\r\n  \"c\": 1\n}");
        line.push_headers("h", &headers.into_iter().collect());
        line.push_headers("none", &Headers::new());
        let line = line.finish();
        assert!(!line.contains('\n'), "{line}");
        let expected = json!({
            "a": "q\"\\\n\u{1}ä", "b": {"c": 1},
            "h": {"x-a": "1\"2", "authorization": "(hidden)", "b": "", "x-goog-api-key": "(hidden)"}, "none": {},
        });
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
    }
}

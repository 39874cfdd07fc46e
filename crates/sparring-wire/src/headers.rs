//! Headers, as they stand before a body: names and values in order.
//!
//! Kept as one text with the places in it, since most are looked at never and
//! the others by name. What a header means is not known here.

use std::fmt;

/// Names and values, in order. Names are compared without regard to case.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers {
    /// Each name, followed by its value.
    text: String,
    /// Where each name ends, and each value.
    ends: Vec<(u32, u32)>,
}

impl Headers {
    /// None at all; allocates nothing.
    pub const fn new() -> Self {
        Headers { text: String::new(), ends: Vec::new() }
    }

    /// None yet, with room for so many of so many bytes in all.
    pub fn with_capacity(count: usize, bytes: usize) -> Self {
        Headers { text: String::with_capacity(bytes), ends: Vec::with_capacity(count) }
    }

    /// Adds one. What would end its line becomes a space.
    pub fn push(&mut self, name: &str, value: &str) {
        self.text.push_str(name);
        let name_end = self.text.len();
        match value.bytes().any(|byte| matches!(byte, b'\r' | b'\n')) {
            true => self.text.extend(value.chars().map(|c| match c {
                '\r' | '\n' => ' ',
                other => other,
            })),
            false => self.text.push_str(value),
        }
        // More than four gigabytes of headers are not kept.
        match (u32::try_from(name_end), u32::try_from(self.text.len())) {
            (Ok(name_end), Ok(end)) => self.ends.push((name_end, end)),
            _ => self.text.truncate(self.ends.last().map_or(0, |(_, end)| *end as usize)),
        }
    }

    /// The first value of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut start = 0;
        for (name_end, end) in &self.ends {
            let (name_end, end) = (*name_end as usize, *end as usize);
            if name_end - start == name.len()
                && self.text[start..name_end].eq_ignore_ascii_case(name)
            {
                return Some(&self.text[name_end..end]);
            }
            start = end;
        }
        None
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut start = 0;
        self.ends.iter().map(move |(name_end, end)| {
            let (name_end, end) = (*name_end as usize, *end as usize);
            let name = &self.text[start..name_end];
            start = end;
            (name, &self.text[name_end..end])
        })
    }

    /// What all of them take, written out.
    pub(crate) fn size(&self) -> usize {
        self.text.len() + self.ends.len() * size_of::<(u32, u32)>()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
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

//! Headers, as they stand before a body: names and values in order.
//!
//! Kept as one text that copies share, since most are written once and looked
//! at never. What a header means is not known here.

use std::fmt;
use std::sync::Arc;

/// Names and values, in order. Names are compared without regard to case.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers {
    /// Each as `name: value`, ended by a line feed; none where there are none.
    lines: Option<Arc<String>>,
}

impl Headers {
    /// None at all; allocates nothing.
    pub const fn new() -> Self {
        Headers { lines: None }
    }

    /// Adds one. What would end its line becomes a space.
    pub fn push(&mut self, name: &str, value: &str) {
        let lines = Arc::make_mut(self.lines.get_or_insert_default());
        if lines.capacity() == 0 {
            lines.reserve(256);
        }
        lines.push_str(name);
        lines.push_str(": ");
        match value.bytes().any(|byte| matches!(byte, b'\r' | b'\n')) {
            true => lines.extend(value.chars().map(|c| match c {
                '\r' | '\n' => ' ',
                other => other,
            })),
            false => lines.push_str(value),
        }
        lines.push('\n');
    }

    /// The first value of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let lines = self.lines.as_deref().map_or("", String::as_str);
        lines.split('\n').filter_map(|line| {
            let colon = line.find(':')?;
            Some((&line[..colon], line[colon + 1..].strip_prefix(' ')?))
        })
    }

    /// What all of them take, written out.
    pub(crate) fn size(&self) -> usize {
        self.lines.as_deref().map_or(0, String::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_none()
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

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
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
    fn a_value_cannot_make_a_second_header() {
        let headers: Headers = [("a", "1\r\nb: 2"), ("c", "")].into_iter().collect();
        assert_eq!(headers.get("a"), Some("1  b: 2"));
        assert_eq!(headers.get("b"), None);
        assert_eq!(headers.get("c"), Some(""));
    }
}

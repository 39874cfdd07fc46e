//! HTTP headers: names and values in order.
//!
//! All headers are stored in one text with offsets, which clones share, because most
//! headers are never read. This module does not interpret headers.

use std::fmt;
use std::sync::Arc;

use crate::secret_names::is_secret_header;

/// Names and values in order. Names are compared without regard to case.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Option<Arc<HeaderText>>);

#[derive(Clone, Default, PartialEq, Eq)]
struct HeaderText {
    /// Each name, followed by its value.
    text: String,
    /// The end of each name and of its value.
    ends: Vec<(u32, u32)>,
}

impl Headers {
    /// Creates empty headers without allocation.
    pub const fn new() -> Self {
        Headers(None)
    }

    /// Creates empty headers with room for `count` headers of `bytes` bytes in all.
    pub fn with_capacity(count: usize, bytes: usize) -> Self {
        let (text, ends) = (String::with_capacity(bytes), Vec::with_capacity(count));
        Headers(Some(Arc::new(HeaderText { text, ends })))
    }

    /// Adds a header. Line breaks in its value become spaces.
    pub fn push(&mut self, name: &str, value: &str) {
        let headers = Arc::make_mut(self.0.get_or_insert_default());
        if headers.text.capacity() == 0 {
            headers.text.reserve(256);
            headers.ends.reserve(8);
        }
        headers.text.push_str(name);
        let name_end = headers.text.len();
        match value.bytes().any(|byte| matches!(byte, b'\r' | b'\n')) {
            true => headers.text.extend(value.chars().map(|c| match c {
                '\r' | '\n' => ' ',
                other => other,
            })),
            false => headers.text.push_str(value),
        }
        // Headers beyond 4 GiB are dropped.
        match (u32::try_from(name_end), u32::try_from(headers.text.len())) {
            (Ok(name_end), Ok(end)) => headers.ends.push((name_end, end)),
            _ => headers.text.truncate(headers.ends.last().map_or(0, |(_, end)| *end as usize)),
        }
    }

    /// Returns the first value of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let headers = self.0.as_deref()?;
        let mut start = 0;
        for (name_end, end) in &headers.ends {
            let (name_end, end) = (*name_end as usize, *end as usize);
            if name_end - start == name.len()
                && headers.text[start..name_end].eq_ignore_ascii_case(name)
            {
                return Some(&headers.text[name_end..end]);
            }
            start = end;
        }
        None
    }

    /// Returns all headers in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let (text, ends) = match &self.0 {
            Some(headers) => (&*headers.text, &headers.ends[..]),
            None => ("", &[][..]),
        };
        let mut start = 0;
        ends.iter().map(move |(name_end, end)| {
            let (name_end, end) = (*name_end as usize, *end as usize);
            let name = &text[start..name_end];
            start = end;
            (name, &text[name_end..end])
        })
    }

    /// Returns the memory that the headers use, in bytes.
    pub(crate) fn size(&self) -> usize {
        let size = |it: &HeaderText| it.text.len() + it.ends.len() * size_of::<(u32, u32)>();
        self.0.as_deref().map_or(0, size)
    }

    /// Returns true if there are no headers.
    pub fn is_empty(&self) -> bool {
        self.0.as_deref().is_none_or(|headers| headers.ends.is_empty())
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

/// Replaces the value of a secret header by `(hidden)`.
fn mask_secret<'a>(name: &str, value: &'a str) -> &'a str {
    match is_secret_header(name) {
        true => "(hidden)",
        false => value,
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.iter().map(|(name, value)| (name, mask_secret(name, value))))
            .finish()
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
    fn debug_output_hides_secrets() {
        let headers: Headers =
            [("Authorization", "Bearer abc"), ("Accept", "*/*")].into_iter().collect();
        assert_eq!(format!("{headers:?}"), r#"{"Authorization": "(hidden)", "Accept": "*/*"}"#);
    }

    #[test]
    fn a_value_cannot_inject_a_second_header() {
        let headers: Headers = [("a", "1\r\nb: 2"), ("c", "")].into_iter().collect();
        assert_eq!(headers.get("a"), Some("1  b: 2"));
        assert_eq!(headers.get("b"), None);
        assert_eq!(headers.get("c"), Some(""));
    }
}

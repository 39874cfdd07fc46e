//! Headers, as they stand before a body: names and values in order.
//!
//! Kept as one text with the places in it, which copies share: most are looked
//! at never, and the others by name. What a header means is not known here.

use std::fmt;
use std::sync::Arc;

/// Names and values, in order. Names are compared without regard to case.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Option<Arc<Lines>>);

#[derive(Clone, Default, PartialEq, Eq)]
struct Lines {
    /// Each name, followed by its value.
    text: String,
    /// Where each name ends, and each value.
    ends: Vec<(u32, u32)>,
}

impl Headers {
    /// None at all; allocates nothing.
    pub const fn new() -> Self {
        Headers(None)
    }

    /// None yet, with room for so many of so many bytes in all.
    pub fn with_capacity(count: usize, bytes: usize) -> Self {
        let (text, ends) = (String::with_capacity(bytes), Vec::with_capacity(count));
        Headers(Some(Arc::new(Lines { text, ends })))
    }

    /// Adds one. What would end its line becomes a space.
    pub fn push(&mut self, name: &str, value: &str) {
        let lines = Arc::make_mut(self.0.get_or_insert_default());
        if lines.text.capacity() == 0 {
            lines.text.reserve(256);
            lines.ends.reserve(8);
        }
        lines.text.push_str(name);
        let name_end = lines.text.len();
        match value.bytes().any(|byte| matches!(byte, b'\r' | b'\n')) {
            true => lines.text.extend(value.chars().map(|c| match c {
                '\r' | '\n' => ' ',
                other => other,
            })),
            false => lines.text.push_str(value),
        }
        // More than four gigabytes of headers are not kept.
        match (u32::try_from(name_end), u32::try_from(lines.text.len())) {
            (Ok(name_end), Ok(end)) => lines.ends.push((name_end, end)),
            _ => lines.text.truncate(lines.ends.last().map_or(0, |(_, end)| *end as usize)),
        }
    }

    /// The first value of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        let lines = self.0.as_deref()?;
        let mut start = 0;
        for (name_end, end) in &lines.ends {
            let (name_end, end) = (*name_end as usize, *end as usize);
            if name_end - start == name.len()
                && lines.text[start..name_end].eq_ignore_ascii_case(name)
            {
                return Some(&lines.text[name_end..end]);
            }
            start = end;
        }
        None
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let (text, ends) = match &self.0 {
            Some(lines) => (&*lines.text, &lines.ends[..]),
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

    /// What all of them take, written out.
    pub(crate) fn size(&self) -> usize {
        let size = |it: &Lines| it.text.len() + it.ends.len() * size_of::<(u32, u32)>();
        self.0.as_deref().map_or(0, size)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.as_deref().is_none_or(|lines| lines.ends.is_empty())
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

//! What did not fit, in words.

use std::fmt;

use serde_json::Value;

use crate::diff::{DiffLine, diff_lines};

/// The most of a value that is shown in one line.
const MOST: usize = 120;

/// One thing that did not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where in the value; empty for the whole.
    pub path: String,
    /// What was expected and what was found.
    pub message: String,
    /// Both beside each other, where they are long.
    pub diff: Option<String>,
    /// Whether it could not be found out: it may fit as well.
    pub unsure: bool,
}

impl Mismatch {
    pub(super) fn new(path: &str, expected: impl fmt::Display, actual: Option<&Value>) -> Self {
        let actual = actual.map_or("nothing".to_owned(), short);
        let message = format!("expected {expected}, found {actual}");
        Mismatch { path: path.to_owned(), message, diff: None, unsure: false }
    }

    /// One about how many there are.
    pub(super) fn counted(
        path: &str,
        expected: impl fmt::Display,
        count: usize,
        actual: Option<&Value>,
    ) -> Self {
        let actual = actual.map_or("nothing".to_owned(), short);
        let message = format!("expected {expected}, found {count}: {actual}");
        Mismatch { path: path.to_owned(), message, diff: None, unsure: false }
    }

    pub(super) fn unequal(path: &str, expected: &Value, actual: &Value) -> Self {
        let plain = Mismatch::new(path, short(expected), Some(actual));
        let (one, other) = (spelled(expected), spelled(actual));
        let long = one.contains('\n') || other.contains('\n');
        Mismatch { diff: long.then(|| diff(&one, &other)), ..plain }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.path {
            "" => f.write_str(&self.message)?,
            path => write!(f, "at {path}: {}", self.message)?,
        }
        match &self.diff {
            Some(diff) => write!(f, "\n{diff}"),
            None => Ok(()),
        }
    }
}

/// Two texts, line by line: `-` what was expected, `+` what was found. What is
/// the same stands there only near what is not.
pub fn diff(expected: &str, actual: &str) -> String {
    let tell = |line| match line {
        DiffLine::Omitted => " …".to_owned(),
        DiffLine::Same(line) => marked(' ', line),
        DiffLine::Removed(line) => marked('-', line),
        DiffLine::Added(line) => marked('+', line),
    };
    diff_lines(expected, actual).into_iter().map(tell).collect::<Vec<_>>().join("\n")
}

fn marked(mark: char, line: &str) -> String {
    format!("{mark}{}", line.trim_end_matches('\n'))
}

/// A value over as many lines as it wants.
fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// A value in one line that is not too long.
pub(super) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_is_shown_only_near_what_is_not() {
        let lines = |changed: &[usize]| -> String {
            let line =
                |n| if changed.contains(&n) { format!("new {n}\n") } else { format!("{n}\n") };
            (1..=30).map(line).collect()
        };
        let expected = " …\n 9\n 10\n 11\n-12\n+new 12\n 13\n 14\n 15\n …";
        assert_eq!(diff(&lines(&[]), &lines(&[12])), expected);
        assert_eq!(diff("a\nb\n", "a\nc\n"), " a\n-b\n+c");
        assert_eq!(diff(&lines(&[]), &lines(&[1, 30])).matches(" …").count(), 1);
    }
}

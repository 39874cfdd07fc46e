//! Mismatches between an expectation and a value, and their messages.

use std::fmt;

use serde_json::Value;

use crate::diff::{DiffLine, render_diff_lines};
use crate::truncate::truncate_json;

/// One mismatch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The path in the value; empty for the whole value.
    pub path: String,
    /// The expected and the actual value.
    pub message: String,
    /// The difference line by line, if one of the values has several lines.
    pub diff: Option<String>,
    /// True if the check gave up, so that the value may match after all.
    pub undecided: bool,
}

impl Mismatch {
    pub(super) fn new(path: &str, expected: impl fmt::Display, actual: Option<&Value>) -> Self {
        let actual = actual.map_or("nothing".to_owned(), truncate_json);
        let message = format!("expected {expected}, found {actual}");
        Mismatch { path: path.to_owned(), message, diff: None, undecided: false }
    }

    /// Creates a mismatch of a number of items or characters.
    pub(super) fn wrong_count(
        path: &str,
        expected: impl fmt::Display,
        count: usize,
        actual: Option<&Value>,
    ) -> Self {
        let actual = actual.map_or("nothing".to_owned(), truncate_json);
        let message = format!("expected {expected}, found {count}: {actual}");
        Mismatch { path: path.to_owned(), message, diff: None, undecided: false }
    }

    pub(super) fn not_equal(path: &str, expected: &Value, actual: &Value) -> Self {
        let mismatch = Mismatch::new(path, truncate_json(expected), Some(actual));
        let (expected, actual) = (pretty(expected), pretty(actual));
        let is_long = expected.contains('\n') || actual.contains('\n');
        Mismatch { diff: is_long.then(|| render_diff(&expected, &actual)), ..mismatch }
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

/// Renders the difference of two texts line by line: `-` marks expected lines, `+` actual
/// ones. Equal lines are shown only near changed ones.
pub fn render_diff(expected: &str, actual: &str) -> String {
    let render = |line: DiffLine<'_>| match line {
        DiffLine::Omitted => " …".to_owned(),
        DiffLine::Same(line) => prefixed(' ', line),
        DiffLine::Removed(line) => prefixed('-', line),
        DiffLine::Added(line) => prefixed('+', line),
    };
    render_diff_lines(expected, actual, render, " ")
}

fn prefixed(prefix: char, line: &str) -> String {
    format!("{prefix}{}", line.trim_end_matches('\n'))
}

/// Returns a string as it is, and any other value as indented JSON.
fn pretty(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_are_shown_only_near_changed_ones() {
        let lines = |changed: &[usize]| -> String {
            let line =
                |n| if changed.contains(&n) { format!("new {n}\n") } else { format!("{n}\n") };
            (1..=30).map(line).collect()
        };
        let expected = " …\n 9\n 10\n 11\n-12\n+new 12\n 13\n 14\n 15\n …";
        assert_eq!(render_diff(&lines(&[]), &lines(&[12])), expected);
        assert_eq!(render_diff("a\nb\n", "a\nc\n"), " a\n-b\n+c");
        assert_eq!(render_diff(&lines(&[]), &lines(&[1, 30])).matches(" …").count(), 1);
    }
}

//! What did not fit, in words.

use std::fmt;

use serde_json::Value;
use similar::TextDiff;

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
}

impl Mismatch {
    pub(super) fn new(path: &str, expected: impl fmt::Display, actual: Option<&Value>) -> Self {
        let actual = actual.map_or("nothing".to_owned(), short);
        let message = format!("expected {expected}, found {actual}");
        Mismatch { path: path.to_owned(), message, diff: None }
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

/// Two texts, line by line: `-` what was expected, `+` what was found.
pub fn diff(expected: &str, actual: &str) -> String {
    let diff = TextDiff::from_lines(expected, actual);
    let lines = diff.iter_all_changes().map(|change| {
        let line = change.value().trim_end_matches('\n').to_owned();
        format!("{}{line}", change.tag())
    });
    lines.collect::<Vec<_>>().join("\n")
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

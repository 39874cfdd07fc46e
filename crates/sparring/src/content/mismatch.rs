//! Describes a mismatch: the expectation, the failed conditions, and the start of the text.

use std::fmt;

use super::condition::Condition;
use crate::diff;

/// A text does not match an expectation.
///
/// ```
/// # use sparring::Content;
/// let shopping = Content::all(["milk", "bread"]) & !Content::from("wine");
/// let mismatch = shopping.matches("Milk and wine").unwrap_err();
/// assert_eq!(mismatch.missing, ["\"bread\""]);
/// assert_eq!(mismatch.unwanted, ["\"wine\""]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The whole expectation.
    pub expected: String,
    /// The conditions that the text does not meet.
    pub missing: Vec<String>,
    /// The negated conditions that the text meets.
    pub unwanted: Vec<String>,
    /// True if a part of the expectation is empty, so that any text would match it.
    expects_nothing: bool,
    /// The start of the text, or its difference from an exact text.
    found: String,
    /// True if an exact text was expected.
    is_exact: bool,
}

impl Mismatch {
    pub(super) fn new(condition: &Condition, text: &str) -> Self {
        let mut failed = Vec::new();
        condition.collect_failed(text, &mut failed);
        let mut mismatch = Mismatch {
            expected: condition.to_string(),
            missing: Vec::new(),
            unwanted: Vec::new(),
            expects_nothing: !condition.has_expectation(),
            found: format!("found: {}", diff::render_excerpt(text)),
            is_exact: false,
        };
        for condition in failed {
            match condition {
                Condition::Not(unwanted) => mismatch.unwanted.push(unwanted.to_string()),
                missing => mismatch.missing.push(missing.to_string()),
            }
        }
        if let Condition::Exactly(wanted) = condition {
            mismatch.found = diff::render_text_diff(wanted, text);
            mismatch.is_exact = true;
        }
        mismatch
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.expects_nothing {
            writeln!(f, "expected {}, but an empty expectation matches any text", self.expected)?;
            return write!(f, "{}", self.found);
        }
        if self.is_exact {
            return write!(f, "{}", self.found);
        }
        writeln!(f, "expected {}", self.expected)?;
        // The first line already names the whole expectation.
        let whole = self.missing.first() == Some(&self.expected);
        if !whole && !self.missing.is_empty() {
            writeln!(f, "missing: {}", self.missing.join(", "))?;
        }
        if !self.unwanted.is_empty() {
            writeln!(f, "unwanted: {}", self.unwanted.join(", "))?;
        }
        write!(f, "{}", self.found)
    }
}

impl std::error::Error for Mismatch {}

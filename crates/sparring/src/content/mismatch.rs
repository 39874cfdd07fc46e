//! Why a text does not fit: what was expected, which parts of it failed, and how
//! the text begins.

use std::fmt;

use super::rule::Rule;
use crate::diff;

/// A text that does not fit.
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
    /// All that was expected, in words.
    pub expected: String,
    /// What of it is not there.
    pub missing: Vec<String>,
    /// What is there and should not be.
    pub unwanted: Vec<String>,
    /// Whether it expects nothing, so that any text would fit.
    void: bool,
    /// How the text begins, or, where it is to be one text, how it differs.
    shown: String,
    compared: bool,
}

impl Mismatch {
    pub(super) fn new(rule: &Rule, text: &str) -> Self {
        let mut missed = Vec::new();
        rule.missed(text, &mut missed);
        let mut mismatch = Mismatch {
            expected: rule.to_string(),
            missing: Vec::new(),
            unwanted: Vec::new(),
            void: !rule.is_whole(),
            shown: format!("found: {}", diff::excerpt(text)),
            compared: false,
        };
        for rule in missed {
            match rule {
                Rule::Not(unwanted) => mismatch.unwanted.push(unwanted.to_string()),
                missing => mismatch.missing.push(missing.to_string()),
            }
        }
        if let Rule::Exactly(wanted) = rule {
            mismatch.shown = diff::texts(wanted, text);
            mismatch.compared = true;
        }
        mismatch
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.void {
            writeln!(f, "expected {}: an empty pattern is no expectation", self.expected)?;
            return write!(f, "{}", self.shown);
        }
        if self.compared {
            return write!(f, "{}", self.shown);
        }
        writeln!(f, "expected {}", self.expected)?;
        // Where the whole is missing it is not told twice.
        let whole = self.missing.first() == Some(&self.expected);
        if !whole && !self.missing.is_empty() {
            writeln!(f, "not there: {}", self.missing.join(", "))?;
        }
        if !self.unwanted.is_empty() {
            writeln!(f, "there, and unwanted: {}", self.unwanted.join(", "))?;
        }
        write!(f, "{}", self.shown)
    }
}

impl std::error::Error for Mismatch {}

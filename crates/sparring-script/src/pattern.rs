//! Regular expressions of users and servers, on top of `fancy-regex`.
//!
//! Patterns without look-around and backreferences run in linear time. All others
//! may backtrack, and give up after a million steps: giving up is an error
//! that names the pattern, never "does not match". Fixed patterns in the code use `regex`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use fancy_regex::{Captures, CompileError, Error, Regex, RegexBuilder};

use crate::truncate::truncate;

/// The maximum number of backtracking steps of one match.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// The maximum size of a compiled pattern, in bytes.
const SIZE_LIMIT: usize = 16 << 20;

/// The maximum length of a pattern in a message, in characters.
const MAX_SHOWN_CHARS: usize = 200;

/// A compiled regular expression.
#[derive(Clone)]
pub struct Pattern {
    source: String,
    regex: Regex,
}

/// The error of a text that is not a regular expression, or too large a one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidPattern {
    message: String,
    is_too_large: bool,
}

/// The error of a match that was abandoned after too many steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BacktrackLimitExceeded {
    pattern: String,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// ```
    /// # use sparring_script::Pattern;
    /// let pattern = Pattern::new(r"(?i)^it is \d+$").unwrap();
    /// assert_eq!(pattern.is_match("It is 12"), Ok(true));
    /// ```
    ///
    /// # Errors
    /// Returns an error if the text is not a regular expression, or is too large a one.
    pub fn new(source: &str) -> Result<Pattern, InvalidPattern> {
        Pattern::compile(source, false)
    }

    /// Compiles a pattern that ignores case, except after `(?-i)`.
    ///
    /// # Errors
    /// Returns an error if the text is not a regular expression, or is too large a one.
    pub fn case_insensitive(source: &str) -> Result<Pattern, InvalidPattern> {
        Pattern::compile(source, true)
    }

    fn compile(source: &str, ignore_case: bool) -> Result<Pattern, InvalidPattern> {
        let regex = RegexBuilder::new(source)
            .case_insensitive(ignore_case)
            .backtrack_limit(BACKTRACK_LIMIT)
            .delegate_size_limit(SIZE_LIMIT)
            .build();
        match regex {
            Ok(regex) => Ok(Pattern { source: source.to_owned(), regex }),
            Err(error) => Err(InvalidPattern {
                message: describe(&error),
                is_too_large: is_too_large(&error),
            }),
        }
    }

    /// Returns the text that the pattern was compiled from.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Returns true if the pattern matches anywhere in a text.
    ///
    /// # Errors
    /// Returns an error if the match takes too many steps.
    pub fn is_match(&self, text: &str) -> Result<bool, BacktrackLimitExceeded> {
        self.regex.is_match(text).map_err(|_| self.gave_up())
    }

    /// Returns the first match with its groups.
    ///
    /// # Errors
    /// Returns an error if the match takes too many steps.
    pub fn captures<'t>(
        &self,
        text: &'t str,
    ) -> Result<Option<Captures<'t, str>>, BacktrackLimitExceeded> {
        self.regex.captures(text).map_err(|_| self.gave_up())
    }

    /// Replaces every match: `$1` and `${name}` stand for groups, `$$` for a dollar sign.
    ///
    /// # Errors
    /// Returns an error if a match takes too many steps.
    pub fn replace_all<'t>(
        &self,
        text: &'t str,
        by: &str,
    ) -> Result<Cow<'t, str>, BacktrackLimitExceeded> {
        self.regex.try_replacen(text, 0, by).map_err(|_| self.gave_up())
    }

    fn gave_up(&self) -> BacktrackLimitExceeded {
        BacktrackLimitExceeded { pattern: truncate(&self.source, MAX_SHOWN_CHARS) }
    }
}

/// Returns true if one of several answers is true, false if all are false, and `None`
/// otherwise. An answer is `None` if it is unknown, for example because a match gave up.
///
/// ```
/// # use sparring_script::any_true_if_known;
/// assert_eq!(any_true_if_known([None, Some(true)].into_iter()), Some(true));
/// assert_eq!(any_true_if_known([Some(false), Some(false)].into_iter()), Some(false));
/// assert_eq!(any_true_if_known([None, Some(false)].into_iter()), None);
/// ```
pub fn any_true_if_known(mut answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all_known = true;
    let found = answers.any(|answer| {
        all_known &= answer.is_some();
        answer == Some(true)
    });
    (found || all_known).then_some(found)
}

/// Returns a pattern that matches exactly this text. Escapes only characters that have a meaning
/// outside of brackets, so that the pattern stays readable.
pub fn escape_pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern
}

impl InvalidPattern {
    /// Returns true if the pattern is a regular expression, but too large when compiled.
    pub(crate) fn is_too_large(&self) -> bool {
        self.is_too_large
    }
}

fn is_too_large(error: &Error) -> bool {
    let Error::CompileError(error) = error else { return false };
    matches!(&**error, CompileError::InnerError(inner) if inner.size_limit().is_some())
}

/// Describes an error in one line.
fn describe(error: &Error) -> String {
    let text = match error {
        Error::CompileError(error) => match &**error {
            CompileError::InnerError(inner) => match inner.syntax_error() {
                Some(regex_syntax::Error::Parse(error)) => error.kind().to_string(),
                Some(regex_syntax::Error::Translate(error)) => error.kind().to_string(),
                _ if inner.size_limit().is_some() => "it is too large when compiled".to_owned(),
                _ => inner.to_string(),
            },
            error => error.to_string(),
        },
        Error::ParseError(position, error) => {
            format!("{}, at position {position}", lower_first(&error.to_string()))
        }
        error => error.to_string(),
    };
    truncate(&lower_first(&text), MAX_SHOWN_CHARS)
}

/// Lowers the first letter: the messages of `fancy-regex` begin with a capital.
fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(characters).collect()
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pattern").field(&self.source).finish()
    }
}

impl FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(source: &str) -> Result<Pattern, InvalidPattern> {
        Pattern::new(source)
    }
}

impl fmt::Display for InvalidPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InvalidPattern {}

impl fmt::Display for BacktrackLimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gave up on pattern /{}/: too many backtracking steps", self.pattern)
    }
}

impl std::error::Error for BacktrackLimitExceeded {}

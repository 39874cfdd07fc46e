//! Regular expressions that users and servers write, on top of `fancy-regex`.
//!
//! Patterns without look-around and backreferences run in linear time. All others
//! may backtrack, and give up after a million steps: giving up is an error
//! that names the pattern, never "does not match". Our own fixed patterns use `regex`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use fancy_regex::{Captures, CompileError, Error, Regex, RegexBuilder};

/// The most steps back that one match may take.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// The largest compiled form of a pattern, in bytes.
const SIZE_LIMIT: usize = 16 << 20;

/// The longest part of a pattern that a message shows, in characters.
const SHOWN: usize = 200;

/// A compiled regular expression.
#[derive(Clone)]
pub struct Pattern {
    source: String,
    regex: Regex,
}

/// Why a text is not a regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidPattern {
    message: String,
    is_too_large: bool,
}

/// A match that was abandoned because it took too many steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GaveUp {
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
    /// When the text is not a regular expression, or is too large a one.
    pub fn new(source: &str) -> Result<Pattern, InvalidPattern> {
        Pattern::compile(source, false)
    }

    /// Compiles a pattern that ignores case unless it says `(?-i)`.
    ///
    /// # Errors
    /// When the text is not a regular expression, or is too large a one.
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

    /// The text that the pattern was compiled from.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether the pattern matches anywhere in a text.
    ///
    /// # Errors
    /// When the match takes too many steps.
    pub fn is_match(&self, text: &str) -> Result<bool, GaveUp> {
        self.regex.is_match(text).map_err(|_| self.gave_up())
    }

    /// The first match with its groups.
    ///
    /// # Errors
    /// When the match takes too many steps.
    pub fn captures<'t>(&self, text: &'t str) -> Result<Option<Captures<'t, str>>, GaveUp> {
        self.regex.captures(text).map_err(|_| self.gave_up())
    }

    /// Replaces every match: `$1` and `${name}` stand for groups, `$$` for a dollar.
    ///
    /// # Errors
    /// When a match takes too many steps.
    pub fn replace_all<'t>(&self, text: &'t str, by: &str) -> Result<Cow<'t, str>, GaveUp> {
        self.regex.try_replacen(text, 0, by).map_err(|_| self.gave_up())
    }

    fn gave_up(&self) -> GaveUp {
        GaveUp { pattern: shorten(&self.source) }
    }
}

/// Whether any of several answers is yes, where some may be unknown, as after a match
/// that was given up. One yes decides; otherwise all must be known to be no.
///
/// ```
/// # use sparring_script::any_known;
/// assert_eq!(any_known([None, Some(true)].into_iter()), Some(true));
/// assert_eq!(any_known([Some(false), Some(false)].into_iter()), Some(false));
/// assert_eq!(any_known([None, Some(false)].into_iter()), None);
/// ```
pub fn any_known(mut answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut all_known = true;
    let found = answers.any(|answer| {
        all_known &= answer.is_some();
        answer == Some(true)
    });
    (found || all_known).then_some(found)
}

/// Turns a text into a pattern that matches this text alone.
pub fn escape_pattern(text: &str) -> Cow<'_, str> {
    fancy_regex::escape(text)
}

impl InvalidPattern {
    /// Whether the pattern is a regular expression, but too large when compiled.
    pub(crate) fn is_too_large(&self) -> bool {
        self.is_too_large
    }
}

fn is_too_large(error: &Error) -> bool {
    let Error::CompileError(error) = error else { return false };
    matches!(&**error, CompileError::InnerError(inner) if inner.size_limit().is_some())
}

/// One line about what is wrong.
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
    shorten(&lower_first(&text))
}

/// The library begins its messages with a capital letter.
fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(characters).collect()
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gave up on the pattern /{}/: it takes too many steps", self.pattern)
    }
}

impl std::error::Error for GaveUp {}

//! The expectation of a text, and the ways to build one.

use std::fmt;
use std::ops::{BitAnd, BitOr, Not};

use super::condition::{Condition, SearchTerm};
use super::mismatch::Mismatch;

/// An expectation of a text. A string expects that the text contains it, ignoring
/// case; a list of strings expects that the text contains all of them.
///
/// ```
/// use sparring::Content;
///
/// let learning_loop = Content::all(["learning loop", "retrospective"]);
/// assert!(learning_loop.fits("A Retrospective ends the Learning Loop."));
///
/// let polite = Content::regex(r"^(dear|hello) \w+") & !Content::from("urgent");
/// assert!(polite.fits("Hello Ada, there is time."));
///
/// let mismatch = polite.matches("Hello Ada, this is URGENT").unwrap_err();
/// assert_eq!(
///     mismatch.to_string(),
///     "expected /^(dear|hello) \\w+/ and not \"urgent\"\n\
///      unwanted: \"urgent\"\n\
///      found: \"Hello Ada, this is URGENT\""
/// );
/// ```
///
/// An empty string or list would match any text, so it never matches. Use
/// [`Content::empty`] to expect an empty text.
#[derive(Debug, Clone)]
#[must_use = "an expectation does nothing until it is matched against a text"]
pub struct Content(Condition);

impl Content {
    /// The text contains all of these.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::all(["work log", "entry"]).fits("an entry of the Work Log"));
    /// assert!(!Content::all(["work log", "entry"]).fits("the work log"));
    /// ```
    pub fn all<C: Into<Content>>(contents: impl IntoIterator<Item = C>) -> Self {
        Content(Condition::All(conditions(contents)))
    }

    /// The text contains at least one of these.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::any(["refused", "timed out"]).fits("Connection refused"));
    /// ```
    pub fn any<C: Into<Content>>(contents: impl IntoIterator<Item = C>) -> Self {
        Content(Condition::Any(conditions(contents)))
    }

    /// The text matches this regular expression somewhere, ignoring case. The syntax is
    /// the one of suites: ECMA-262 with the flag `u`, where `\w` and `\d` are ASCII.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::regex(r"\d+ degrees").fits("It has 15 Degrees."));
    /// ```
    ///
    /// # Panics
    /// When the regular expression is invalid.
    #[track_caller]
    pub fn regex(pattern: &str) -> Self {
        match SearchTerm::regex(pattern) {
            Ok(pattern) => Content(Condition::Contains(pattern)),
            Err(error) => panic!("invalid regular expression {pattern:?}: {error}"),
        }
    }

    /// The text equals this one.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::exactly("ok").fits("ok"));
    /// assert!(!Content::exactly("ok").fits("OK"));
    /// ```
    pub fn exactly(text: impl Into<String>) -> Self {
        Content(Condition::Exactly(text.into()))
    }

    /// The text starts with this, ignoring case.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::starts_with("# ").fits("# A heading"));
    /// ```
    pub fn starts_with(text: impl Into<String>) -> Self {
        Content(Condition::StartsWith(SearchTerm::text(text)))
    }

    /// The text ends with this, ignoring case.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::ends_with(".").fits("That was all."));
    /// ```
    pub fn ends_with(text: impl Into<String>) -> Self {
        Content(Condition::EndsWith(SearchTerm::text(text)))
    }

    /// The text is empty.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::empty().fits(""));
    /// ```
    pub fn empty() -> Self {
        Content(Condition::Empty)
    }

    /// The text has more than white space.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::not_empty().fits("something"));
    /// assert!(!Content::not_empty().fits(" \n"));
    /// ```
    pub fn not_empty() -> Self {
        Content(Condition::NotEmpty)
    }

    /// The text is valid JSON.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::json().fits(r#"{"temperature": 15}"#));
    /// assert!(!Content::json().fits("15 degrees"));
    /// ```
    pub fn json() -> Self {
        Content(Condition::Json)
    }

    /// The text is a number.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::number().fits("-1.5"));
    /// assert!(!Content::number().fits("15 degrees"));
    /// ```
    pub fn number() -> Self {
        Content(Condition::Number)
    }

    /// The text has this number of lines.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::lines(2).fits("one\ntwo\n"));
    /// ```
    pub fn lines(count: usize) -> Self {
        Content(Condition::Lines(count))
    }

    /// Makes all searches case-sensitive.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(!Content::all(["Oslo", "Paris"]).case_sensitive().fits("oslo, paris"));
    /// assert!(!Content::regex("^Oslo").case_sensitive().fits("oslo"));
    /// ```
    pub fn case_sensitive(self) -> Self {
        Content(self.0.case_sensitive())
    }

    /// Both match; the same as `&`.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::from("a").and("b").fits("ab"));
    /// assert!((Content::from("a") & "b").fits("ab"));
    /// ```
    pub fn and(self, other: impl Into<Content>) -> Self {
        let mut all = match self.0 {
            Condition::All(all) => all,
            one => vec![one],
        };
        all.push(other.into().0);
        Content(Condition::All(all))
    }

    /// One of both matches; the same as `|`.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::from("a").or("b").fits("b"));
    /// assert!((Content::from("a") | "b").fits("b"));
    /// ```
    pub fn or(self, other: impl Into<Content>) -> Self {
        let mut any = match self.0 {
            Condition::Any(any) => any,
            one => vec![one],
        };
        any.push(other.into().0);
        Content(Condition::Any(any))
    }

    /// Returns true if a text matches.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::from("checklist").fits("A CHECKLIST"));
    /// ```
    pub fn fits(&self, text: &str) -> bool {
        self.0.has_expectation() && self.0.matches(text)
    }

    /// Matches a text.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::from("checklist").matches("A CHECKLIST").is_ok());
    /// ```
    ///
    /// # Errors
    /// When the text does not match. The mismatch names the conditions that failed and
    /// has the start of the text.
    pub fn matches(&self, text: &str) -> Result<(), Mismatch> {
        match self.fits(text) {
            true => Ok(()),
            false => Err(Mismatch::new(&self.0, text)),
        }
    }

    /// Fails the test if a text does not match; see [`matches`](Content::matches).
    ///
    /// ```should_panic
    /// # use sparring::Content;
    /// Content::from("checklist").assert_matches("a to-do list");
    /// ```
    ///
    /// # Panics
    /// When the text does not match. The message is the [`Mismatch`].
    #[track_caller]
    pub fn assert_matches(&self, text: &str) {
        if let Err(mismatch) = self.matches(text) {
            panic!("{mismatch}");
        }
    }
}

fn conditions<C: Into<Content>>(contents: impl IntoIterator<Item = C>) -> Vec<Condition> {
    contents.into_iter().map(|content| content.into().0).collect()
}

/// Describes the expectation in failures.
impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<C: Into<Content>> BitAnd<C> for Content {
    type Output = Content;

    fn bitand(self, other: C) -> Content {
        self.and(other)
    }
}

impl<C: Into<Content>> BitOr<C> for Content {
    type Output = Content;

    fn bitor(self, other: C) -> Content {
        self.or(other)
    }
}

impl Not for Content {
    type Output = Content;

    fn not(self) -> Content {
        Content(match self.0 {
            Condition::Not(condition) => *condition,
            condition => Condition::Not(Box::new(condition)),
        })
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content(Condition::Contains(SearchTerm::text(text)))
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content::from(&*text)
    }
}

impl From<&String> for Content {
    fn from(text: &String) -> Self {
        Content::from(&**text)
    }
}

impl From<&Content> for Content {
    fn from(content: &Content) -> Self {
        content.clone()
    }
}

impl<C: Into<Content>, const N: usize> From<[C; N]> for Content {
    fn from(contents: [C; N]) -> Self {
        Content::all(contents)
    }
}

impl<C: Into<Content>> From<Vec<C>> for Content {
    fn from(contents: Vec<C>) -> Self {
        Content::all(contents)
    }
}

//! What a text must be like: patterns that are strings or regular expressions,
//! combined with and, or, not. Nothing here knows of a client or of a protocol.

mod mismatch;
mod rule;

use std::fmt;
use std::ops::{BitAnd, BitOr, Not};

pub use mismatch::Mismatch;
use rule::{Pattern, Rule};

/// What a text must be like. A string is one: the text contains it, whatever its
/// case; a list of strings is one: the text contains all of them.
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
///      there, and unwanted: \"urgent\"\n\
///      found: \"Hello Ada, this is URGENT\""
/// );
/// ```
///
/// What would fit any text is no expectation, and never matches: an empty string
/// and an empty list. [`Content::empty`] is for a text that is empty.
#[derive(Debug, Clone)]
#[must_use = "an expectation does nothing until a text is held against it"]
pub struct Content(Rule);

impl Content {
    /// The text contains all of these.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::all(["work log", "entry"]).fits("an entry of the Work Log"));
    /// assert!(!Content::all(["work log", "entry"]).fits("the work log"));
    /// ```
    pub fn all<C: Into<Content>>(contents: impl IntoIterator<Item = C>) -> Self {
        Content(Rule::All(rules(contents)))
    }

    /// The text contains at least one of these.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::any(["refused", "timed out"]).fits("Connection refused"));
    /// ```
    pub fn any<C: Into<Content>>(contents: impl IntoIterator<Item = C>) -> Self {
        Content(Rule::Any(rules(contents)))
    }

    /// The text contains something that fits this regular expression, whatever
    /// the case. The syntax is that of suites, which is ECMA-262's with the flag `u`:
    /// `\w` and `\d` are those of ASCII.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::regex(r"\d+ degrees").fits("It has 15 Degrees."));
    /// ```
    ///
    /// # Panics
    /// When it is no regular expression; the message says why.
    #[track_caller]
    pub fn regex(pattern: &str) -> Self {
        match Pattern::regex(pattern) {
            Ok(pattern) => Content(Rule::Contains(pattern)),
            Err(error) => panic!("{pattern:?} is no regular expression: {error}"),
        }
    }

    /// The text is this one, to the letter.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::exactly("ok").fits("ok"));
    /// assert!(!Content::exactly("ok").fits("OK"));
    /// ```
    pub fn exactly(text: impl Into<String>) -> Self {
        Content(Rule::Exactly(text.into()))
    }

    /// The text begins with this, whatever the case.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::starts_with("# ").fits("# A heading"));
    /// ```
    pub fn starts_with(text: impl Into<String>) -> Self {
        Content(Rule::StartsWith(Pattern::text(text)))
    }

    /// The text ends with this, whatever the case.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::ends_with(".").fits("That was all."));
    /// ```
    pub fn ends_with(text: impl Into<String>) -> Self {
        Content(Rule::EndsWith(Pattern::text(text)))
    }

    /// The text is empty.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::empty().fits(""));
    /// ```
    pub fn empty() -> Self {
        Content(Rule::Empty)
    }

    /// There is more in the text than white space.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::not_empty().fits("something"));
    /// assert!(!Content::not_empty().fits(" \n"));
    /// ```
    pub fn not_empty() -> Self {
        Content(Rule::NotEmpty)
    }

    /// The text is JSON, whatever it says.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::json().fits(r#"{"temperature": 15}"#));
    /// assert!(!Content::json().fits("15 degrees"));
    /// ```
    pub fn json() -> Self {
        Content(Rule::Json)
    }

    /// The text is a number.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::number().fits("-1.5"));
    /// assert!(!Content::number().fits("15 degrees"));
    /// ```
    pub fn number() -> Self {
        Content(Rule::Number)
    }

    /// The text has so many lines.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::lines(2).fits("one\ntwo\n"));
    /// ```
    pub fn lines(count: usize) -> Self {
        Content(Rule::Lines(count))
    }

    /// The same, with the case of letters heeded in all its patterns.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(!Content::all(["Oslo", "Paris"]).case_sensitive().fits("oslo, paris"));
    /// assert!(!Content::regex("^Oslo").case_sensitive().fits("oslo"));
    /// ```
    pub fn case_sensitive(self) -> Self {
        Content(self.0.case_sensitive())
    }

    /// This and that; `&` is the same.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::from("a").and("b").fits("ab"));
    /// assert!((Content::from("a") & "b").fits("ab"));
    /// ```
    pub fn and(self, other: impl Into<Content>) -> Self {
        let mut all = match self.0 {
            Rule::All(all) => all,
            one => vec![one],
        };
        all.push(other.into().0);
        Content(Rule::All(all))
    }

    /// This or that; `|` is the same.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::from("a").or("b").fits("b"));
    /// assert!((Content::from("a") | "b").fits("b"));
    /// ```
    pub fn or(self, other: impl Into<Content>) -> Self {
        let mut any = match self.0 {
            Rule::Any(any) => any,
            one => vec![one],
        };
        any.push(other.into().0);
        Content(Rule::Any(any))
    }

    /// Whether a text fits.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::from("checklist").fits("A CHECKLIST"));
    /// ```
    pub fn fits(&self, text: &str) -> bool {
        self.0.is_whole() && self.0.fits(text)
    }

    /// Holds a text against it.
    ///
    /// ```
    /// # use sparring::Content;
    /// assert!(Content::from("checklist").matches("A CHECKLIST").is_ok());
    /// ```
    ///
    /// # Errors
    /// When the text does not fit; the mismatch says which parts of it do not,
    /// and shows how the text begins.
    pub fn matches(&self, text: &str) -> Result<(), Mismatch> {
        match self.fits(text) {
            true => Ok(()),
            false => Err(Mismatch::new(&self.0, text)),
        }
    }

    /// Checks a text; [`matches`](Content::matches) that fails the test.
    ///
    /// ```should_panic
    /// # use sparring::Content;
    /// Content::from("checklist").assert_matches("a to-do list");
    /// ```
    ///
    /// # Panics
    /// When it does not fit; the message is the [`Mismatch`].
    #[track_caller]
    pub fn assert_matches(&self, text: &str) {
        if let Err(mismatch) = self.matches(text) {
            panic!("{mismatch}");
        }
    }
}

fn rules<C: Into<Content>>(contents: impl IntoIterator<Item = C>) -> Vec<Rule> {
    contents.into_iter().map(|content| content.into().0).collect()
}

/// In words, as failures have it.
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
            Rule::Not(rule) => *rule,
            rule => Rule::Not(Box::new(rule)),
        })
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content(Rule::Contains(Pattern::text(text)))
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

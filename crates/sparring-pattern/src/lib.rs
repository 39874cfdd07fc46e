//! Regular expressions as ECMA-262 has them with the flag `u`, one meaning for all
//! of Sparring: in JSON Schemas, in suites and scripts, and in tests in Rust.
//!
//! A pattern without look-around and references to groups takes a time that grows
//! with the text; any other is given up when it takes too long. It knows nothing of
//! sets of several patterns and of bytes that are no text.

mod captures;
mod class;
mod compile;
mod error;
mod fold;
mod machine;
mod parse;
mod program;
mod property;
mod replace;
mod tree;

use std::fmt;
use std::str::FromStr;

pub use captures::Captures;
pub use error::BadPattern;

use machine::Machine;
use parse::{Dialect, Flags};
use program::Program;

/// A regular expression, ready to be used.
#[derive(Clone)]
pub struct Pattern {
    source: String,
    program: Program,
    names: Vec<(String, usize)>,
}

impl Pattern {
    /// Reads a pattern as suites have them: beside all of ECMA-262, `(?i)` and the
    /// other flags for the rest of a group, `x` among them, `\A`, `\z`, `\x{…}`,
    /// `\pL` and `(?P<name>…)`. What would mean something else to other engines,
    /// such as `[[:alpha:]]` and `[a&&b]`, is refused.
    ///
    /// ```
    /// # use sparring_pattern::Pattern;
    /// assert!(Pattern::new(r"(?i)^it is \d+$")?.is_match("It is 12"));
    /// # Ok::<(), sparring_pattern::BadPattern>(())
    /// ```
    ///
    /// # Errors
    /// When it is none.
    pub fn new(source: &str) -> Result<Pattern, BadPattern> {
        Pattern::read(source, Dialect::Wide, Flags::default())
    }

    /// The same, whatever the case, unless the pattern says something else.
    ///
    /// # Errors
    /// When it is none.
    pub fn in_any_case(source: &str) -> Result<Pattern, BadPattern> {
        Pattern::read(source, Dialect::Wide, Flags { fold: true, ..Flags::default() })
    }

    /// Reads a pattern as JSON Schemas have them: by ECMA-262 alone.
    ///
    /// # Errors
    /// When it is none.
    pub fn of_schema(source: &str) -> Result<Pattern, BadPattern> {
        Pattern::read(source, Dialect::Ecma, Flags::default())
    }

    fn read(source: &str, dialect: Dialect, flags: Flags) -> Result<Pattern, BadPattern> {
        let parsed = parse::parse(source, dialect, flags)?;
        let program = compile::compile(&parsed)?;
        Ok(Pattern { source: source.to_owned(), program, names: parsed.names })
    }

    /// The text it was read from.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether it is found in a text, or `None` where that takes too long.
    pub fn is_in(&self, text: &str) -> Option<bool> {
        Machine::new(&self.program, text, false).find(0).map(|it| it.is_some()).ok()
    }

    /// Whether it is found in a text. What takes too long is not.
    pub fn is_match(&self, text: &str) -> bool {
        self.is_in(text) == Some(true)
    }

    /// The first match in a text with its groups. What takes too long is none.
    pub fn captures<'p, 't>(&'p self, text: &'t str) -> Option<Captures<'p, 't>> {
        let mut machine = Machine::new(&self.program, text, true);
        let slots = machine.find(0).ok()??;
        Some(self.found(text, slots))
    }

    fn found<'p, 't>(&'p self, text: &'t str, slots: &[u32]) -> Captures<'p, 't> {
        Captures::new(text, &self.names, &slots[..self.program.group_slots as usize])
    }
}

/// Whether one of several is so, where of each that may not be known, as
/// [`Pattern::is_in`] tells it. One that is so settles it; without one, all must be
/// known not to be so.
///
/// ```
/// # use sparring_pattern::any;
/// assert_eq!(any([None, Some(true)].into_iter()), Some(true));
/// assert_eq!(any([Some(false), Some(false)].into_iter()), Some(false));
/// assert_eq!(any([None, Some(false)].into_iter()), None);
/// ```
pub fn any(mut all: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut certain = true;
    let found = all.any(|one| {
        certain &= one.is_some();
        one == Some(true)
    });
    (found || certain).then_some(found)
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
    type Err = BadPattern;

    fn from_str(source: &str) -> Result<Pattern, BadPattern> {
        Pattern::new(source)
    }
}

/// A text as a pattern that matches it alone.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

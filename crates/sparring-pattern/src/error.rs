//! Why a text is no pattern.

use std::error::Error;
use std::fmt;

/// Why a text is no pattern, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadPattern {
    why: String,
    /// The number of the character, from one, where there is one to name.
    at: Option<usize>,
}

impl BadPattern {
    /// Something at a place, counted from zero.
    pub(crate) fn at(index: usize, why: impl Into<String>) -> BadPattern {
        BadPattern { why: why.into(), at: Some(index + 1) }
    }

    /// Something about the whole of it.
    pub(crate) fn whole(why: &str) -> BadPattern {
        BadPattern { why: why.to_owned(), at: None }
    }

    /// Its counts come to more than is taken.
    pub(crate) fn too_large() -> BadPattern {
        BadPattern::whole("it is too large")
    }
}

impl fmt::Display for BadPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "{}, at character {at}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl Error for BadPattern {}

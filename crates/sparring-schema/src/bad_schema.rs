//! Why a schema cannot be used.

use std::fmt;

/// What is wrong with a schema, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadSchema {
    /// Where in the schema, as a JSON Pointer; in a document that was given along
    /// with it, after its URI and a `#`.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

impl BadSchema {
    pub(crate) fn at(pointer: &str, message: String) -> BadSchema {
        BadSchema { pointer: pointer.to_owned(), message }
    }
}

impl fmt::Display for BadSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.is_empty() {
            true => f.write_str(&self.message),
            false => write!(f, "at {}: {}", self.pointer, self.message),
        }
    }
}

impl std::error::Error for BadSchema {}

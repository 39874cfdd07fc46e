//! Statements before they are run: what they are, read by a parser and not by
//! looking for words, and which of them may run.
//!
//! SQLite itself has the last word about each (`database::guard`), so that a
//! statement that is read in another way than here is not run.

mod kind;
mod parse;
mod rules;

pub use kind::{Kind, Level, UnknownKind, names};
pub use parse::{NotOne, Statement};
pub use rules::{Refusal, Rule, Rules};

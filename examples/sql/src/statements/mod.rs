//! Parses statements before they run, and applies the rules to them.
//!
//! SQLite authorizes each statement again (`database::guard`), so a statement that the
//! parser misreads does not run.

mod kind;
mod parse;
mod rules;

pub use kind::{Kind, Level, UnknownKind, names};
pub use parse::{NotOne, Statement};
pub use rules::{Refusal, Rule, Rules};

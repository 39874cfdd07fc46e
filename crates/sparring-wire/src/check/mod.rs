//! Checks frames against the rules of a revision.
//!
//! [`Checker`] checks one frame, [`ConnectionChecker`] all frames of one connection. Both
//! only report violations; the caller handles them.

mod checker;
mod connection;
mod duplicates;
mod formats;
mod frame_rules;
mod json_path;
mod responses;
mod schema_syntax;
mod shape_check;
mod shape_parser;
#[cfg(test)]
mod tests;
mod violation_collector;

pub use checker::Checker;
pub use connection::{ConnectionChecker, HttpObservation};

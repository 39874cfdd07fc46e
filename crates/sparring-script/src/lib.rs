//! The YAML language of suites, mocks and config files: values with their line and
//! column, a grammar of the known keys, templates, matchers, and problems rendered
//! with a caret in the user's text.
//!
//! This crate does no I/O: the caller passes the name and the text of a file.

pub mod casing;
mod diff;
pub mod grammar;
mod input_schema;
pub mod matcher;
pub mod node;
mod pattern;
pub mod problem;
mod quantity;
pub mod sample;
pub mod schema;
mod source;
mod suggestion;
pub mod template;
mod truncate;

pub use diff::{DiffLine, render_diff_lines, unified_diff};
pub use grammar::{Key, Object, Shape};
pub use input_schema::build_input_schema;
pub use matcher::{Matcher, Mismatch, Subject};

pub use node::{MapEntry, Node, NodeKind};
pub use pattern::{
    BacktrackLimitExceeded, InvalidPattern, Pattern, any_true_if_known, escape_pattern,
};
pub use problem::{Problem, Problems};
pub use quantity::{parse_duration, parse_size};
pub use schema::Schema;
pub use source::{Position, Source, Span};
pub use suggestion::{did_you_mean, nearest_names};
pub use template::{Path, Scope, Template, TemplateTree, UndefinedPath};

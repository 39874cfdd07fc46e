//! The YAML language that suites, mocks and config files are written in: values
//! that know their line and column, a grammar that says which keys there are,
//! templates, matchers, and problems told with a caret in the user's own text.
//!
//! Here is no I/O: whoever reads a file gives its name and its text.

pub mod casing;
mod diff;
pub mod grammar;
mod input;
pub mod matcher;
mod nearest;
pub mod node;
mod pattern;
pub mod problem;
mod quantity;
pub mod schema;
mod source;
pub mod template;

pub use diff::{DiffLine, diff_lines, unified_diff};
pub use grammar::{Key, Object, Shape};
pub use input::input_schema;
pub use matcher::{Matcher, Mismatch};
pub use nearest::{did_you_mean, nearest};
pub use node::{Entry, Kind, Node};
pub use pattern::{GaveUp, InvalidPattern, Pattern, any_known, escape_pattern};
pub use problem::{Problem, Problems};
pub use quantity::{duration, size};
pub use schema::Schema;
pub use source::{Position, Source, Span};
pub use template::{Path, Scope, Template, Tree, Undefined};

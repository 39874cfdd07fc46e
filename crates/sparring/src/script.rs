//! The words of the YAML language that mocks are written in: matchers, and what
//! is wrong with a script, with its place.

pub use sparring_script::{Matcher, Mismatch, Position, Problem, Problems, Source, Span};

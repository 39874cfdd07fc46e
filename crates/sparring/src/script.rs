//! The words of the YAML language that mocks are written in: matchers, and what
//! is wrong with a script, with its place.
//!
//! ```
//! use serde_json::json;
//! use sparring::script::Matcher;
//!
//! let warm = Matcher::of(&json!({"t": {"gt": 10}}))?;
//! assert!(warm.fits(Some(&json!({"city": "Oslo", "t": 15}))));
//! let mismatches = warm.check(Some(&json!({"t": 3})));
//! assert_eq!(mismatches[0].to_string(), "at t: expected a number > 10, found 3");
//! # Ok::<(), sparring::script::Problems>(())
//! ```

pub use sparring_script::{Matcher, Mismatch, Position, Problem, Problems, Source, Span};

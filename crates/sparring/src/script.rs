//! Mismatches of a [`Matcher`](crate::Matcher), and problems in a script with their
//! positions.
//!
//! ```
//! use serde_json::json;
//! use sparring::Matcher;
//! use sparring::script::Problems;
//!
//! let warm = Matcher::from_json(&json!({"t": {"gt": 10}}))?;
//! assert!(warm.matches(Some(&json!({"city": "Oslo", "t": 15}))));
//! let mismatches = warm.check(Some(&json!({"t": 3})));
//! assert_eq!(mismatches[0].to_string(), "at t: expected a number > 10, found 3");
//! # Ok::<(), Problems>(())
//! ```

pub use sparring_script::{Mismatch, Position, Problem, Problems, Source, Span};

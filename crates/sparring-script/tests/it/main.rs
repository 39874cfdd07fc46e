//! Properties of arbitrary texts, and tests of JSON Schemas and patterns, some of which are
//! hostile.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod never_panics;
mod patterns;
mod peers;
mod schema_errors;
mod schema_limits;
mod schema_messages;
mod schema_protocol;

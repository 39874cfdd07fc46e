//! What holds for any text at all; and JSON Schemas and patterns, of which some are
//! hostile.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod never_panics;
mod patterns;
mod schema_errors;
mod schema_limits;
mod schema_messages;
mod schema_peers;
mod schema_protocol;

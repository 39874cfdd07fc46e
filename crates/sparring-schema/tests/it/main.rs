//! The validator held to the official suite of JSON Schema, to another validator,
//! and to the schemas of MCP; what it tells, and what it does not let itself be
//! stopped by.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod against_jsonschema;
mod bad_schemas;
mod limits;
mod messages;
mod peers;
mod protocol_schemas;

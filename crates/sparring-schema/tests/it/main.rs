//! The validator held to the official suite of JSON Schema, to another validator,
//! and to the schemas of MCP.

mod against_jsonschema;
mod official_suite;
mod protocol_schemas;

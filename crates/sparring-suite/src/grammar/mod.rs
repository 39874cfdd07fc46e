//! The suite language as data: every key with its shape and description.
//!
//! `load` implements the keys. A key that is not listed here is unknown.

mod agent;
mod expect;
mod journals;
mod mocks;
mod server;
mod step;
mod subjects;
mod suite;

pub(crate) use journals::{fits_mcp, is_llm_key, is_mcp_key};
pub(crate) use server::SERVER;
pub(crate) use subjects::{
    COMPLETION, FRAME, HTTP_METHOD, MESSAGE, METHOD, PROMPT, RESOURCE, TEMPLATE, TOOL, VIOLATION,
};
pub(crate) use suite::{SHARED, SUITE, TEST};

use serde_json::Value;
use sparring_script::grammar;

/// The JSON Schema of suites, for editors.
pub fn schema() -> Value {
    grammar::json_schema("A suite of Sparring", &SUITE)
}

/// The reference page of all keys, for the docs.
pub fn reference() -> String {
    let intro = "Generated from the code; [suites.md](suites.md) explains the language. Keys can also \
                 be written in camelCase, such as `isError` for `is_error`.";
    grammar::render_key_reference("All keys of a suite", intro, &SUITE)
}

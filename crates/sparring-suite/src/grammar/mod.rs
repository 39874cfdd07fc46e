//! The suite language as data: every key there is, with what it is for.
//!
//! What a key does stands in `load`; a key that is not here is unknown.

mod agent;
mod expect;
mod journals;
mod mocks;
mod server;
mod step;
mod suite;

pub(crate) use journals::is_of_llm;
pub(crate) use server::SERVER;
pub(crate) use suite::{SHARED, SUITE, TEST};

use serde_json::Value;
use sparring_script::grammar;

/// The JSON Schema of suites, for editors.
pub fn schema() -> Value {
    grammar::schema("A suite of Sparring", &SUITE)
}

/// The page of all keys of suites, for the docs.
pub fn reference() -> String {
    let intro = "Made from the language itself; [suites.md](suites.md) explains it. Keys may also \
                 be written as the wire has them, `isError` for `is_error`.";
    grammar::page("All keys of a suite", intro, &SUITE)
}

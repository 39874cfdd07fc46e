//! The mock language as data: every key there is, with what it is for.
//!
//! What a key does stands in `load`; a key that is not here is unknown.

mod ask;
mod entries;
mod fault;
mod llm;
mod oauth;
mod reply;
mod script;
mod step;

pub(crate) use entries::TOOL;
pub(crate) use llm::LLM;
pub use llm::{LLM_KEYS, SEEN_KEYS, TURNS};
pub(crate) use oauth::{CHANGES, ISSUER, TOKEN};
pub(crate) use reply::TOOL_REPLY;
pub(crate) use script::SCRIPT;

use serde_json::Value;
use sparring_script::{Shape, grammar};

/// The JSON Schema of mock scripts, for editors.
pub fn schema() -> Value {
    grammar::schema("A mock of Sparring", &SCRIPT)
}

/// The page of all keys of mock scripts, for the docs.
pub fn reference() -> String {
    let intro = "Made from the language itself; [mock.md](mock.md) explains it. Keys may also be \
                 written as the wire has them, `inputSchema` for `input_schema`.";
    grammar::page("All keys of a mock", intro, &SCRIPT)
}

/// The JSON Schema of scripts of LLM endpoints, for editors.
pub fn llm_schema() -> Value {
    grammar::schema("An LLM endpoint of Sparring", &LLM)
}

/// The page of all keys of LLM endpoints, for the docs.
pub fn llm_reference() -> String {
    let intro = "Made from the language itself; [mock.md](mock.md#the-llm-endpoint) explains it.";
    grammar::page("All keys of an LLM endpoint", intro, &LLM)
}

/// A value passed on to the wire, with our names made the wire's.
pub(crate) static WIRE: Shape = Shape::Map(&Shape::Any);

/// A JSON Schema.
pub(crate) static JSON_SCHEMA: Shape = Shape::Map(&Shape::Any);

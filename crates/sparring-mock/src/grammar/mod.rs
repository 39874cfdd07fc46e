//! The mock language as data: every key there is, with what it is for.
//!
//! What a key does stands in `load`; a key that is not here is unknown.

mod ask;
mod entries;
mod fault;
#[cfg(feature = "llm")]
mod llm;
#[cfg_attr(
    not(feature = "oauth"),
    expect(dead_code, reason = "the keys of a script are known, also those that are refused")
)]
mod oauth;
mod reply;
mod script;
mod step;

pub(crate) use entries::TOOL;
#[cfg(feature = "llm")]
pub(crate) use llm::LLM;
#[cfg(feature = "llm")]
pub use llm::{LLM_KEYS, SEEN_KEYS, TURNS, llm_reference, llm_schema};
#[cfg(feature = "oauth")]
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

/// A value passed on to the wire, with our names made the wire's.
pub(crate) static WIRE: Shape = Shape::Map(&Shape::Any);

/// A JSON Schema.
pub(crate) static JSON_SCHEMA: Shape = Shape::Map(&Shape::Any);

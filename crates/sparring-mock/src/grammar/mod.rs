//! The grammar of mock scripts: every key and its description.
//!
//! `load` implements the keys; a key that is not here is unknown.

mod entries;
#[cfg(feature = "llm")]
mod llm;
#[cfg_attr(
    not(feature = "oauth"),
    expect(dead_code, reason = "a build without OAuth still knows the keys that it rejects")
)]
mod oauth;
mod reply;
mod script;
mod step;

pub(crate) use entries::TOOL;
#[cfg(feature = "llm")]
pub(crate) use llm::{EXPECT as LLM_EXPECT, LLM};
#[cfg(feature = "llm")]
pub use llm::{LLM_KEYS, LLM_REQUEST_KEYS, LLM_TEST_TURNS, LLM_TURNS, llm_reference, llm_schema};
#[cfg(feature = "oauth")]
pub(crate) use oauth::{CHANGES, ISSUER, TOKEN};
pub(crate) use reply::TOOL_REPLY;
pub(crate) use script::SCRIPT;

use serde_json::Value;
use sparring_script::{Shape, grammar};

/// Returns the JSON Schema of mock scripts, for editors.
pub fn schema() -> Value {
    grammar::json_schema("A mock of Sparring", &SCRIPT)
}

/// Renders the reference page of mock scripts, for the docs.
pub fn reference() -> String {
    let intro = "Generated from the grammar; [mock.md](mock.md) explains it. Keys may also be \
                 written as on the wire: `inputSchema` for `input_schema`.";
    grammar::render_key_reference("All keys of a mock", intro, &SCRIPT)
}

/// A value that is sent on the wire, with its keys converted to those of the wire.
pub(crate) static WIRE_MAP: Shape = Shape::Map(&Shape::Any);

pub(crate) static JSON_SCHEMA: Shape = Shape::Map(&Shape::Any);

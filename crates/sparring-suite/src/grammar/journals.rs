//! The keys of `received` and `called`.

use sparring_mock::LLM_REQUEST_KEYS;
use sparring_script::{Key, Object, Shape, Subject};

use super::mocks::REQUEST_KEYS;
use super::subjects::{DATA, NUMBER, TEXT};

/// The requests that mocks received, by mock.
pub(super) static RECEIVED: Shape = Shape::Map(&Shape::OneOrMany(&Shape::Object(&REQUESTS)));

/// The tool calls that MCP servers received, by mock.
pub(super) static CALLED: Shape = Shape::Map(&Shape::OneOrMany(&Shape::Object(&CALLS)));

static REQUESTS: Object = Object {
    name: "an expectation of requests",
    keys: &[&REQUEST_KEYS, &LLM_REQUEST_KEYS, &LLM_KEYS, &MCP_KEYS, &COUNT],
};

/// The additional keys of a request to an LLM endpoint.
static LLM_KEYS: [Key; 2] = [
    Key::new("case", &Shape::Matcher(&Subject::Text), "The test case that the user message names."),
    Key::new(
        "turn",
        &Shape::Matcher(&Subject::Number),
        "The turn that answered the request, from 1.",
    ),
];

/// The additional keys of a request to an MCP server, whose `method` is that of the protocol.
static MCP_KEYS: [Key; 6] = [
    Key::new("name", &TEXT, "The name of the tool or prompt, or the URI."),
    Key::new("params", &DATA, "The params."),
    Key::new("revision", &TEXT, "The revision of the protocol."),
    Key::new("transport", &TEXT, "The transport: `stdio`, `http`, `sse` or `memory`."),
    Key::new("client_info", &DATA, "The name and version that the client declares."),
    Key::new("capabilities", &DATA, "The capabilities that the client declares."),
];

/// Returns true if only requests to LLM endpoints have this key.
pub(crate) fn is_llm_key(key: &str) -> bool {
    LLM_REQUEST_KEYS.iter().chain(&LLM_KEYS).any(|known| known.name == key)
}

/// Returns true if only requests to MCP servers have this key.
pub(crate) fn is_mcp_key(key: &str) -> bool {
    MCP_KEYS.iter().any(|known| known.name == key)
}

/// Returns true if requests to MCP servers have this key.
pub(crate) fn fits_mcp(key: &str) -> bool {
    is_mcp_key(key) || ["method", "headers", "count"].contains(&key)
}

static CALLS: Object = Object {
    name: "an expectation of calls",
    keys: &[
        &[
            Key::new("tool", &TEXT, "The name of the tool."),
            Key::new("args", &DATA, "Its arguments."),
        ],
        &COUNT,
    ],
};

static COUNT: [Key; 1] =
    [Key::new("count", &NUMBER, "The number of matching entries (default: at least one).")];

//! What must have come to a stand-in.

use sparring_mock::SEEN_KEYS;
use sparring_script::{Key, Object, Shape};

use super::mocks::REQUEST_KEYS;

/// What must have come to HTTP servers and LLM endpoints, by their names.
pub(super) static RECEIVED: Shape = Shape::Map(&Shape::OneOrMany(&Shape::Object(&REQUESTS)));

/// What must have been called of MCP servers, by their names.
pub(super) static CALLED: Shape = Shape::Map(&Shape::OneOrMany(&Shape::Object(&CALLS)));

static REQUESTS: Object = Object {
    name: "an expectation of requests",
    keys: &[&REQUEST_KEYS, &SEEN_KEYS, &OF_LLM, &COUNT],
};

/// What is known of a request to an LLM endpoint besides.
static OF_LLM: [Key; 2] = [
    Key::new("case", &Shape::Any, "The test case that the user of an LLM names."),
    Key::new("turn", &Shape::Any, "The turn that an LLM answered it by, from 1."),
];

/// Whether only requests to LLM endpoints have this.
pub(crate) fn is_of_llm(key: &str) -> bool {
    SEEN_KEYS.iter().chain(&OF_LLM).any(|known| known.name == key)
}

static CALLS: Object = Object {
    name: "an expectation of calls",
    keys: &[
        &[
            Key::new("tool", &Shape::Any, "The tool that was called."),
            Key::new("args", &Shape::Any, "Its arguments."),
        ],
        &COUNT,
    ],
};

static COUNT: [Key; 1] = [Key::new(
    "count",
    &Shape::Any,
    "How many that fit there must be; at least one where nothing is said.",
)];

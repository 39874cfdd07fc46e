//! What must have come to a stand-in.

use sparring_script::{Key, Object, Shape};

use super::mocks::REQUEST_KEYS;

/// What must have come to HTTP servers, by their names.
pub(super) static RECEIVED: Shape = Shape::Map(&Shape::OneOrMany(&Shape::Object(&REQUESTS)));

/// What must have been called of MCP servers, by their names.
pub(super) static CALLED: Shape = Shape::Map(&Shape::OneOrMany(&Shape::Object(&CALLS)));

static REQUESTS: Object =
    Object { name: "an expectation of requests", keys: &[&REQUEST_KEYS, &COUNT] };

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

//! What must have come of a step.

use sparring_script::{Key, Object, Shape};

use super::agent::RAN;
use super::journals::{CALLED, RECEIVED};

pub(super) static EXPECT: Object = Object {
    name: "an expectation",
    keys: &[
        &[
            Key::new("text", &Shape::Any, "The text items, joined with nothing."),
            Key::new("json", &Shape::Any, "The text, read as JSON."),
            Key::new("structured", &Shape::Any, "The structured content of a tool."),
            Key::new("content", &Shape::Any, "The items: content, contents or messages."),
            Key::new("is_error", &Shape::Bool, "Whether the tool says that it failed."),
            Key::new(
                "error",
                &Shape::Any,
                "Why there is no result: `code`, `message`, `data` of the server's, or `kind`.",
            ),
            Key::new("result", &Shape::Any, "The whole result."),
        ],
        &ITEMS,
        &RAN,
        &[
            Key::new(
                "violations",
                &Shape::Object(&FOUND),
                "Breaches of the protocol, each with `rule`, `path`, `message`, `section`.",
            ),
            Key::new("within", &Shape::Duration, "How long the answer may take."),
            Key::new(
                "notifications",
                &Shape::Object(&FOUND),
                "What the server sent unasked since the step began: `method` and `params`.",
            ),
            Key::new(
                "requests",
                &Shape::Object(&FOUND),
                "What the server asked since the step began: `method` and `params`.",
            ),
            Key::new(
                "stderr",
                &Shape::Any,
                "What the server wrote to its stderr since the test began, or the agent.",
            ),
            Key::new(
                "received",
                &RECEIVED,
                "Which requests came to an HTTP server of `mocks` since the step began.",
            ),
            Key::new("called", &CALLED, "Which tools of a mock were called since the step began."),
        ],
    ],
};

/// What a list must be like.
static ITEMS: [Key; 3] = [
    Key::new("has", &Shape::Any, "What an item of the list must fit; a list of such, each by one."),
    Key::new("lacks", &Shape::Any, "What no item of the list may fit; or a list of such."),
    Key::new("count", &Shape::Any, "How many items there must be."),
];

static FOUND: Object = Object { name: "a list that was found", keys: &[&ITEMS] };

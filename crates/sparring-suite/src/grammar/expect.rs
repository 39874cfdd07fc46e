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
                "frames",
                &Shape::Object(&FOUND),
                "All that the server sent since the step began, as it was; what is no JSON is a text.",
            ),
            Key::new("status", &Shape::Any, "The status of the last response over HTTP."),
            Key::new("headers", &Shape::Map(&Shape::Any), "Its headers, by their names."),
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
            Key::new(
                "snapshot",
                &Shape::Either(&[Shape::Bool, Shape::Object(&SNAPSHOT)]),
                "The whole answer as it was kept beside the suite; `--update` keeps it anew.",
            ),
        ],
    ],
};

/// What is not kept of an answer.
pub(super) static SNAPSHOT: Object = Object {
    name: "a snapshot",
    keys: &[&[
        Key::new(
            "without",
            &Shape::OneOrMany(&Shape::Text),
            "Keys that are left out, wherever they stand in it.",
        ),
        Key::new(
            "replace",
            &Shape::Map(&Shape::Text),
            "What stands instead of all that a regular expression matches in its texts.",
        ),
    ]],
};

/// What a list must be like.
static ITEMS: [Key; 3] = [
    Key::new("has", &Shape::Any, "What an item of the list must fit; a list of such, each by one."),
    Key::new("lacks", &Shape::Any, "What no item of the list may fit; or a list of such."),
    Key::new("count", &Shape::Any, "How many items there must be."),
];

static FOUND: Object = Object { name: "a list that was found", keys: &[&ITEMS] };

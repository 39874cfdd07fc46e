//! The keys of `expect`.

use sparring_script::{Key, Object, Shape, Subject};

use super::agent::AGENT_EXPECTATIONS;
use super::journals::{CALLED, RECEIVED};
use super::subjects::{CONTENT, DATA, ERROR, NUMBER, TEXT};

pub(super) static EXPECT: Object = Object {
    name: "an expectation",
    keys: &[
        &[
            Key::new("text", &TEXT, "All text items, joined without a separator.")
                .synonyms(&["output", "contains", "includes"]),
            Key::new("json", &DATA, "The text, parsed as JSON."),
            Key::new("structured", &DATA, "The structured content of a tool result.")
                .synonyms(&["structured_content"]),
            Key::new(
                "content",
                &Shape::Matcher(&CONTENT),
                "The items of `content`, `contents` or `messages`.",
            ),
            Key::new("is_error", &Shape::Bool, "The `isError` of the tool result."),
            Key::new(
                "error",
                &Shape::Matcher(&ERROR),
                "The error that the server sent: `code`, `message`, `data`. Any other error needs its `kind`, such as `timeout` or `closed`.",
            ),
            Key::new("result", &DATA, "The whole result."),
        ],
        &ITEMS,
        &AGENT_EXPECTATIONS,
        &[
            Key::new(
                "violations",
                &Shape::Object(&COLLECTION),
                "Protocol violations, each with `rule`, `level` (`must` or `should`), `path`, `message` and `section`.",
            ),
            Key::new("within", &Shape::Duration, "The maximum time until the answer.")
                .synonyms(&["timeout", "duration"]),
            Key::new(
                "notifications",
                &Shape::Object(&COLLECTION),
                "The notifications that the server sent since the step began: `method` and `params`.",
            ),
            Key::new(
                "requests",
                &Shape::Object(&COLLECTION),
                "The requests that the server sent since the step began: `method` and `params`.",
            ),
            Key::new(
                "frames",
                &Shape::Object(&COLLECTION),
                "All frames that the server sent since the step began. One that is not JSON is a string.",
            ),
            Key::new("status", &NUMBER, "The status of the last HTTP response."),
            Key::new(
                "headers",
                &Shape::NonEmpty(&Shape::Map(&Shape::Matcher(&Subject::Text))),
                "The headers of the last HTTP response, by name.",
            ),
            Key::new(
                "stderr",
                &TEXT,
                "The stderr of the server since the test began, or of the agent.",
            ),
            Key::new(
                "received",
                &RECEIVED,
                "The requests that a mock received since the step began: HTTP requests, requests to an LLM endpoint, or requests to an MCP server.",
            ),
            Key::new(
                "called",
                &CALLED,
                "The tool calls that a mock received since the step began.",
            ),
            Key::new(
                "snapshot",
                &Shape::AnyOf(&[Shape::Bool, Shape::Object(&SNAPSHOT)]),
                "Compares the whole answer with the snapshot beside the suite. `--update` writes the snapshot.",
            ),
        ],
    ],
};

/// The rules of a snapshot.
pub(super) static SNAPSHOT: Object = Object {
    name: "a snapshot",
    keys: &[&[
        Key::new("without", &Shape::OneOrMany(&Shape::String), "Keys to remove at any depth."),
        Key::new(
            "replace",
            &Shape::NonEmpty(&Shape::Map(&Shape::String)),
            "Replacements in strings, by regular expression.",
        ),
    ]],
};

/// The expectations of a list.
static ITEMS: [Key; 3] = [
    Key::new(
        "has",
        &Shape::Any,
        "A matcher that an item must match, or a list of matchers that must each match one.",
    )
    .synonyms(&["contains", "includes"]),
    Key::new("lacks", &Shape::Any, "A matcher that no item may match, or a list of such matchers.")
        .synonyms(&["excludes", "not_has"]),
    Key::new(
        "count",
        &NUMBER,
        "The number of items that match `has`, or of all items without `has`.",
    )
    .synonyms(&["len", "length", "size"]),
];

static COLLECTION: Object = Object { name: "a collection", keys: &[&ITEMS] };

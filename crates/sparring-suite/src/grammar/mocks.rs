//! The keys of `mocks`: HTTP servers, MCP servers and LLM endpoints.

use sparring_mock::LLM_KEYS;
use sparring_script::{Key, Object, Shape};

use super::subjects::{DATA, TEXT, TEXTS_BY_NAME};

static TRANSPORT: Shape = Shape::OneOrMany(&Shape::Keyword(&["stdio", "http", "sse"]));

pub(super) static MOCK: Object = Object { name: "a mock", keys: &[&MOCK_KEYS, &LLM_KEYS] };

static MOCK_KEYS: [Key; 6] = [
    Key::new(
        "http",
        &Shape::List(&Shape::Object(&ROUTE)),
        "An HTTP server. The first matching route answers.",
    ),
    Key::new("mock", &Shape::String, "An MCP server with this script."),
    Key::new("vars", &Shape::Map(&Shape::Any), "Variables of the script of `mock`."),
    Key::new(
        "mcp_interactions",
        &INTERACTIONS,
        "An MCP server with the tool `get_data`: its responses to each test case, turn by turn. Empty if the tests have their own.",
    ),
    Key::new(
        "transport",
        &TRANSPORT,
        "The transports of the MCP server. The tests run once over each (default: http).",
    ),
    Key::new(
        "process",
        &Shape::Bool,
        "If true, an MCP server over HTTP is a separate process (default: false).",
    ),
];

/// The responses, turn by turn.
pub(super) static INTERACTIONS: Shape = Shape::List(&Shape::Map(&Shape::Any));

static ROUTE: Object = Object {
    name: "a route",
    keys: &[&[
        Key::new("when", &Shape::Object(&REQUEST), "The matcher of requests (default: all)."),
        Key::new(
            "reply",
            &Shape::OneOrMany(&Shape::Object(&REPLY)),
            "The reply. In a list, each reply is sent once, then the last one again.",
        )
        .required(),
    ]],
};

static REQUEST: Object = Object { name: "a request", keys: &[&REQUEST_KEYS] };

/// The keys of an HTTP request.
pub(super) static REQUEST_KEYS: [Key; 6] = [
    Key::new("method", &TEXT, "The method, such as GET."),
    Key::new("path", &TEXT, "The path without the query."),
    Key::new("query", &Shape::Matcher(&TEXTS_BY_NAME), "The query parameters by name."),
    Key::new("headers", &Shape::Matcher(&TEXTS_BY_NAME), "The headers by name."),
    Key::new("body", &DATA, "The body, parsed if it is JSON."),
    Key::new("text", &TEXT, "The body as text."),
];

static REPLY: Object = Object {
    name: "a reply",
    keys: &[&[
        Key::new("status", &Shape::Integer(200), "The status (default: 200)."),
        Key::new("headers", &Shape::Map(&Shape::String), "The headers."),
        Key::new("json", &Shape::Any, "The body as JSON."),
        Key::new("text", &Shape::String, "The body as text."),
        Key::new("delay", &Shape::Duration, "The delay before the reply."),
        Key::new("fault", &Shape::Object(&FAULT), "A fault of the reply."),
        Key::new("times", &Shape::Integer(1), "The number of times to send this reply."),
    ]],
};

static FAULT: Object = Object {
    name: "a fault of a reply",
    keys: &[&[
        Key::new(
            "disconnect",
            &Shape::Keyword(&["before", "middle"]),
            "Closes the connection before the reply, or in the middle of its body.",
        ),
        Key::new("silent", &Shape::Bool, "Never sends a reply. Can only be true."),
        Key::new("slow", &Shape::Integer(1), "Sends the body with this many bytes per second."),
    ]],
};

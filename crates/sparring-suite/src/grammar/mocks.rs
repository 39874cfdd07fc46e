//! Stand-ins: HTTP servers, MCP servers and LLM endpoints that are started for a
//! suite.

use sparring_mock::LLM_KEYS;
use sparring_script::{Key, Object, Shape};

static TRANSPORT: Shape = Shape::OneOrMany(&Shape::Word(&["stdio", "http", "sse"]));

pub(super) static MOCK: Object = Object { name: "a mock", keys: &[&OWN, &LLM_KEYS] };

static OWN: [Key; 5] = [
    Key::new(
        "http",
        &Shape::List(&Shape::Object(&ROUTE)),
        "An HTTP server: the first route that fits answers.",
    ),
    Key::new("mock", &Shape::Text, "Or an MCP server: its script."),
    Key::new("vars", &Shape::Map(&Shape::Any), "Variables of the script of `mock`."),
    Key::new(
        "mcp_interactions",
        &INTERACTIONS,
        "Or an MCP server with the tool `get_data`: its responses, turn by turn, to each test case; none where the tests bring theirs.",
    ),
    Key::new(
        "transport",
        &TRANSPORT,
        "How the MCP server is served, the tests run once for each; http where nothing is said.",
    ),
];

/// Responses, turn by turn.
pub(super) static INTERACTIONS: Shape = Shape::List(&Shape::Map(&Shape::Any));

static ROUTE: Object = Object {
    name: "a route",
    keys: &[&[
        Key::new("when", &Shape::Object(&REQUEST), "Which requests; all where nothing is said."),
        Key::new(
            "reply",
            &Shape::OneOrMany(&Shape::Object(&REPLY)),
            "What they get; of a list each once, and then the last.",
        )
        .required(),
    ]],
};

static REQUEST: Object = Object { name: "a request", keys: &[&REQUEST_KEYS] };

/// What can be looked at in a request over HTTP.
pub(super) static REQUEST_KEYS: [Key; 6] = [
    Key::new("method", &Shape::Any, "Its method, as GET."),
    Key::new("path", &Shape::Any, "Its path, without the query."),
    Key::new("query", &Shape::Any, "What its query has, by name."),
    Key::new("headers", &Shape::Any, "Its headers, by name."),
    Key::new("body", &Shape::Any, "Its body, read as JSON where it is."),
    Key::new("text", &Shape::Any, "Its body, as a text."),
];

static REPLY: Object = Object {
    name: "a reply",
    keys: &[&[
        Key::new("status", &Shape::Integer(200), "Its status; 200 where nothing is said."),
        Key::new("headers", &Shape::Map(&Shape::Text), "Its headers."),
        Key::new("json", &Shape::Any, "Its body as a value."),
        Key::new("text", &Shape::Text, "Its body as a text."),
        Key::new("delay", &Shape::Duration, "How long it takes."),
        Key::new("fault", &Shape::Object(&FAULT), "What goes wrong with it."),
        Key::new("times", &Shape::Integer(1), "How often it is given."),
    ]],
};

static FAULT: Object = Object {
    name: "a fault of a reply",
    keys: &[&[
        Key::new(
            "disconnect",
            &Shape::Word(&["before", "middle"]),
            "The connection ends before the reply, or in the middle of its body.",
        ),
        Key::new("silent", &Shape::Bool, "No reply ever comes; only `true` makes sense."),
        Key::new("slow", &Shape::Integer(1), "Its body comes by so many bytes a second."),
    ]],
};

//! The top of a script.

use sparring_script::{Key, Object, Shape};

use super::WIRE;
use super::entries::{COMPLETION, PROMPT, RESOURCE, TEMPLATE, TOOL};
use super::oauth::OAUTH;
use super::step::TIMER;

pub(crate) static SCRIPT: Object = Object {
    name: "a script",
    keys: &[&[
        Key::new("server", &Shape::Object(&SERVER), "Who the server says it is."),
        Key::new("instructions", &Shape::Text, "What the server says about its use."),
        Key::new("protocol", &PROTOCOL, "The revisions it speaks; all where nothing is said."),
        Key::new(
            "capabilities",
            &WIRE,
            "What it declares beyond or instead of what follows from the script; false takes one away.",
        ),
        Key::new(
            "vars",
            &Shape::Map(&Shape::Any),
            "Values for `${vars.NAME}`; `--var` sets others.",
        ),
        Key::new(
            "seed",
            &Shape::Integer(0),
            "Where `${random…}` and ranges of delays begin, for the same run again.",
        ),
        Key::new("page_size", &Shape::Integer(1), "How many entries a page of a list has."),
        Key::new(
            "cache",
            &Shape::Object(&CACHE),
            "How long lists and resources may be kept, since 2026-07-28.",
        ),
        Key::new("auth", &Shape::Object(&AUTH), "Who may come in over HTTP."),
        Key::new(
            "control",
            &Shape::Object(&CONTROL),
            "Who may control the mock over HTTP, below /_spar/.",
        ),
        Key::new("paths", &Shape::Object(&PATHS), "Where the server is over HTTP."),
        Key::new("tools", &Shape::List(&Shape::Object(&TOOL)), "Its tools."),
        Key::new("resources", &Shape::List(&Shape::Object(&RESOURCE)), "Its resources."),
        Key::new("templates", &Shape::List(&Shape::Object(&TEMPLATE)), "Its resource templates."),
        Key::new("prompts", &Shape::List(&Shape::Object(&PROMPT)), "Its prompts."),
        Key::new(
            "completions",
            &Shape::List(&Shape::Object(&COMPLETION)),
            "What it completes arguments with.",
        ),
        Key::new(
            "timers",
            &Shape::List(&Shape::Object(&TIMER)),
            "What happens by itself, in time.",
        ),
        Key::new(
            "mcp_interactions",
            &Shape::List(&WIRE),
            "The tool `get_data` and what it answers, turn by turn, to each test case; without any, cases bring their own.",
        ),
    ]],
};

static PROTOCOL: Shape = Shape::OneOrMany(&Shape::Word(&[
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
]));

static SERVER: Object = Object {
    name: "the server",
    keys: &[&[
        Key::new("name", &Shape::Text, "Its name.").required(),
        Key::new("version", &Shape::Text, "Its version; 0.0.0 where nothing is said."),
        Key::new("title", &Shape::Text, "Its name for people."),
        Key::new("description", &Shape::Text, "What it is."),
        Key::new("website_url", &Shape::Text, "Where more about it stands."),
        Key::new("icons", &Shape::List(&WIRE), "Its icons."),
    ]],
};

pub(super) static CACHE: Object = Object {
    name: "a caching hint",
    keys: &[&[
        Key::new("ttl", &Shape::Duration, "How long a result may be kept.").required(),
        Key::new(
            "scope",
            &Shape::Word(&["public", "private"]),
            "For whom; private where nothing is said.",
        ),
    ]],
};

static AUTH: Object = Object {
    name: "the authorization",
    keys: &[&[
        Key::new("bearer", &Shape::OneOrMany(&Shape::Text), "The bearer tokens that are accepted."),
        Key::new(
            "basic",
            &Shape::Map(&Shape::Text),
            "The users that are accepted, with their passwords.",
        ),
        Key::new(
            "oauth",
            &Shape::Object(&OAUTH),
            "An issuer beside the mock, whose tokens are accepted.",
        ),
    ]],
};

static CONTROL: Object = Object {
    name: "the control",
    keys: &[&[
        Key::new(
            "token",
            &Shape::Text,
            "The bearer token that it asks for; none where nothing is said.",
        ),
        Key::new(
            "anywhere",
            &Shape::Bool,
            "Whether it is there although other machines can reach the server.",
        ),
    ]],
};

static PATHS: Object = Object {
    name: "the paths",
    keys: &[&[
        Key::new("mcp", &Shape::Text, "Where Streamable HTTP is; /mcp where nothing is said."),
        Key::new("sse", &Shape::Text, "Where HTTP+SSE begins; /sse where nothing is said."),
        Key::new(
            "messages",
            &Shape::Text,
            "Where HTTP+SSE takes messages; /messages where nothing is said.",
        ),
    ]],
};

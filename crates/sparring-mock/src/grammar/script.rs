//! Top-level keys of a script.

use sparring_script::{Key, Object, Shape};

use super::WIRE_MAP;
use super::entries::{COMPLETION, PROMPT, RESOURCE, TEMPLATE, TOOL};
use super::oauth::OAUTH;
use super::step::TIMER;

pub(crate) static SCRIPT: Object = Object {
    name: "a script",
    keys: &[&[
        Key::new("server", &Shape::Object(&SERVER), "Name and version of the server."),
        Key::new("instructions", &Shape::String, "The instructions of the server."),
        Key::new("protocol", &PROTOCOL, "The protocol revisions that it supports (default: all)."),
        Key::new(
            "capabilities",
            &WIRE_MAP,
            "Capabilities to add to those that follow from the script, or to replace; `false` removes one.",
        ),
        Key::new(
            "vars",
            &Shape::Map(&Shape::Any),
            "Values for `${vars.NAME}`; `--var` overrides them.",
        ),
        Key::new(
            "seed",
            &Shape::Integer(0),
            "The seed of `${random…}` and of random delays, for repeatable runs.",
        ),
        Key::new("page_size", &Shape::Integer(1), "The number of entries on a page of a list."),
        Key::new(
            "cache",
            &Shape::Object(&CACHE),
            "The caching hint of lists and resources, since 2026-07-28.",
        ),
        Key::new(
            "auth",
            &Shape::NonEmpty(&Shape::Object(&AUTH)),
            "The accepted credentials over HTTP.",
        ),
        Key::new(
            "control",
            &Shape::Object(&CONTROL),
            "Access to the control endpoints over HTTP, below /_spar/.",
        ),
        Key::new("paths", &Shape::Object(&PATHS), "The paths of the server over HTTP."),
        Key::new("tools", &Shape::List(&Shape::Object(&TOOL)), "Its tools."),
        Key::new("resources", &Shape::List(&Shape::Object(&RESOURCE)), "Its resources."),
        Key::new("templates", &Shape::List(&Shape::Object(&TEMPLATE)), "Its resource templates."),
        Key::new("prompts", &Shape::List(&Shape::Object(&PROMPT)), "Its prompts."),
        Key::new(
            "completions",
            &Shape::List(&Shape::Object(&COMPLETION)),
            "Its completions of arguments.",
        ),
        Key::new("timers", &Shape::List(&Shape::Object(&TIMER)), "Steps that run on timers."),
        Key::new(
            "mcp_interactions",
            &Shape::List(&WIRE_MAP),
            "Responses of the tool `get_data` for each test case. If the list is empty, each case must contain its own.",
        ),
    ]],
};

static PROTOCOL: Shape = Shape::OneOrMany(&Shape::Keyword(&[
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
]));

static SERVER: Object = Object {
    name: "the server",
    keys: &[&[
        Key::new("name", &Shape::String, "Its name.").required(),
        Key::new("version", &Shape::String, "Its version (default: 0.0.0)."),
        Key::new("title", &Shape::String, "Its display name."),
        Key::new("description", &Shape::String, "Its description."),
        Key::new("website_url", &Shape::String, "Its website."),
        Key::new("icons", &Shape::List(&WIRE_MAP), "Its icons."),
    ]],
};

pub(super) static CACHE: Object = Object {
    name: "a caching hint",
    keys: &[&[
        Key::new("ttl", &Shape::Duration, "The time that a result may be cached.").required(),
        Key::new(
            "scope",
            &Shape::Keyword(&["public", "private"]),
            "The scope of the cache: shared between users, or private (default: private).",
        ),
    ]],
};

static AUTH: Object = Object {
    name: "the authorization",
    keys: &[&[
        Key::new("bearer", &Shape::OneOrMany(&Shape::String), "The accepted bearer tokens."),
        Key::new(
            "basic",
            &Shape::NonEmpty(&Shape::Map(&Shape::String)),
            "The accepted users and their passwords.",
        ),
        Key::new(
            "oauth",
            &Shape::Object(&OAUTH),
            "A token issuer on the mock, whose tokens are accepted.",
        ),
    ]],
};

static CONTROL: Object = Object {
    name: "the control",
    keys: &[&[
        Key::new(
            "token",
            &Shape::String,
            "The required bearer token (default: the credentials of `auth`, if any).",
        ),
        Key::new(
            "anywhere",
            &Shape::Bool,
            "If true, other machines may use it; needs `token` (default: false).",
        ),
    ]],
};

static PATHS: Object = Object {
    name: "the paths",
    keys: &[&[
        Key::new("mcp", &Shape::String, "The path of Streamable HTTP (default: /mcp)."),
        Key::new("sse", &Shape::String, "The path of the HTTP+SSE stream (default: /sse)."),
        Key::new("messages", &Shape::String, "The path of HTTP+SSE messages (default: /messages)."),
    ]],
};

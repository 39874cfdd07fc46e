//! The language of `mcp.yaml` as data: every key there is, with what it is for.
//!
//! What a key does stands in `entry`; a key that is not here is unknown.

use serde_json::Value;
use sparring_script::{Key, Object, Shape, grammar};

/// The JSON Schema of `mcp.yaml`, for editors.
pub fn schema() -> Value {
    grammar::schema("The servers of Sparring", &CONFIG)
}

/// The page of all keys of `mcp.yaml`, for the docs.
pub fn reference() -> String {
    let intro = "Made from the language itself; [host.md](host.md) explains it. Keys may also be \
                 written in camelCase, `autoConnect` for `auto_connect`.";
    grammar::page("All keys of mcp.yaml", intro, &CONFIG)
}

/// A whole file.
pub(super) static CONFIG: Object = Object {
    name: "a config file",
    keys: &[&[
        Key::new("servers", &Shape::Map(&Shape::Object(&SERVER)), "The servers, by name."),
        Key::new(
            "permissions",
            &Shape::Object(&PERMISSIONS),
            "What may be called of all servers; `mcp__server__tool` is a tool, and a `*` at the \
             end stands for any end.",
        ),
    ]],
};

static TEXTS: Shape = Shape::List(&Shape::Text);

/// A server's entry.
pub(super) static SERVER: Object = Object {
    name: "a server",
    keys: &[
        &[
            Key::new(
                "transport",
                &Shape::Word(&["stdio", "http", "sse"]),
                "The way to the server; where nothing is said, it follows from `command` or `url`.",
            ),
            Key::new("command", &Shape::Text, "The program to start."),
            Key::new("args", &TEXTS, "The arguments of `command`."),
            Key::new(
                "env",
                &Shape::Map(&Shape::Text),
                "Variables of the environment of `command`.",
            ),
            Key::new(
                "pass_env",
                &TEXTS,
                "Names of variables that `command` gets of ours, beside the few that all get.",
            ),
            Key::new(
                "cwd",
                &Shape::Text,
                "The folder of `command`; relative to the project, or in the user's file to the \
                 home folder.",
            ),
            Key::new(
                "container",
                &Shape::Text,
                "The container that `command` is run in, by docker or podman; `cwd` is one in \
                 there.",
            ),
            Key::new(
                "engine",
                &Shape::Text,
                "The engine of `container` and its own flags, as `sudo docker`; the first of \
                 docker and podman that has it where nothing is said.",
            ),
            Key::new("url", &Shape::Text, "Where the server is over HTTP."),
            Key::new("headers", &Shape::Map(&Shape::Text), "Headers of every request to `url`."),
            Key::new("auth", &Shape::Object(&AUTH), "Who to say at `url` that we are."),
        ],
        &[
            Key::new(
                "protocol",
                &Shape::Word(&[
                    "auto",
                    "2024-11-05",
                    "2025-03-26",
                    "2025-06-18",
                    "2025-11-25",
                    "2026-07-28",
                ]),
                "The revision to speak; the newest that the server has where nothing is said.",
            ),
            Key::new(
                "enabled",
                &Shape::Bool,
                "Whether it may be connected to at all; yes where nothing is said.",
            ),
            Key::new(
                "auto_connect",
                &Shape::Bool,
                "Whether it is connected to with all others; yes where nothing is said.",
            ),
            Key::new("settings", &Shape::Object(&SETTINGS), "How patient to be with it."),
            Key::new(
                "permissions",
                &Shape::Object(&PERMISSIONS),
                "What may be called of this server; here `get_*` alone is one of its tools.",
            ),
            Key::new(
                "max_output",
                &Shape::Text,
                "The longest message that is read from it, as `1MiB`; 8MiB where nothing is said.",
            ),
        ],
    ],
};

static SETTINGS: Object = Object {
    name: "the settings",
    keys: &[&[
        Key::new(
            "timeout",
            &Shape::Duration,
            "How long connecting may take, and then each request; 30s where nothing is said.",
        ),
        Key::new(
            "reconnect_attempts",
            &Shape::Integer(0),
            "How often it is tried to come back to a server that is lost; 3 where nothing is said.",
        ),
        Key::new(
            "reconnect_delay",
            &Shape::Duration,
            "How long to wait before the first try, doubled before each other; 1s where nothing \
             is said.",
        ),
        Key::new("auto_connect", &Shape::Bool, "The same as `auto_connect` beside `settings`."),
    ]],
};

static PERMISSIONS: Object = Object {
    name: "the permissions",
    keys: &[&[
        Key::new("allow", &TEXTS, "What is called."),
        Key::new("ask", &TEXTS, "What is called after somebody was asked."),
        Key::new("deny", &TEXTS, "What is never called; it goes before the others."),
    ]],
};

static AUTH: Object = Object {
    name: "the credentials",
    keys: &[&[
        Key::new("bearer", &Shape::Text, "A token to show."),
        Key::new("basic", &Shape::Text, "User and password, as `user:${PASSWORD}`."),
        Key::new(
            "oauth",
            &Shape::Either(&[Shape::Bool, Shape::Object(&OAUTH)]),
            "`true` to log in by OAuth with a browser, or a map that says more.",
        ),
    ]],
};

static OAUTH: Object = Object {
    name: "the OAuth settings",
    keys: &[&[
        Key::new(
            "grant",
            &Shape::Word(&["code", "client_credentials"]),
            "On whose behalf: a person's who logs in, which it is where nothing is said, or the \
             client's own.",
        ),
        Key::new("client", &Shape::Text, "The client's id, if it is known already."),
        Key::new("secret", &Shape::Text, "The secret of `client`."),
        Key::new("key", &Shape::Text, "A PEM file with the client's key, instead of a secret."),
        Key::new("issuer", &Shape::Text, "The authorization server that knows `client`."),
        Key::new("document", &Shape::Text, "The https URL of a document about the client."),
        Key::new("scopes", &TEXTS, "What to ask for, instead of what the server says."),
        Key::new(
            "redirect",
            &Shape::Text,
            "Where the browser comes back to, on this machine; `http://127.0.0.1/callback` where \
             nothing is said.",
        ),
        Key::new("timeout", &Shape::Duration, "How long logging in may take; 5m by default."),
    ]],
};

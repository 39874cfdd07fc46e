//! The grammar of `mcp.yaml` as data: every key with its description.
//!
//! The `entry` module reads the keys; a key that is not here is unknown.

use serde_json::Value;
use sparring_script::{Key, Object, Shape, grammar};

/// The JSON Schema of `mcp.yaml`, for editors.
pub fn schema() -> Value {
    grammar::schema("The servers of Sparring", &CONFIG)
}

/// The reference page of all keys of `mcp.yaml`, for the docs.
pub fn reference() -> String {
    let intro = "Generated from the grammar; [host.md](host.md) explains it. Keys may also be \
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
            "Permission rules for the tools of all servers; `mcp__server__tool` is a tool, and a \
             `*` at the end matches any rest.",
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
                "The transport (default: stdio with `command`, http with `url`).",
            ),
            Key::new("command", &Shape::Text, "The program to start."),
            Key::new("args", &TEXTS, "The arguments of `command`."),
            Key::new("env", &Shape::Map(&Shape::Text), "Environment variables of `command`."),
            Key::new(
                "pass_env",
                &TEXTS,
                "Names of our environment variables that `command` gets, beside a few that all get.",
            ),
            Key::new(
                "cwd",
                &Shape::Text,
                "The working folder of `command`; relative to the project, or in the user's file \
                 to the home folder.",
            ),
            Key::new(
                "container",
                &Shape::Text,
                "The container to run `command` in, by docker or podman; `cwd` is a folder in the \
                 container.",
            ),
            Key::new(
                "engine",
                &Shape::Text,
                "The engine of `container` with its own flags, such as `sudo docker` (default: \
                 the first of docker and podman that has the container).",
            ),
            Key::new("url", &Shape::Text, "The URL of the server."),
            Key::new(
                "headers",
                &Shape::Map(&Shape::Text),
                "HTTP headers of every request to `url`.",
            ),
            Key::new("auth", &Shape::Object(&AUTH), "The credentials for `url`."),
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
                "The revision to use (default: the newest that the server supports).",
            ),
            Key::new(
                "enabled",
                &Shape::Bool,
                "Whether the server may be connected (default: true).",
            ),
            Key::new(
                "auto_connect",
                &Shape::Bool,
                "Whether the server is connected at startup (default: true).",
            ),
            Key::new("settings", &Shape::Object(&SETTINGS), "Timeouts and reconnects."),
            Key::new(
                "permissions",
                &Shape::Object(&PERMISSIONS),
                "Permission rules for the tools of this server; here `get_*` alone names its tools.",
            ),
            Key::new(
                "max_output",
                &Shape::Text,
                "The maximum size of a message from the server, such as `1MiB` (default: 8MiB).",
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
            "The timeout of connecting and of each request (default: 30s).",
        ),
        Key::new(
            "reconnect_attempts",
            &Shape::Integer(0),
            "How often to try to reconnect after the server was lost (default: 3).",
        ),
        Key::new(
            "reconnect_delay",
            &Shape::Duration,
            "The delay before the first reconnect; it doubles with each further one (default: 1s).",
        ),
        Key::new("auto_connect", &Shape::Bool, "The same as `auto_connect` outside of `settings`."),
    ]],
};

static PERMISSIONS: Object = Object {
    name: "the permissions",
    keys: &[&[
        Key::new("allow", &TEXTS, "Tools that may be called."),
        Key::new("ask", &TEXTS, "Tools that need a confirmation."),
        Key::new("deny", &TEXTS, "Tools that are never called; it overrides the others."),
    ]],
};

static AUTH: Object = Object {
    name: "the credentials",
    keys: &[&[
        Key::new("bearer", &Shape::Text, "A bearer token."),
        Key::new("basic", &Shape::Text, "User and password, as `user:${PASSWORD}`."),
        Key::new(
            "oauth",
            &Shape::Either(&[Shape::Bool, Shape::Object(&OAUTH)]),
            "`true` to log in by OAuth in a browser, or a map with settings.",
        ),
    ]],
};

static OAUTH: Object = Object {
    name: "the OAuth settings",
    keys: &[&[
        Key::new(
            "grant",
            &Shape::Word(&["code", "client_credentials"]),
            "The grant type: `code` for a person who logs in, `client_credentials` for the client \
             itself (default: code).",
        ),
        Key::new("client", &Shape::Text, "The id of a registered client."),
        Key::new("secret", &Shape::Text, "The secret of `client`."),
        Key::new("key", &Shape::Text, "A PEM file with the client's key, instead of a secret."),
        Key::new(
            "issuer",
            &Shape::Text,
            "The authorization server at which `client` is registered.",
        ),
        Key::new("document", &Shape::Text, "The https URL of a client ID metadata document."),
        Key::new("scopes", &TEXTS, "The scopes to request (default: those that the server names)."),
        Key::new(
            "redirect",
            &Shape::Text,
            "The redirect URL on this machine (default: `http://127.0.0.1/callback`).",
        ),
        Key::new("timeout", &Shape::Duration, "The timeout of logging in (default: 5m)."),
    ]],
};

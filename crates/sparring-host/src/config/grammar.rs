//! The grammar of `mcp.yaml` as data: every key with its description.
//!
//! The `entry` module reads the keys; a key that is not here is unknown.

use serde_json::Value;
use sparring_script::{Key, Object, Shape, grammar};

/// The JSON Schema of `mcp.yaml`, for editors.
pub fn schema() -> Value {
    grammar::json_schema("The servers of Sparring", &CONFIG)
}

/// The reference page of all keys of `mcp.yaml`, for the docs.
pub fn reference() -> String {
    let intro = "Generated from the grammar; [host.md](host.md) explains it. Keys may also be \
                 written in camelCase, `autoConnect` for `auto_connect`.";
    grammar::render_key_reference("All keys of mcp.yaml", intro, &CONFIG)
}

/// A whole file.
pub(super) static CONFIG: Object = Object {
    name: "a config file",
    keys: &[&[
        Key::new("servers", &Shape::Map(&Shape::Object(&SERVER)), "The servers, by name."),
        Key::new(
            "roots",
            &TEXTS,
            "Folders that servers may work in, which `spar` answers `roots/list` with (default: \
             none). Relative to the project, or in the user's file to the home folder.",
        ),
        Key::new(
            "permissions",
            &Shape::Object(&PERMISSIONS),
            "Permission rules for the tools of all servers; `mcp__server__tool` names a tool, and \
             a `*` at the end matches any rest.",
        ),
    ]],
};

static TEXTS: Shape = Shape::List(&Shape::String);

/// A server's entry.
pub(super) static SERVER: Object = Object {
    name: "a server",
    keys: &[
        &[
            Key::new(
                "transport",
                &Shape::Keyword(&["stdio", "http", "sse"]),
                "The transport (default: stdio with `command`, http with `url`).",
            ),
            Key::new("command", &Shape::String, "The program to start."),
            Key::new("args", &TEXTS, "The arguments of `command`."),
            Key::new("env", &Shape::Map(&Shape::String), "Environment variables of `command`."),
            Key::new(
                "env_file",
                &Shape::String,
                "A file with more variables, `NAME=value` lines; `env` overrides them. Relative \
                 like `cwd`.",
            ),
            Key::new(
                "pass_env",
                &TEXTS,
                "Variables of Sparring's environment that `command` gets, beside the default ones.",
            ),
            Key::new(
                "cwd",
                &Shape::String,
                "The working folder of `command`; relative to the project, or in the user's file \
                 to the home folder.",
            ),
            Key::new(
                "container",
                &Shape::String,
                "The docker or podman container to run `command` in; `cwd` is a folder in the \
                 container.",
            ),
            Key::new(
                "engine",
                &Shape::String,
                "The container engine with its flags, such as `sudo docker` (default: \
                 the first of docker and podman that has the container).",
            ),
            Key::new("url", &Shape::String, "The URL of the server."),
            Key::new(
                "headers",
                &Shape::Map(&Shape::String),
                "HTTP headers of every request to `url`.",
            ),
            Key::new("auth", &Shape::Object(&AUTH), "The credentials for `url`."),
        ],
        &[
            Key::new(
                "protocol",
                &Shape::Keyword(&[
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
                "Enables the server; a disabled one is never connected (default: true).",
            ),
            Key::new(
                "auto_connect",
                &Shape::Bool,
                "Connect the server at startup (default: true).",
            ),
            Key::new("settings", &Shape::Object(&SETTINGS), "Timeouts and reconnects."),
            Key::new(
                "permissions",
                &Shape::Object(&PERMISSIONS),
                "Permission rules for the tools of this server; patterns need no prefix: `get_*`.",
            ),
            Key::new(
                "max_output",
                &Shape::String,
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
            "The maximum number of reconnects after the server was lost (default: 3).",
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
        Key::new("deny", &TEXTS, "Tools that are never called; overrides `allow` and `ask`."),
    ]],
};

static AUTH: Object = Object {
    name: "the credentials",
    keys: &[&[
        Key::new("bearer", &Shape::String, "A bearer token."),
        Key::new("basic", &Shape::String, "User and password, such as `user:${PASSWORD}`."),
        Key::new(
            "oauth",
            &Shape::AnyOf(&[Shape::Bool, Shape::Object(&OAUTH)]),
            "`true` to log in by OAuth in a browser, or a map with settings.",
        ),
    ]],
};

static OAUTH: Object = Object {
    name: "the OAuth settings",
    keys: &[&[
        Key::new(
            "grant",
            &Shape::Keyword(&["code", "client_credentials"]),
            "The grant type: `code` if a person logs in, `client_credentials` if the client \
             authenticates itself (default: code).",
        ),
        Key::new("client", &Shape::String, "The id of a registered client."),
        Key::new("secret", &Shape::String, "The secret of `client`."),
        Key::new("key", &Shape::String, "A PEM file with the client's key, instead of a secret."),
        Key::new(
            "issuer",
            &Shape::String,
            "The authorization server at which `client` is registered.",
        ),
        Key::new("document", &Shape::String, "The https URL of a client ID metadata document."),
        Key::new("scopes", &TEXTS, "The scopes to request (default: those that the server names)."),
        Key::new(
            "redirect",
            &Shape::String,
            "The redirect URL on this machine (default: `http://127.0.0.1/callback`).",
        ),
        Key::new("timeout", &Shape::Duration, "The timeout of logging in (default: 5m)."),
        Key::new(
            "local",
            &Shape::Bool,
            "`true` to let the server name authorization servers that are nearer than itself: in \
             a private network, on the local link, on this machine (default: `false`).",
        ),
    ]],
};

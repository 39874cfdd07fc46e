//! The keys of a server under test.

use sparring_script::{Key, Object, Shape};

static PROTOCOL: Shape = Shape::OneOrMany(&Shape::Keyword(&[
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
]));

static TRANSPORT: Shape = Shape::OneOrMany(&Shape::Keyword(&["memory", "stdio", "http", "sse"]));

/// The keys of a command.
pub(super) static COMMAND: [Key; 4] = [
    Key::new(
        "command",
        &Shape::String,
        "The program. Without `args`, the words after it are its arguments.",
    )
    .synonyms(&["cmd", "exec", "run"]),
    Key::new("args", &Shape::List(&Shape::String), "The arguments of `command`.")
        .synonyms(&["arguments"]),
    Key::new(
        "env",
        &Shape::Map(&Shape::String),
        "Environment variables of `command`, in addition to those of spar.",
    )
    .synonyms(&["environment"]),
    Key::new(
        "cwd",
        &Shape::String,
        "The working directory of `command` (default: the suite's folder).",
    )
    .synonyms(&["dir", "directory", "workdir"]),
];

static READY: Object = Object {
    name: "a readiness check",
    keys: &[&[
        Key::new(
            "path",
            &Shape::String,
            "The path of the health check: a GET of it must have a status from 200 to 299 \
             (default: accepted connections are enough).",
        ),
        Key::new(
            "within",
            &Shape::Duration,
            "The maximum time until the server is ready (default: `timeout`).",
        ),
    ]],
};

pub(crate) static SERVER: Object = Object {
    name: "a server",
    keys: &[
        &COMMAND,
        &[
            Key::new(
                "container",
                &Shape::String,
                "The container in which docker or podman runs `command`. `cwd` is a folder in it.",
            ),
            Key::new(
                "engine",
                &Shape::String,
                "The command line of the container engine, such as `sudo docker` (default: the first of \
                 docker and podman that has the container).",
            ),
            Key::new(
                "ignore_exit_status",
                &Shape::Bool,
                "If true, a failing exit status of `command` at the end of its input is not a failure.",
            ),
            Key::new(
                "url",
                &Shape::String,
                "The URL of a server over HTTP. With `command`, spar starts the server; `${port}` is a free port.",
            )
            .synonyms(&["uri", "endpoint"]),
            Key::new("bearer", &Shape::String, "The bearer token for `url`.").synonyms(&["token"]),
            Key::new("headers", &Shape::Map(&Shape::String), "Additional headers for `url`."),
            Key::new(
                "ready",
                &Shape::Object(&READY),
                "The condition under which a `command` with `url` is ready for tests.",
            )
            .synonyms(&["health", "wait_for"]),
            Key::new("mock", &Shape::String, "The script of a mock."),
            Key::new("vars", &Shape::Map(&Shape::Any), "Variables of the script of `mock`."),
            Key::new(
                "protocol",
                &PROTOCOL,
                "The revisions in which the tests run, once in each (default: the newest).",
            )
            .synonyms(&["revision", "version", "protocol_version"]),
            Key::new(
                "transport",
                &TRANSPORT,
                "The transports of `mock`. The tests run once over each (default: memory).",
            ),
            Key::new(
                "process",
                &Shape::Bool,
                "If true, a mock over HTTP is a separate process (default: false).",
            ),
            Key::new(
                "concurrency",
                &Shape::Integer(1),
                "The maximum number of its tests that run at once (default: 1).",
            ),
            Key::new(
                "capabilities",
                &Shape::Map(&Shape::Any),
                "The capabilities that the client declares, in the revisions that have them (default: those \
                 that the answers need).",
            ),
            Key::new(
                "timeout",
                &Shape::Duration,
                "The timeout for connecting, and for each request (default: 30s).",
            ),
        ],
    ],
};

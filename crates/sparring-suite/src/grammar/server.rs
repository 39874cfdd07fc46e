//! A server under test: how it is started or reached.

use sparring_script::{Key, Object, Shape};

static PROTOCOL: Shape = Shape::OneOrMany(&Shape::Word(&[
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
]));

static TRANSPORT: Shape = Shape::OneOrMany(&Shape::Word(&["memory", "stdio", "http", "sse"]));

/// A program to start.
pub(super) static COMMAND: [Key; 4] = [
    Key::new(
        "command",
        &Shape::Text,
        "The program; without `args`, words after it are its arguments.",
    ),
    Key::new("args", &Shape::List(&Shape::Text), "The arguments of `command`."),
    Key::new(
        "env",
        &Shape::Map(&Shape::Text),
        "Variables of the environment of `command`, besides ours.",
    ),
    Key::new("cwd", &Shape::Text, "The folder of `command`; the suite's where nothing is said."),
];

pub(crate) static SERVER: Object = Object {
    name: "a server",
    keys: &[
        &COMMAND,
        &[
            Key::new(
                "container",
                &Shape::Text,
                "The container that `command` is run in, by docker or podman; `cwd` is one in there.",
            ),
            Key::new(
                "engine",
                &Shape::Text,
                "The engine of `container` and its own flags, as `sudo docker`; the first of \
                 docker and podman that has it where nothing is said.",
            ),
            Key::new("url", &Shape::Text, "Where the server is over HTTP."),
            Key::new("bearer", &Shape::Text, "The token to show at `url`."),
            Key::new("headers", &Shape::Map(&Shape::Text), "More headers for `url`."),
            Key::new("mock", &Shape::Text, "The script of a mock, which is served in memory."),
            Key::new("vars", &Shape::Map(&Shape::Any), "Variables of the script of `mock`."),
            Key::new(
                "protocol",
                &PROTOCOL,
                "The revisions to run the tests in, once for each; the newest where nothing is said.",
            ),
            Key::new(
                "transport",
                &TRANSPORT,
                "How `mock` is served, the tests run once for each; memory where nothing is said.",
            ),
            Key::new(
                "concurrency",
                &Shape::Integer(1),
                "How many of its tests run at once; one where nothing is said.",
            ),
            Key::new(
                "capabilities",
                &Shape::Map(&Shape::Any),
                "What the client declares, instead of what follows from the answers.",
            ),
            Key::new(
                "timeout",
                &Shape::Duration,
                "How long connecting may take, and then each request; 30s where nothing is said.",
            ),
        ],
    ],
};

//! The top of a suite, and its tests.

use sparring_script::{Key, Object, Shape};

use super::agent::{AGENT, BROUGHT};
use super::mocks::MOCK;
use super::server::SERVER;
use super::step::{BESIDE, STEP, VERBS};

pub(crate) static SUITE: Object = Object {
    name: "a suite",
    keys: &[
        &BROUGHT,
        &[
            Key::new(
                "servers",
                &Shape::Map(&Shape::Object(&SERVER)),
                "The servers under test, by name; the first is that of every test that names none.",
            ),
            Key::new(
                "agent",
                &Shape::Object(&AGENT),
                "The agent under test, of all tests with `input`.",
            ),
            Key::new(
                "mocks",
                &Shape::Map(&Shape::Object(&MOCK)),
                "Stand-ins by name, started for this suite; `${mocks.NAME.url}` is where one is.",
            ),
            Key::new(
                "needs",
                &Shape::Object(&NEEDS),
                "What must be there; else the suite is skipped.",
            ),
            Key::new("tests", &Shape::List(&Shape::Object(&TEST)), "The tests.").required(),
        ],
    ],
};

static NEEDS: Object = Object {
    name: "a need",
    keys: &[&[
        Key::new("programs", &Shape::OneOrMany(&Shape::Text), "Programs, by name or path."),
        Key::new("env", &Shape::OneOrMany(&Shape::Text), "Variables of the environment."),
        Key::new("files", &Shape::OneOrMany(&Shape::Text), "Files or folders, from the suite on."),
    ]],
};

static TEST: Object = Object {
    name: "a test",
    keys: &[
        &[
            Key::new(
                "name",
                &Shape::Text,
                "What it shows; no other test of the file has this name.",
            )
            .required(),
            Key::new("server", &Shape::Text, "The server that it is about."),
            Key::new("tags", &Shape::OneOrMany(&Shape::Text), "Words to choose it by, with --tag."),
            Key::new("skip", &Shape::Text, "Why it is not run."),
            Key::new("only", &Shape::Bool, "Whether all tests without `only` are left out."),
            Key::new("retry", &Shape::Integer(0), "How often it is tried again when it fails."),
            Key::new("timeout", &Shape::Duration, "How long it may take as a whole."),
            Key::new(
                "isolate",
                &Shape::Bool,
                "Whether the server is started for it alone, and ended after it.",
            ),
            Key::new(
                "cases",
                &Shape::List(&Shape::Map(&Shape::Any)),
                "A table: the test is run once for each row, whose columns are `${NAME}`.",
            ),
            Key::new(
                "steps",
                &Shape::List(&Shape::Object(&STEP)),
                "Several steps; a test of one step has its keys itself.",
            ),
        ],
        &BROUGHT,
        &VERBS,
        &BESIDE,
    ],
};

//! The top of a suite, and its tests.

use sparring_mock::TURNS;
use sparring_script::{Key, Object, Shape};

use super::agent::{AGENT, BROUGHT};
use super::expect::SNAPSHOT;
use super::mocks::MOCK;
use super::server::SERVER;
use super::step::{BESIDE, STEP, VERBS};

pub(crate) static SUITE: Object = Object {
    name: "a suite",
    keys: &[
        &SHARING,
        &AROUND,
        &BROUGHT,
        &[
            Key::new(
                "agent",
                &Shape::Object(&AGENT),
                "The agent under test, of all tests with `input`.",
            ),
            Key::new(
                "needs",
                &Shape::Object(&NEEDS),
                "What must be there; else the suite is skipped.",
            ),
            Key::new(
                "snapshots",
                &Shape::Object(&SNAPSHOT),
                "What is not kept in any `snapshot`, besides what each of them says.",
            ),
            Key::new(
                "watch",
                &Shape::OneOrMany(&Shape::Text),
                "Files whose change is a reason to run it again, with --watch: `src/**/*.py`.",
            ),
            Key::new("tests", &Shape::List(&Shape::Object(&TEST)), "The tests.").required(),
        ],
    ],
};

/// A file that suites include.
pub(crate) static SHARED: Object = Object { name: "a file that is included", keys: &[&SHARING] };

/// What a suite may have from files that it includes.
static SHARING: [Key; 4] = [
    Key::new(
        "include",
        &Shape::OneOrMany(&Shape::Text),
        "Files whose `servers`, `mocks` and `fragments` are there too, from this file on.",
    ),
    Key::new(
        "servers",
        &Shape::Map(&Shape::Object(&SERVER)),
        "The servers under test, by name; the first is that of every test that names none.",
    ),
    Key::new(
        "mocks",
        &Shape::Map(&Shape::Object(&MOCK)),
        "Stand-ins by name, started for this suite; `${mocks.NAME.url}` is where one is.",
    ),
    Key::new(
        "fragments",
        &Shape::Map(&Shape::List(&Shape::Object(&STEP))),
        "Steps under a name, for `use`.",
    ),
];

static NEEDS: Object = Object {
    name: "a need",
    keys: &[&[
        Key::new("programs", &Shape::OneOrMany(&Shape::Text), "Programs, by name or path."),
        Key::new("env", &Shape::OneOrMany(&Shape::Text), "Variables of the environment."),
        Key::new("files", &Shape::OneOrMany(&Shape::Text), "Files or folders, from the suite on."),
    ]],
};

/// What is done before and after.
static AROUND: [Key; 2] = [
    Key::new("setup", &Shape::List(&Shape::Object(&STEP)), "Steps that are done before."),
    Key::new(
        "teardown",
        &Shape::List(&Shape::Object(&STEP)),
        "Steps that are done afterwards, whatever failed.",
    ),
];

pub(crate) static TEST: Object = Object {
    name: "a test",
    keys: &[
        &AROUND,
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
            Key::new(
                "turns",
                &TURNS,
                "What the LLM endpoint of `mocks` answers in this test instead, turn by turn, to whoever has no turns below its `cases`.",
            ),
        ],
        &BROUGHT,
        &VERBS,
        &BESIDE,
    ],
};

//! The keys of a suite and of a test.

use sparring_mock::LLM_TEST_TURNS;
use sparring_script::{Key, Object, Shape};

use super::agent::{AGENT, INTERACTIONS_KEY};
use super::expect::SNAPSHOT;
use super::mocks::MOCK;
use super::server::SERVER;
use super::step::{STEP, STEP_KEYS, VERBS};

pub(crate) static SUITE: Object = Object {
    name: "a suite",
    keys: &[
        &SHARED_KEYS,
        &SETUP_KEYS,
        &INTERACTIONS_KEY,
        &[
            Key::new("agent", &Shape::Object(&AGENT), "The agent of all tests with `input`."),
            Key::new(
                "needs",
                &Shape::NonEmpty(&Shape::Object(&NEEDS)),
                "Prerequisites. The suite is skipped if one is missing.",
            ),
            Key::new(
                "snapshots",
                &Shape::NonEmpty(&Shape::Object(&SNAPSHOT)),
                "Rules for all snapshots of the suite.",
            ),
            Key::new(
                "watch",
                &Shape::OneOrMany(&Shape::String),
                "Files whose changes rerun the suite with --watch, such as `src/**/*.py`.",
            ),
            Key::new("tests", &Shape::List(&Shape::Object(&TEST)), "The tests.")
                .synonyms(&["test", "cases", "scenarios"])
                .required(),
        ],
    ],
};

/// The keys of an included file.
pub(crate) static SHARED: Object = Object { name: "an included file", keys: &[&SHARED_KEYS] };

/// The keys that suites and included files have.
static SHARED_KEYS: [Key; 4] = [
    Key::new(
        "include",
        &Shape::OneOrMany(&Shape::String),
        "Files whose `servers`, `mocks` and `fragments` this file uses. Paths start at this file.",
    ),
    Key::new(
        "servers",
        &Shape::Map(&Shape::Object(&SERVER)),
        "The servers under test, by name. The first is the default of every test.",
    )
    .synonyms(&["server", "targets"]),
    Key::new(
        "mocks",
        &Shape::NonEmpty(&Shape::Map(&Shape::Object(&MOCK))),
        "Mocks by name, started for this suite. `${mocks.NAME.url}` is the URL of one.",
    ),
    Key::new(
        "fragments",
        &Shape::NonEmpty(&Shape::Map(&Shape::List(&Shape::Object(&STEP)))),
        "Named steps for `use`.",
    ),
];

static NEEDS: Object = Object {
    name: "a prerequisite",
    keys: &[&[
        Key::new("programs", &Shape::OneOrMany(&Shape::String), "Programs by name or path."),
        Key::new(
            "env",
            &Shape::OneOrMany(&Shape::String),
            "Environment variables that must be set.",
        ),
        Key::new(
            "files",
            &Shape::OneOrMany(&Shape::String),
            "Files or folders, relative to the suite.",
        ),
    ]],
};

static STEPS: Shape = Shape::NonEmpty(&Shape::List(&Shape::Object(&STEP)));

/// The keys for steps before and after a suite or a test.
static SETUP_KEYS: [Key; 2] = [
    Key::new("setup", &STEPS, "Steps to run first.").synonyms(&[
        "before",
        "before_all",
        "before_each",
    ]),
    Key::new("teardown", &STEPS, "Steps to run at the end, even after a failure.").synonyms(&[
        "after",
        "after_all",
        "after_each",
        "cleanup",
    ]),
];

pub(crate) static TEST: Object = Object {
    name: "a test",
    keys: &[
        &SETUP_KEYS,
        &[
            Key::new("name", &Shape::String, "The name of the test, unique in its file.")
                .synonyms(&["title", "description", "it"])
                .required(),
            Key::new("server", &Shape::String, "The server under test."),
            Key::new("tags", &Shape::OneOrMany(&Shape::String), "Tags, for --tag.")
                .synonyms(&["labels"]),
            Key::new("skip", &Shape::String, "Skips the test for this reason.")
                .synonyms(&["disabled", "ignore"]),
            Key::new("only", &Shape::Bool, "Runs only the tests that have `only`."),
            Key::new("retry", &Shape::Integer(0), "The maximum number of retries of the test.")
                .synonyms(&["retries"]),
            Key::new("timeout", &Shape::Duration, "The timeout of the whole test."),
            Key::new("isolate", &Shape::Bool, "Starts a server for this test alone."),
            Key::new(
                "cases",
                &Shape::List(&Shape::Map(&Shape::Any)),
                "A table. The test runs once for each row, whose columns are `${NAME}`.",
            )
            .synonyms(&["table", "examples", "matrix", "parametrize"]),
            Key::new(
                "steps",
                &Shape::List(&Shape::Object(&STEP)),
                "The steps. A test with one step can have the keys of the step itself.",
            ),
            Key::new(
                "turns",
                &LLM_TEST_TURNS,
                "The turns of the LLM endpoint in this test, for conversations without turns in its `cases`; with several endpoints, by their names.",
            ),
        ],
        &INTERACTIONS_KEY,
        &VERBS,
        &STEP_KEYS,
    ],
};

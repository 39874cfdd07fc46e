//! The keys of agents and of expectations about them.

use sparring_script::{Key, Object, Shape, Subject};

use super::mocks::INTERACTIONS;
use super::server::COMMAND;
use super::subjects::{DATA, NUMBER, SCALAR, TEXT};

pub(super) static AGENT: Object = Object { name: "an agent", keys: &[&COMMAND, &AGENT_KEYS] };

static AGENT_KEYS: [Key; 2] = [
    Key::new(
        "stdin",
        &Shape::String,
        "Its stdin (default: `${input}`, unless the command uses that).",
    ),
    Key::new("timeout", &Shape::Duration, "Its timeout (default: 60s)."),
];

/// The interactions of a suite or a test.
pub(super) static INTERACTIONS_KEY: [Key; 1] = [Key::new(
    "mcp_interactions",
    &INTERACTIONS,
    "The responses of `get_data` in this test, turn by turn. The agent's input carries them.",
)];

/// The expectations of an agent step.
pub(super) static AGENT_EXPECTATIONS: [Key; 3] = [
    Key::new("exit", &SCALAR, "The agent's exit status, or the name of the signal that ended it."),
    Key::new("stdout", &TEXT, "The agent's stdout."),
    Key::new(
        "files",
        &Shape::NonEmpty(&Shape::Map(&Shape::Object(&FILE))),
        "The agent's files below `${tmp}`, by path or by pattern such as `**/*.png`.",
    ),
];

static FILE: Object = Object {
    name: "an expectation of files",
    keys: &[&[
        Key::new("exists", &Shape::Bool, "True if such a file must exist (default: true)."),
        Key::new("count", &NUMBER, "The number of such files."),
        Key::new("size", &NUMBER, "The size of each file in bytes."),
        Key::new("text", &Shape::Matcher(&Subject::Text), "The content of each file as text."),
        Key::new("json", &DATA, "The content of each file, parsed as JSON."),
        Key::new("base64", &Shape::Matcher(&Subject::Text), "The content of each file in Base64."),
    ]],
};

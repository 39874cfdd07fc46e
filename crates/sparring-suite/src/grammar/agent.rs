//! An agent: the program that is tested where no server is, and what must have
//! come of it.

use sparring_script::{Key, Object, Shape};

use super::mocks::INTERACTIONS;
use super::server::COMMAND;

pub(super) static AGENT: Object = Object { name: "an agent", keys: &[&COMMAND, &OF_AGENT] };

static OF_AGENT: [Key; 2] = [
    Key::new(
        "stdin",
        &Shape::Text,
        "What it reads there; `${input}` where nothing is said and nothing else of it has that.",
    ),
    Key::new("timeout", &Shape::Duration, "How long it may take; 60s where nothing is said."),
];

/// The responses that tests bring along.
pub(super) static BROUGHT: [Key; 1] = [Key::new(
    "mcp_interactions",
    &INTERACTIONS,
    "The responses of `get_data` in this test, turn by turn; the agent's input carries them.",
)];

/// What is known of a program that ran.
pub(super) static RAN: [Key; 3] = [
    Key::new("exit", &Shape::Any, "Of an agent: its exit status, or the name of a signal."),
    Key::new("stdout", &Shape::Any, "Of an agent: what it wrote to its stdout."),
    Key::new(
        "files",
        &Shape::Map(&Shape::Object(&FILE)),
        "Of an agent: the files below `${tmp}`, by their paths or by patterns as `**/*.png`.",
    ),
];

static FILE: Object = Object {
    name: "an expectation of files",
    keys: &[&[
        Key::new("exists", &Shape::Bool, "Whether there is one; true where nothing is said."),
        Key::new("count", &Shape::Any, "How many there must be."),
        Key::new("size", &Shape::Any, "How many bytes each has."),
        Key::new("text", &Shape::Any, "What each has, as a text."),
        Key::new("json", &Shape::Any, "What each has, read as JSON."),
        Key::new("base64", &Shape::Any, "The bytes that each has, in Base64."),
    ]],
};

//! A scripted LLM endpoint: as a file of its own, and as it stands in a suite.

use serde_json::Value;
use sparring_script::{Key, Object, Shape, grammar};

/// The JSON Schema of scripts of LLM endpoints, for editors.
pub fn llm_schema() -> Value {
    grammar::schema("An LLM endpoint of Sparring", &LLM)
}

/// The page of all keys of LLM endpoints, for the docs.
pub fn llm_reference() -> String {
    let intro = "Made from the language itself; [mock.md](mock.md#the-llm-endpoint) explains it.";
    grammar::page("All keys of an LLM endpoint", intro, &LLM)
}

/// The file of an endpoint.
pub(crate) static LLM: Object = Object {
    name: "an LLM script",
    keys: &[
        &LLM_KEYS,
        &[Key::new("vars", &Shape::Map(&Shape::Any), "Variables for templates, under `vars`.")],
    ],
};

/// What an endpoint is told, wherever that stands.
pub static LLM_KEYS: [Key; 4] = [
    Key::new(
        "openai",
        &TURNS,
        "An endpoint of OpenAI's chat completions: what it answers, turn by turn, to whoever has no turns below `cases`.",
    ),
    Key::new("anthropic", &TURNS, "Or one of Anthropic's messages."),
    Key::new(
        "cases",
        &Shape::Map(&TURNS),
        "The turns of those whose user says `[test_case_id=…]`, by that id.",
    ),
    Key::new(
        "models",
        &Shape::List(&Shape::Text),
        "The models that there are; any where nothing is said.",
    ),
];

/// Answers, turn by turn.
pub static TURNS: Shape = Shape::List(&Shape::Object(&TURN));

static TURN: Object = Object {
    name: "a turn",
    keys: &[&[
        Key::new(
            "expect",
            &Shape::Object(&EXPECT),
            "What the request must be like; one that is not is refused, and the turn stays.",
        ),
        Key::new("text", &Shape::Text, "What the model says."),
        Key::new("call", &Shape::Object(&CALL), "The tool that it calls."),
        Key::new("calls", &Shape::List(&Shape::Object(&CALL)), "The tools that it calls at once."),
        Key::new(
            "stop",
            &Shape::Text,
            "Why it stops, in the API's own word; what fits the answer where nothing is said.",
        ),
        Key::new("usage", &Shape::Object(&USAGE), "How many tokens it took."),
        Key::new("delay", &Shape::Duration, "How long the answer waits."),
        Key::new("pace", &Shape::Duration, "How long each event of a stream waits for the next."),
        Key::new(
            "error",
            &Shape::Object(&ERROR),
            "An error of the API instead of an answer; in a stream it comes behind what is said.",
        ),
        Key::new("fault", &Shape::Object(&FAULT), "What goes wrong with the answer, on purpose."),
        Key::new(
            "repeat",
            &Shape::Either(&[Shape::Integer(1), Shape::Word(&["always"])]),
            "How often the turn is taken before the next; once where nothing is said.",
        ),
    ]],
};

static EXPECT: Object = Object {
    name: "an expectation of a request",
    keys: &[
        &SEEN_KEYS,
        &[
            Key::new("headers", &Shape::Map(&Shape::Any), "Its headers, by name."),
            Key::new("body", &Shape::Any, "The whole of it, as it stands on the wire."),
        ],
    ],
};

/// What can be looked at in a request, the same for both APIs.
pub static SEEN_KEYS: [Key; 6] = [
    Key::new("model", &Shape::Any, "The model that an LLM is asked for."),
    Key::new("system", &Shape::Any, "What it is told to be, as one text."),
    Key::new("user", &Shape::Any, "What the user said last."),
    Key::new(
        "messages",
        &Shape::Any,
        "The messages but for the system's, each with `role` and `text`, and `calls` and `results` where it has some.",
    ),
    Key::new(
        "tools",
        &Shape::Any,
        "The tools that are declared, each with `name`, `description`, `input_schema`.",
    ),
    Key::new(
        "results",
        &Shape::Any,
        "What came of the tools that were called last, each with `tool`, `id`, `text`, `is_error`, and `json` where the text is that.",
    ),
];

static CALL: Object = Object {
    name: "a call",
    keys: &[&[
        Key::new("tool", &Shape::Text, "The tool's name, as the agent declares it.").required(),
        Key::new("with", &Shape::Map(&Shape::Any), "Its arguments."),
        Key::new(
            "arguments",
            &Shape::Text,
            "Its arguments as a text instead, which may be no JSON; only OpenAI's have that.",
        ),
        Key::new("id", &Shape::Text, "The id of the call; one of our own where nothing is said."),
        Key::new(
            "undeclared",
            &Shape::Bool,
            "Whether the agent need not have declared the tool, as a model may make one up.",
        ),
    ]],
};

static USAGE: Object = Object {
    name: "a usage",
    keys: &[&[
        Key::new("input", &Shape::Integer(0), "What was read; about four bytes are a token."),
        Key::new("output", &Shape::Integer(0), "What was written."),
    ]],
};

static ERROR: Object = Object {
    name: "an error of the API",
    keys: &[&[
        Key::new("status", &Shape::Integer(400), "Its HTTP status.").required(),
        Key::new("type", &Shape::Text, "Its type; what fits the status where nothing is said."),
        Key::new("code", &Shape::Text, "Its code, which only OpenAI's have."),
        Key::new("message", &Shape::Text, "What it says."),
        Key::new("retry_after", &Shape::Duration, "When to come again, as a header."),
    ]],
};

static FAULT: Object = Object {
    name: "a fault of an answer",
    keys: &[&[
        Key::new(
            "disconnect",
            &Shape::Word(&["before", "middle"]),
            "The connection ends before the answer, or in the middle of it.",
        ),
        Key::new("silent", &Shape::Bool, "No answer ever comes."),
        Key::new("slow", &Shape::Integer(1), "It comes by so many bytes a second."),
        Key::new("truncate", &Shape::Bool, "Only its first half comes, as though that were all."),
        Key::new(
            "garbage",
            &Shape::Either(&[Shape::Bool, Shape::Text]),
            "Something that is no JSON comes instead; in a stream in the middle of it.",
        ),
        Key::new("bad_content_type", &Shape::Text, "Its content type."),
    ]],
};

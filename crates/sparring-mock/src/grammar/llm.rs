//! Keys of an LLM endpoint, in a file and in a suite.

use serde_json::Value;
use sparring_script::{Key, Object, Shape, Subject, grammar};

/// Returns the JSON Schema of LLM scripts, for editors.
pub fn llm_schema() -> Value {
    grammar::json_schema("An LLM endpoint of Sparring", &LLM)
}

/// Renders the reference page of LLM scripts, for the docs.
pub fn llm_reference() -> String {
    let intro = "Generated from the grammar; [mock.md](mock.md#the-llm-endpoint) explains it.";
    grammar::render_key_reference("All keys of an LLM endpoint", intro, &LLM)
}

/// The script file of an endpoint.
pub(crate) static LLM: Object = Object {
    name: "an LLM script",
    keys: &[
        &LLM_KEYS,
        &[Key::new("vars", &Shape::Map(&Shape::Any), "Variables for templates, under `vars`.")],
    ],
};

/// Keys of an endpoint, in a file or a suite.
pub static LLM_KEYS: [Key; 6] = [
    Key::new(
        "turns",
        &LLM_TURNS,
        "The turns of an endpoint of all APIs, for requests without turns below `cases`.",
    ),
    Key::new(
        "openai",
        &LLM_TURNS,
        "The turns of an endpoint of OpenAI's chat completions and Responses alone.",
    ),
    Key::new("anthropic", &LLM_TURNS, "The turns of an endpoint of Anthropic's messages alone."),
    Key::new("gemini", &LLM_TURNS, "The turns of an endpoint of Google's Gemini API alone."),
    Key::new(
        "cases",
        &Shape::Map(&LLM_TURNS),
        "The turns of requests whose user message has `[test_case_id=…]`, by that id.",
    ),
    Key::new(
        "models",
        &Shape::NonEmpty(&Shape::List(&Shape::String)),
        "The allowed models (default: any).",
    ),
];

/// A list of turns.
pub static LLM_TURNS: Shape = Shape::List(&TURN_SHAPE);

/// The turns of a test: a list, or lists by the names of endpoints.
pub static LLM_TEST_TURNS: Shape =
    Shape::AnyOf(&[Shape::List(&TURN_SHAPE), Shape::Map(&LLM_TURNS)]);

static TURN_SHAPE: Shape = Shape::Object(&TURN);

static TURN: Object = Object {
    name: "a turn",
    keys: &[&[
        Key::new(
            "expect",
            &Shape::NonEmpty(&Shape::Object(&EXPECT)),
            "The expectations of the request. Other requests are rejected and do not use up the turn.",
        ),
        Key::new(
            "when",
            &Shape::NonEmpty(&Shape::Object(&EXPECT)),
            "The requests that the turn answers outside the order, before the turns in the order.",
        ),
        Key::new(
            "optional",
            &Shape::Bool,
            "If true, the turn need not be requested (default: a conversation that has started requests all turns).",
        ),
        Key::new("text", &Shape::String, "The text of the answer."),
        Key::new("refusal", &Shape::String, "The text with which the model refuses to answer."),
        Key::new("call", &Shape::Object(&CALL), "A tool call."),
        Key::new("calls", &Shape::List(&Shape::Object(&CALL)), "Several tool calls at once."),
        Key::new(
            "stop",
            &Shape::String,
            "The stop reason in the words of any API (default: the one that fits the answer).",
        ),
        Key::new("usage", &Shape::NonEmpty(&Shape::Object(&USAGE)), "The token usage."),
        Key::new("delay", &Shape::Duration, "Delay before the answer."),
        Key::new("pace", &Shape::Duration, "Pause between the events of a stream."),
        Key::new(
            "error",
            &Shape::Object(&ERROR),
            "An API error instead of an answer; in a stream it comes after the answer.",
        ),
        Key::new("fault", &Shape::NonEmpty(&Shape::Object(&FAULT)), "Faults of the answer."),
        Key::new(
            "repeat",
            &Shape::AnyOf(&[Shape::Integer(1), Shape::Keyword(&["always"])]),
            "The number of times that the turn is taken (default: once).",
        ),
    ]],
};

pub(crate) static EXPECT: Object = Object {
    name: "an expectation of a request",
    keys: &[
        &LLM_REQUEST_KEYS,
        &[
            Key::new(
                "headers",
                &Shape::Map(&Shape::Matcher(&Subject::OneOf(&[
                    Subject::Text,
                    Subject::List(&Subject::Text),
                ]))),
                "The headers, by name.",
            ),
            Key::new(
                "body",
                &Shape::Matcher(&Subject::Data),
                "The complete body, as sent on the wire.",
            ),
        ],
    ],
};

/// Parts of a request that can be checked, the same for all APIs.
pub static LLM_REQUEST_KEYS: [Key; 6] = [
    Key::new("model", &Shape::Matcher(&Subject::Text), "The requested model."),
    Key::new("system", &Shape::Matcher(&Subject::Text), "The system prompt, as one text."),
    Key::new("user", &Shape::Matcher(&Subject::Text), "The last user text."),
    Key::new(
        "messages",
        &Shape::Matcher(&Subject::List(&MESSAGE)),
        "The messages without the system prompt, each with `role` and `text`, and with `calls` and `results` if it has some.",
    ),
    Key::new(
        "tools",
        &Shape::Matcher(&Subject::List(&TOOL)),
        "The declared tools, each with `name`, `description`, `input_schema`.",
    ),
    Key::new(
        "results",
        &Shape::Matcher(&Subject::List(&RESULT)),
        "The results of the last tool calls, each with `tool`, `id`, `text`, `is_error`, and `json` if the text is JSON.",
    ),
];

static MESSAGE: Subject = Subject::Object(
    "a message",
    &[
        ("role", Subject::Text),
        ("text", Subject::Text),
        ("calls", Subject::List(&PAST_CALL)),
        ("results", Subject::List(&RESULT)),
    ],
);

static PAST_CALL: Subject = Subject::Object(
    "a call",
    &[("tool", Subject::Text), ("with", Subject::Data), ("id", Subject::Text)],
);

static RESULT: Subject = Subject::Object(
    "a result",
    &[
        ("tool", Subject::Text),
        ("id", Subject::Text),
        ("text", Subject::Text),
        ("is_error", Subject::Bool),
        ("json", Subject::Data),
    ],
);

static TOOL: Subject = Subject::Object(
    "a declared tool",
    &[("name", Subject::Text), ("description", Subject::Text), ("input_schema", Subject::Data)],
);

static CALL: Object = Object {
    name: "a call",
    keys: &[&[
        Key::new(
            "tool",
            &Shape::Matcher(&Subject::Text),
            "The tool's name, as the agent declares it, or a matcher of exactly one declared name.",
        )
        .required(),
        Key::new("with", &Shape::Map(&Shape::Any), "Its arguments."),
        Key::new(
            "arguments",
            &Shape::String,
            "Its arguments as text instead, which need not be JSON.",
        ),
        Key::new("id", &Shape::String, "The id of the call (default: generated)."),
        Key::new(
            "undeclared",
            &Shape::Bool,
            "If true, the call may name a tool that the request does not declare.",
        ),
    ]],
};

static USAGE: Object = Object {
    name: "a usage",
    keys: &[&[
        Key::new("input", &Shape::Integer(0), "Input tokens (default: one per four bytes)."),
        Key::new("output", &Shape::Integer(0), "Output tokens (default: one per four bytes)."),
    ]],
};

static ERROR: Object = Object {
    name: "an error of the API",
    keys: &[&[
        Key::new("status", &Shape::Integer(400), "Its HTTP status.").required(),
        Key::new("type", &Shape::String, "Its type (default: the one that fits the status)."),
        Key::new("code", &Shape::String, "Its code; only in OpenAI's APIs."),
        Key::new("message", &Shape::String, "Its message."),
        Key::new("retry_after", &Shape::Duration, "The delay before a retry, sent as a header."),
    ]],
};

static FAULT: Object = Object {
    name: "a fault of an answer",
    keys: &[&[
        Key::new(
            "disconnect",
            &Shape::Keyword(&["before", "middle"]),
            "Closes the connection before the answer, or in the middle of it.",
        ),
        Key::new("silent", &Shape::Bool, "Never answers."),
        Key::new("slow", &Shape::Integer(1), "Sends the answer at this many bytes per second."),
        Key::new(
            "truncate",
            &Shape::Bool,
            "Sends only the first half of the answer as if it were complete.",
        ),
        Key::new(
            "garbage",
            &Shape::AnyOf(&[Shape::Bool, Shape::String]),
            "Sends text that is not JSON instead; in a stream, in the middle of it.",
        ),
        Key::new("bad_content_type", &Shape::String, "The content type of the answer."),
    ]],
};

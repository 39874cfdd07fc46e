//! The keys of a step.

use sparring_script::{Key, Object, Shape};

use super::agent::AGENT;
use super::expect::EXPECT;

pub(super) static STEP: Object = Object { name: "a step", keys: &[&VERBS, &STEP_KEYS] };

/// The verbs of a step.
pub(super) static VERBS: [Key; 17] = [
    Key::new("call", &Shape::String, "Calls a tool; `with` has its arguments.").synonyms(&[
        "tool",
        "tool_call",
        "call_tool",
        "invoke",
    ]),
    Key::new("read", &Shape::String, "Reads a resource, by its URI.")
        .synonyms(&["resource", "read_resource"]),
    Key::new("prompt", &Shape::String, "Gets a prompt; `with` has its arguments.")
        .synonyms(&["get_prompt"]),
    Key::new("list", &LISTS, "Lists all pages."),
    Key::new("complete", &Shape::Object(&COMPLETE), "Asks for completions of an argument."),
    Key::new("ping", &Shape::Bool, "Sends a ping. Can only be true."),
    Key::new("request", &Shape::String, "Sends a request of any method; `with` has its params.")
        .synonyms(&["method"]),
    Key::new("notify", &Shape::String, "Sends a notification; `with` has its params."),
    Key::new("use", &Shape::String, "Runs the steps of a fragment."),
    Key::new("subscribe", &Shape::String, "Subscribes to a resource until the test ends."),
    Key::new(
        "send",
        &Shape::AnyOf(&[Shape::String, Shape::Object(&SEND)]),
        "Sends a string unchanged: as a line, or over HTTP as the body of a POST.",
    ),
    Key::new("wait", &Shape::Duration, "Waits until `expect` holds, at most this long.")
        .synonyms(&["wait_for"]),
    Key::new("sleep", &Shape::Duration, "Waits this long.").synonyms(&["delay", "pause"]),
    Key::new("restart", &Shape::Bool, "Stops the server and starts it again. Can only be true."),
    Key::new(
        "check",
        &Shape::Object(&CHECK),
        "Checks the server against the rules of the specification, as `spar check`; `{}` checks all rules.",
    ),
    Key::new("input", &Shape::String, "Runs the agent with this input, which is `${input}`."),
    Key::new("agent", &Shape::Object(&AGENT), "Runs this agent instead of the suite's."),
];

static LISTS: Shape = Shape::Keyword(&["tools", "resources", "templates", "prompts"]);

static COMPLETE: Object = Object {
    name: "a completion",
    keys: &[&[
        Key::new("prompt", &Shape::String, "The prompt that has the argument."),
        Key::new("template", &Shape::String, "The resource template that has the argument."),
        Key::new("argument", &Shape::String, "The argument's name.").required(),
        Key::new("value", &Shape::String, "The beginning of the value.").required(),
    ]],
};

static CHECK: Object = Object {
    name: "a check",
    keys: &[&[
        Key::new(
            "only",
            &Shape::OneOrMany(&Shape::String),
            "Checks only these rules: ids, areas such as `tools/`, or patterns with `*`.",
        )
        .synonyms(&["rules"]),
        Key::new("skip", &Shape::OneOrMany(&Shape::String), "Leaves out these rules.")
            .synonyms(&["except", "without"]),
        Key::new(
            "level",
            &Shape::Keyword(&["must", "should", "lint"]),
            "The weakest level of rules to check (default: lint).",
        ),
        Key::new(
            "max_tokens",
            &Shape::Integer(1),
            "The largest number of tokens of the definitions of all tools together.",
        ),
    ]],
};

static SEND: Object = Object {
    name: "a message to send",
    keys: &[&[
        Key::new("json", &Shape::Any, "A value that is sent as one line of JSON."),
        Key::new("base64", &Shape::String, "Bytes in Base64."),
    ]],
};

static CANCEL: Object = Object {
    name: "a cancellation",
    keys: &[&[
        Key::new("after", &Shape::Duration, "The time before the request is cancelled.").required(),
        Key::new("reason", &Shape::String, "The reason in the cancellation notification."),
    ]],
};

/// The keys beside the verb of a step.
pub(super) static STEP_KEYS: [Key; 5] = [
    Key::new(
        "with",
        &Shape::Map(&Shape::Any),
        "Arguments or params, in the spelling of the protocol.",
    )
    .synonyms(&["args", "arguments", "params", "parameters", "inputs"]),
    Key::new("cancel", &Shape::Object(&CANCEL), "Cancels the request while it runs."),
    Key::new(
        "answer",
        &Shape::NonEmpty(&Shape::Object(&ANSWER)),
        "The answers to requests of the server.",
    )
    .synonyms(&["answers", "reply", "respond"]),
    Key::new("expect", &Shape::NonEmpty(&Shape::Object(&EXPECT)), "The expectations of the step.")
        .synonyms(&[
            "assert",
            "asserts",
            "assertions",
            "expected",
            "expects",
            "expectations",
            "should",
        ]),
    Key::new(
        "save",
        &Shape::NonEmpty(&Shape::Map(&Shape::String)),
        "Values for `${NAME}` in later steps, by path, such as `structured.id`.",
    )
    .synonyms(&["store", "capture", "extract"]),
];

static ANSWER: Object = Object {
    name: "an answer",
    keys: &[&[
        Key::new(
            "elicitation",
            &Shape::OneOrMany(&Shape::Object(&ELICITED)),
            "The answer to elicitation/create: `action` and `content`. In a list, each item answers one request.",
        ),
        Key::new(
            "sampling",
            &Shape::OneOrMany(&Shape::Object(&SAMPLED)),
            "The answer to sampling/createMessage: `role`, `content`, `model`. In a list, each item answers one request.",
        ),
        Key::new("roots", &Shape::AnyNumber(&Shape::String), "The answer to roots/list: the URIs."),
    ]],
};

static ELICITED: Object = Object {
    name: "an answer to an elicitation",
    keys: &[&[
        Key::new(
            "action",
            &Shape::OrTemplate(&Shape::Keyword(&["accept", "decline", "cancel"])),
            "The choice of the user.",
        )
        .required(),
        Key::new(
            "content",
            &Shape::OrTemplate(&Shape::Map(&Shape::Any)),
            "The values of the form, by the names of its fields.",
        ),
        Key::new("_meta", &METADATA, "The metadata."),
    ]],
};

static SAMPLED: Object = Object {
    name: "an answer to a sampling request",
    keys: &[&[
        Key::new(
            "role",
            &Shape::OrTemplate(&Shape::Keyword(&["assistant", "user"])),
            "The role of the message.",
        )
        .required(),
        Key::new(
            "content",
            &Shape::OrTemplate(&Shape::OneOrMany(&Shape::Object(&BLOCK))),
            "The content of the message.",
        )
        .required(),
        Key::new("model", &Shape::String, "The name of the model.").required(),
        Key::new("stop_reason", &Shape::String, "The reason why the model stopped."),
        Key::new("_meta", &METADATA, "The metadata."),
    ]],
};

/// The content blocks of sampled messages, with the keys of all types.
static BLOCK: Object = Object {
    name: "a content block",
    keys: &[&[
        Key::new(
            "type",
            &Shape::OrTemplate(&Shape::Keyword(&[
                "text",
                "image",
                "audio",
                "tool_use",
                "tool_result",
            ])),
            "The type.",
        )
        .required(),
        Key::new("text", &Shape::String, "The text."),
        Key::new("data", &Shape::String, "The image or audio in Base64."),
        Key::new("mime_type", &Shape::String, "The media type of `data`."),
        Key::new("annotations", &METADATA, "The annotations."),
        Key::new("id", &Shape::String, "The id of a tool use."),
        Key::new("name", &Shape::String, "The tool of a tool use."),
        Key::new(
            "input",
            &Shape::OrTemplate(&Shape::Map(&Shape::Any)),
            "The arguments of a tool use.",
        ),
        Key::new("tool_use_id", &Shape::String, "The tool use to which a tool result belongs."),
        Key::new(
            "content",
            &Shape::OrTemplate(&Shape::List(&Shape::Any)),
            "The content of a tool result.",
        ),
        Key::new("structured_content", &Shape::Any, "The structured content of a tool result."),
        Key::new(
            "is_error",
            &Shape::OrTemplate(&Shape::Bool),
            "True if a tool result is an error.",
        ),
        Key::new("_meta", &METADATA, "The metadata."),
    ]],
};

static METADATA: Shape = Shape::OrTemplate(&Shape::Map(&Shape::Any));

//! A step: what is done, and what stands beside it.

use sparring_script::{Key, Object, Shape};

use super::agent::AGENT;
use super::expect::EXPECT;

pub(super) static STEP: Object = Object { name: "a step", keys: &[&VERBS, &BESIDE] };

/// What is done: one of these.
pub(super) static VERBS: [Key; 16] = [
    Key::new("call", &Shape::Text, "Calls a tool; `with` has its arguments."),
    Key::new("read", &Shape::Text, "Reads a resource, by its URI."),
    Key::new("prompt", &Shape::Text, "Gets a prompt; `with` has its arguments."),
    Key::new("list", &LISTS, "Lists all pages."),
    Key::new("complete", &Shape::Object(&COMPLETE), "Asks for completions of an argument."),
    Key::new("ping", &Shape::Bool, "Asks whether the server is there; only `true` makes sense."),
    Key::new("request", &Shape::Text, "Sends a request of any method; `with` has its params."),
    Key::new("notify", &Shape::Text, "Sends a notification; `with` has its params."),
    Key::new("use", &Shape::Text, "Takes the steps of a fragment, by its name."),
    Key::new(
        "subscribe",
        &Shape::Text,
        "Listens for changes of a resource until the test is over.",
    ),
    Key::new(
        "send",
        &Shape::Either(&[Shape::Text, Shape::Object(&SEND)]),
        "Sends a text as it is: a line, or over HTTP the body of a POST.",
    ),
    Key::new("wait", &Shape::Duration, "Waits until what `expect` says has come, so long at most."),
    Key::new("sleep", &Shape::Duration, "Lets so much time pass."),
    Key::new(
        "restart",
        &Shape::Bool,
        "Ends the server and starts it anew; only `true` makes sense.",
    ),
    Key::new("input", &Shape::Text, "Runs the agent; this is what it is told, as `${input}`."),
    Key::new("agent", &Shape::Object(&AGENT), "Runs this agent instead of the suite's."),
];

static LISTS: Shape = Shape::Word(&["tools", "resources", "templates", "prompts"]);

static COMPLETE: Object = Object {
    name: "a completion",
    keys: &[&[
        Key::new("prompt", &Shape::Text, "The prompt that has the argument."),
        Key::new("template", &Shape::Text, "Or the resource template that has it."),
        Key::new("argument", &Shape::Text, "The argument's name.").required(),
        Key::new("value", &Shape::Text, "What is typed so far.").required(),
    ]],
};

static SEND: Object = Object {
    name: "what is sent",
    keys: &[&[
        Key::new("json", &Shape::Any, "A value, which is sent as JSON in one line."),
        Key::new("base64", &Shape::Text, "Bytes that are no text."),
    ]],
};

static CANCEL: Object = Object {
    name: "a cancellation",
    keys: &[&[
        Key::new("after", &Shape::Duration, "How long the request may run before.").required(),
        Key::new("reason", &Shape::Text, "Why, as the server is told where it is told at all."),
    ]],
};

/// What stands beside a verb.
pub(super) static BESIDE: [Key; 5] = [
    Key::new("with", &Shape::Map(&Shape::Any), "Arguments or params, as they stand on the wire."),
    Key::new("cancel", &Shape::Object(&CANCEL), "Gives the request up while it runs."),
    Key::new("answer", &Shape::Object(&ANSWER), "What the client answers when the server asks."),
    Key::new("expect", &Shape::Object(&EXPECT), "What must have come of it."),
    Key::new(
        "save",
        &Shape::Map(&Shape::Text),
        "Values for `${NAME}` in later steps, each by its path, as `structured.id`.",
    ),
];

static ANSWER: Object = Object {
    name: "an answer",
    keys: &[&[
        Key::new(
            "elicitation",
            &Shape::OneOrMany(&Shape::Map(&Shape::Any)),
            "To elicitation/create: `action` and `content`. A list answers one question each.",
        ),
        Key::new(
            "sampling",
            &Shape::OneOrMany(&Shape::Map(&Shape::Any)),
            "To sampling/createMessage: `role`, `content`, `model`. A list answers one each.",
        ),
        Key::new("roots", &Shape::OneOrMany(&Shape::Text), "To roots/list: the URIs."),
    ]],
};

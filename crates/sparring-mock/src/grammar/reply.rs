//! Replies: when they fit, what happens meanwhile, what they say.

use sparring_script::{Key, Object, Shape};

use super::WIRE;
use super::ask::ASK;
use super::fault::FAULT;
use super::step::{LATER, STEP};

/// When a reply is the one.
static CONDITION: [Key; 3] = [
    Key::new("when", &Shape::Object(&WHEN), "What a request must be like."),
    Key::new("times", &Shape::Integer(1), "How often it is given before the next gets its turn."),
    Key::new("_meta", &Shape::Map(&Shape::Any), "The metadata of the result."),
];

static WHEN: Object = Object {
    name: "a condition",
    keys: &[&[
        Key::new("args", &Shape::Any, "A matcher of the arguments."),
        Key::new("headers", &Shape::Map(&Shape::Any), "Matchers of HTTP headers."),
        Key::new("revision", &Shape::Any, "A matcher of the protocol revision."),
        Key::new("calls", &Shape::Any, "A matcher of how often it was asked, this time included."),
    ]],
};

/// How a reply is given.
pub(super) static PERFORMANCE: [Key; 6] = [
    Key::new(
        "requires",
        &Shape::OneOrMany(&Shape::Word(&["sampling", "elicitation", "roots"])),
        "The client's capabilities without which the request is refused.",
    ),
    Key::new(
        "ask",
        &ASK,
        "Questions to the client, under names of yours; a list of such maps is rounds. One that the client cannot answer is left out.",
    ),
    Key::new("during", &Shape::List(&STEP), "What happens before the answer, in this order."),
    Key::new(
        "delay",
        &Shape::Either(&[Shape::Duration, Shape::List(&Shape::Duration)]),
        "How long the answer waits: a time, or the least and the most.",
    ),
    Key::new("after", &Shape::List(&LATER), "What happens after the answer."),
    Key::new("fault", &Shape::Object(&FAULT), "What goes wrong with the answer, on purpose."),
];

/// What is an answer of any kind.
pub(super) static ANY_BODY: [Key; 3] = [
    Key::new("error", &Shape::Object(&ERROR), "A JSON-RPC error instead of a result."),
    Key::new("result", &Shape::Map(&Shape::Any), "The whole result as it shall stand on the wire."),
    Key::new("raw", &Shape::Text, "Exactly these bytes instead of an answer."),
];

static ERROR: Object = Object {
    name: "an error",
    keys: &[&[
        Key::new("code", &Shape::Integer(i64::MIN), "Its code; -32603 where nothing is said."),
        Key::new("message", &Shape::Text, "What it says.").required(),
        Key::new("data", &Shape::Any, "Anything more."),
    ]],
};

/// One block of content.
pub(super) static BLOCK: [Key; 6] = [
    Key::new("text", &Shape::Text, "A text."),
    Key::new("json", &Shape::Any, "A value, as a text of JSON."),
    Key::new("image", &Shape::Object(&BYTES), "An image."),
    Key::new("audio", &Shape::Object(&BYTES), "A sound."),
    Key::new("resource", &Shape::Object(&EMBEDDED), "A resource, in whole."),
    Key::new("resource_link", &WIRE, "A link to a resource."),
];

static BYTES: Object = Object {
    name: "a file or Base64",
    keys: &[&[
        Key::new("file", &Shape::Text, "A file, from the script's folder on."),
        Key::new("data", &Shape::Text, "The bytes in Base64."),
        Key::new(
            "mime_type",
            &Shape::Text,
            "As image/png; found out from the file's name where nothing is said.",
        ),
    ]],
};

static EMBEDDED: Object = Object {
    name: "an embedded resource",
    keys: &[&[
        Key::new("uri", &Shape::Text, "Where it is.").required(),
        Key::new("mime_type", &Shape::Text, "As text/plain."),
        Key::new("text", &Shape::Text, "Its text."),
        Key::new("json", &Shape::Any, "A value, as its text."),
        Key::new("blob", &Shape::Text, "Its bytes in Base64."),
        Key::new("file", &Shape::Text, "A file whose bytes it has."),
    ]],
};

static OF_A_BLOCK: [Key; 2] = [
    Key::new("annotations", &WIRE, "Hints such as `audience` and `priority`."),
    Key::new("_meta", &Shape::Map(&Shape::Any), "Its metadata."),
];

static CONTENT: Object = Object { name: "a content block", keys: &[&BLOCK, &OF_A_BLOCK] };

/// What only tools say beside blocks.
pub(super) static ONLY_TOOLS: [Key; 5] = [
    Key::new("structured", &Shape::Any, "Structured content, and the same as a text of JSON."),
    Key::new("content", &Shape::List(&Shape::Object(&CONTENT)), "Several blocks."),
    Key::new("is_error", &Shape::Bool, "Whether the tool says that it failed."),
    Key::new("http", &Shape::Object(&HTTP), "The answer of an HTTP server, which is asked for it."),
    Key::new(
        "exec",
        &Shape::Either(&[Shape::Text, Shape::Object(&EXEC)]),
        "What a program says, which is run for it, where that is allowed: a command line, or more of it in a map.",
    ),
];

static EXEC: Object = Object {
    name: "a program",
    keys: &[&[
        Key::new(
            "command",
            &Shape::Text,
            "The program: a name, or a path from the script's folder on. No shell comes between.",
        )
        .required(),
        Key::new("args", &Shape::List(&Shape::Text), "Its arguments."),
        Key::new("env", &Shape::Map(&Shape::Text), "What its environment has besides ours."),
        Key::new(
            "as",
            &Shape::Word(&["text", "structured", "result"]),
            "What its output is: a text, which it is where nothing is said, structured content, or the whole result.",
        ),
        Key::new("timeout", &Shape::Duration, "How long it may take; 30s where nothing is said."),
    ]],
};

static HTTP: Object = Object {
    name: "a request over HTTP",
    keys: &[&[
        Key::new(
            "url",
            &Shape::Text,
            "Where; what fills it behind host and port is percent-encoded.",
        )
        .required(),
        Key::new("method", &Shape::Text, "GET where nothing is said, POST where there is a body."),
        Key::new("query", &Shape::Map(&Shape::Any), "Parameters that are added to the URL."),
        Key::new("headers", &Shape::Map(&Shape::Text), "Its headers."),
        Key::new("body", &Shape::Text, "Its body, as a text."),
        Key::new("json", &Shape::Any, "Its body, as JSON."),
        Key::new(
            "timeout",
            &Shape::Duration,
            "How long the answer may take; 30s where nothing is said.",
        ),
    ]],
};

pub(crate) static TOOL_REPLY: Object =
    Object { name: "a reply", keys: &[&CONDITION, &PERFORMANCE, &BLOCK, &ONLY_TOOLS, &ANY_BODY] };

/// What only resources say.
pub(super) static ONLY_RESOURCES: [Key; 4] = [
    Key::new("text", &Shape::Text, "Its text."),
    Key::new("json", &Shape::Any, "A value, as its text."),
    Key::new("blob", &Shape::Text, "Its bytes in Base64."),
    Key::new("file", &Shape::Text, "A file whose text or bytes it has."),
];

pub(super) static RESOURCE_REPLY: Object = Object {
    name: "a reply of a resource",
    keys: &[&CONDITION, &PERFORMANCE, &ONLY_RESOURCES, &ANY_BODY],
};

/// What only prompts say.
pub(super) static ONLY_PROMPTS: [Key; 2] = [
    Key::new("text", &Shape::Text, "One message of the user's."),
    Key::new("messages", &Shape::List(&Shape::Object(&MESSAGE)), "The messages."),
];

pub(super) static PROMPT_REPLY: Object = Object {
    name: "a reply of a prompt",
    keys: &[&CONDITION, &PERFORMANCE, &ONLY_PROMPTS, &ANY_BODY],
};

static MESSAGE: Object = Object {
    name: "a message",
    keys: &[
        &[Key::new(
            "role",
            &Shape::Word(&["user", "assistant"]),
            "Who says it; the user where nothing is said.",
        )],
        &BLOCK,
        &OF_A_BLOCK,
    ],
};

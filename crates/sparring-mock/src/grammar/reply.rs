//! Keys of replies: conditions, questions, steps, bodies and faults.

use sparring_script::{Key, Object, Shape, Subject};
use sparring_wire::Revision;

use super::WIRE_MAP;
use super::step::{STEP, STEP_AFTER};

/// Conditions of a reply.
static CONDITION_KEYS: [Key; 3] = [
    Key::new("when", &Shape::Object(&WHEN), "The condition that a request must meet."),
    Key::new("times", &Shape::Integer(1), "The maximum number of uses (default: always)."),
    Key::new("_meta", &Shape::Map(&Shape::Any), "The metadata of the result."),
];

/// The name of a revision.
static REVISION: Subject =
    Subject::Keyword(|| Revision::ALL.into_iter().map(Revision::name).collect());

static WHEN: Object = Object {
    name: "a condition",
    keys: &[&[
        Key::new("args", &Shape::Matcher(&Subject::Data), "A matcher for the arguments."),
        Key::new(
            "headers",
            &Shape::Map(&Shape::Matcher(&Subject::Text)),
            "Matchers for HTTP headers.",
        ),
        Key::new("revision", &Shape::Matcher(&REVISION), "A matcher for the protocol revision."),
        Key::new(
            "calls",
            &Shape::Matcher(&Subject::Present(&Subject::Number)),
            "A matcher for the number of requests, including this one.",
        ),
    ]],
};

/// Keys for the delivery of a reply.
pub(super) static DELIVERY_KEYS: [Key; 6] = [
    Key::new(
        "requires",
        &Shape::OneOrMany(&Shape::Keyword(&["sampling", "elicitation", "roots"])),
        "The capabilities that the client must have; requests without them are rejected.",
    ),
    Key::new(
        "ask",
        &ASK,
        "Questions to the client, by names of your choice. A list asks in rounds. Questions that the client cannot answer are omitted.",
    ),
    Key::new("during", &Shape::NonEmpty(&Shape::List(&STEP)), "Steps before the answer, in order."),
    Key::new(
        "delay",
        &Shape::AnyOf(&[Shape::Duration, Shape::List(&Shape::Duration)]),
        "Delay of the answer: a duration, or minimum and maximum.",
    ),
    Key::new(
        "after",
        &Shape::NonEmpty(&Shape::List(&STEP_AFTER)),
        "Steps after the answer, in order.",
    ),
    Key::new("fault", &Shape::NonEmpty(&Shape::Object(&FAULT)), "Faults of the answer."),
];

/// Bodies of replies of every kind.
pub(super) static BODY_KEYS: [Key; 3] = [
    Key::new("error", &Shape::Object(&ERROR), "A JSON-RPC error instead of a result."),
    Key::new("result", &Shape::Map(&Shape::Any), "The complete result as sent on the wire."),
    Key::new("raw", &Shape::String, "Exactly these bytes instead of an answer."),
];

static ERROR: Object = Object {
    name: "an error",
    keys: &[&[
        Key::new("code", &Shape::Integer(i64::MIN), "The error code (default: -32603)."),
        Key::new("message", &Shape::String, "The error message.").required(),
        Key::new("data", &Shape::Any, "Additional data."),
    ]],
};

/// Content blocks.
pub(super) static BLOCK_KEYS: [Key; 6] = [
    Key::new("text", &Shape::String, "Text."),
    Key::new("json", &Shape::Any, "A value, sent as JSON text."),
    Key::new("image", &Shape::Object(&BYTES), "An image."),
    Key::new("audio", &Shape::Object(&BYTES), "Audio."),
    Key::new("resource", &Shape::Object(&EMBEDDED), "An embedded resource."),
    Key::new("resource_link", &WIRE_MAP, "A link to a resource."),
];

static BYTES: Object = Object {
    name: "a file or Base64",
    keys: &[&[
        Key::new("file", &Shape::String, "A file, relative to the folder of the script."),
        Key::new("data", &Shape::String, "The bytes in Base64."),
        Key::new(
            "mime_type",
            &Shape::String,
            "The MIME type, such as image/png (default: guessed from the file name).",
        ),
    ]],
};

static EMBEDDED: Object = Object {
    name: "an embedded resource",
    keys: &[&[
        Key::new("uri", &Shape::String, "Its URI.").required(),
        Key::new("mime_type", &Shape::String, "The MIME type, such as text/plain."),
        Key::new("text", &Shape::String, "Its text."),
        Key::new("json", &Shape::Any, "A value, sent as JSON text."),
        Key::new("blob", &Shape::String, "Its bytes in Base64."),
        Key::new("file", &Shape::String, "A file with its bytes."),
    ]],
};

static BLOCK_META_KEYS: [Key; 2] = [
    Key::new("annotations", &WIRE_MAP, "Hints such as `audience` and `priority`."),
    Key::new("_meta", &Shape::Map(&Shape::Any), "Its metadata."),
];

static CONTENT: Object = Object { name: "a content block", keys: &[&BLOCK_KEYS, &BLOCK_META_KEYS] };

/// Bodies of tool replies only.
pub(super) static TOOL_BODY_KEYS: [Key; 5] = [
    Key::new("structured", &Shape::Any, "Structured content, also sent as JSON text."),
    Key::new("content", &Shape::List(&Shape::Object(&CONTENT)), "Several content blocks."),
    Key::new("is_error", &Shape::Bool, "The `isError` of the result."),
    Key::new("http", &Shape::Object(&HTTP), "Sends an HTTP request and answers with the response."),
    Key::new(
        "exec",
        &Shape::AnyOf(&[Shape::String, Shape::Object(&EXEC)]),
        "Runs a program and answers with its output: a command line or a map. Needs --allow-exec.",
    ),
];

static EXEC: Object = Object {
    name: "a program",
    keys: &[&[
        Key::new(
            "command",
            &Shape::String,
            "The program: a name, or a path relative to the folder of the script. It runs without a shell.",
        )
        .required(),
        Key::new("args", &Shape::List(&Shape::String), "Its arguments."),
        Key::new("env", &Shape::Map(&Shape::String), "Additional environment variables."),
        Key::new(
            "as",
            &Shape::Keyword(&["text", "structured", "result"]),
            "The form of its output: text, structured content or the complete result (default: text).",
        ),
        Key::new("timeout", &Shape::Duration, "The timeout (default: 30s)."),
    ]],
};

static HTTP: Object = Object {
    name: "a request over HTTP",
    keys: &[&[
        Key::new(
            "url",
            &Shape::String,
            "The URL; template values after host and port are percent-encoded.",
        )
        .required(),
        Key::new("method", &Shape::String, "The method (default: POST with a body, else GET)."),
        Key::new("query", &Shape::Map(&Shape::Any), "Parameters to add to the URL."),
        Key::new("headers", &Shape::Map(&Shape::String), "Its headers."),
        Key::new("body", &Shape::String, "Its body as text."),
        Key::new("json", &Shape::Any, "Its body as JSON."),
        Key::new("timeout", &Shape::Duration, "The timeout (default: 30s)."),
    ]],
};

pub(crate) static TOOL_REPLY: Object = Object {
    name: "a reply",
    keys: &[&CONDITION_KEYS, &DELIVERY_KEYS, &BLOCK_KEYS, &TOOL_BODY_KEYS, &BODY_KEYS],
};

/// Bodies of resource replies.
pub(super) static RESOURCE_BODY_KEYS: [Key; 4] = [
    Key::new("text", &Shape::String, "Its text."),
    Key::new("json", &Shape::Any, "A value, sent as JSON text."),
    Key::new("blob", &Shape::String, "Its bytes in Base64."),
    Key::new("file", &Shape::String, "A file with its text or bytes."),
];

pub(super) static RESOURCE_REPLY: Object = Object {
    name: "a reply of a resource",
    keys: &[&CONDITION_KEYS, &DELIVERY_KEYS, &RESOURCE_BODY_KEYS, &BODY_KEYS],
};

/// Bodies of prompt replies.
pub(super) static PROMPT_BODY_KEYS: [Key; 2] = [
    Key::new("text", &Shape::String, "The text of one user message."),
    Key::new("messages", &Shape::List(&Shape::Object(&MESSAGE)), "The messages."),
];

pub(super) static PROMPT_REPLY: Object = Object {
    name: "a reply of a prompt",
    keys: &[&CONDITION_KEYS, &DELIVERY_KEYS, &PROMPT_BODY_KEYS, &BODY_KEYS],
};

static MESSAGE: Object = Object {
    name: "a message",
    keys: &[
        &[Key::new("role", &Shape::Keyword(&["user", "assistant"]), "The role (default: user).")],
        &BLOCK_KEYS,
        &BLOCK_META_KEYS,
    ],
};

/// A round of questions, or several rounds.
static ASK: Shape = Shape::OneOrMany(&Shape::NonEmpty(&Shape::Map(&Shape::Object(&QUESTION))));

static QUESTION: Object = Object {
    name: "a question",
    keys: &[&[
        Key::new(
            "elicitation",
            &WIRE_MAP,
            "Asks the user: `message`, and `requested_schema` or `url`.",
        ),
        Key::new("sampling", &WIRE_MAP, "Asks the model: `messages`, `max_tokens` and so on."),
        Key::new("roots", &WIRE_MAP, "Asks for the roots; give an empty map."),
    ]],
};

static FAULT: Object = Object {
    name: "a fault",
    keys: &[&[
        Key::new(
            "garbage",
            &Shape::AnyOf(&[Shape::Bool, Shape::String]),
            "Sends this text, or with `true` a default one, instead of the answer.",
        ),
        Key::new("truncate", &Shape::Bool, "Sends only the first half of the answer."),
        Key::new(
            "wrong_id",
            &Shape::Any,
            "Sends the answer with this id, or with `true` an unused one.",
        ),
        Key::new("oversized", &Shape::Integer(1), "Enlarges the answer to this many bytes."),
        Key::new("duplicate", &Shape::Bool, "Sends the answer twice."),
        Key::new("silent", &Shape::Bool, "Never answers."),
        Key::new(
            "late",
            &Shape::Bool,
            "Answers even after a cancellation; not over Streamable HTTP, where a cancellation closes the stream.",
        ),
        Key::new("slow", &Shape::Integer(1), "Sends the answer at this many bytes per second."),
        Key::new(
            "disconnect",
            &Shape::Keyword(&["before", "middle", "after"]),
            "Closes the connection before, in the middle of, or after the answer.",
        ),
        Key::new(
            "exit",
            &Shape::Integer(0),
            "`spar mock` exits with this status instead of answering; elsewhere the connection is closed.",
        ),
        Key::new(
            "stdout_noise",
            &Shape::String,
            "Sends a line that is not a frame before the answer, on transports where frames are lines.",
        ),
        Key::new(
            "stderr_flood",
            &Shape::Integer(1),
            "`spar mock` writes this many bytes to stderr before the answer.",
        ),
        Key::new("status", &Shape::Integer(100), "The HTTP status of the answer."),
        Key::new("bad_content_type", &Shape::String, "The content type of the answer over HTTP."),
        Key::new(
            "drop_sse",
            &Shape::Bool,
            "Answers over HTTP with a stream that breaks before the answer.",
        ),
        Key::new("expire_session", &Shape::Bool, "Ends the HTTP session with this answer."),
    ]],
};

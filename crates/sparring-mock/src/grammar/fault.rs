//! What goes wrong with an answer, on purpose.

use sparring_script::{Key, Object, Shape};

pub(super) static FAULT: Object = Object {
    name: "a fault",
    keys: &[&[
        Key::new(
            "garbage",
            &Shape::Either(&[Shape::Bool, Shape::Text]),
            "Something that is no frame comes instead of the answer.",
        ),
        Key::new("truncate", &Shape::Bool, "Only the first half of the answer comes."),
        Key::new(
            "wrong_id",
            &Shape::Any,
            "The answer has this id, or with true one that nobody has given.",
        ),
        Key::new("oversized", &Shape::Integer(1), "The answer has so many bytes."),
        Key::new("duplicate", &Shape::Bool, "The answer comes twice."),
        Key::new("silent", &Shape::Bool, "No answer ever comes."),
        Key::new(
            "late",
            &Shape::Bool,
            "The answer comes although it was cancelled; not over Streamable HTTP, where cancelling ends its stream.",
        ),
        Key::new("slow", &Shape::Integer(1), "The answer comes by so many bytes a second."),
        Key::new(
            "disconnect",
            &Shape::Word(&["before", "middle", "after"]),
            "The connection ends before, in the middle of, or after the answer.",
        ),
        Key::new(
            "exit",
            &Shape::Integer(0),
            "`spar mock` exits with this status instead of answering; elsewhere the connection ends.",
        ),
        Key::new(
            "stdout_noise",
            &Shape::Text,
            "A line that is no frame comes before the answer, where frames are lines.",
        ),
        Key::new(
            "stderr_flood",
            &Shape::Integer(1),
            "`spar mock` writes so many bytes to stderr first.",
        ),
        Key::new("status", &Shape::Integer(100), "The HTTP status of the answer."),
        Key::new("bad_content_type", &Shape::Text, "The content type of the answer over HTTP."),
        Key::new(
            "drop_sse",
            &Shape::Bool,
            "The answer is a stream over HTTP that breaks before it comes.",
        ),
        Key::new("expire_session", &Shape::Bool, "The session over HTTP is gone with this answer."),
    ]],
};

//! Questions to the client.

use sparring_script::{Key, Object, Shape};

use super::WIRE;

/// A round of questions, or several.
pub(super) static ASK: Shape = Shape::OneOrMany(&Shape::Map(&Shape::Object(&QUESTION)));

static QUESTION: Object = Object {
    name: "a question",
    keys: &[&[
        Key::new(
            "elicitation",
            &WIRE,
            "Asks the user: `message`, and `requested_schema` or `url`.",
        ),
        Key::new("sampling", &WIRE, "Asks the model: `messages`, `max_tokens` and so on."),
        Key::new("roots", &WIRE, "Asks for the roots; an empty map."),
    ]],
};

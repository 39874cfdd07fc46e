//! What happens besides an answer.

use sparring_script::{Key, Object, Shape};

/// One thing that happens, or several in their order.
pub(super) static STEP: Shape =
    Shape::Either(&[Shape::Word(&["break_off"]), Shape::Object(&STEPS)]);

/// What can happen after an answer.
pub(super) static LATER: Shape = Shape::Object(&LATER_STEPS);

static LATER_STEPS: Object =
    Object { name: "a step after the answer", keys: &[&[DELAY], &AT_ANY_TIME] };

const DELAY: Key = Key::new("delay", &Shape::Duration, "Waits.");

static STEPS: Object = Object {
    name: "a step",
    keys: &[
        &[
            Key::new(
                "progress",
                &Shape::Either(&[Shape::Number, Shape::Object(&PROGRESS)]),
                "Says how far it has come, if the client wants to know.",
            ),
            Key::new(
                "log",
                &Shape::Either(&[Shape::Text, Shape::Object(&LOG)]),
                "Sends a log message, if the client wants such.",
            ),
            DELAY,
        ],
        &AT_ANY_TIME,
    ],
};

/// What can happen without a request.
static AT_ANY_TIME: [Key; 3] = [
    Key::new(
        "notify",
        &Shape::Either(&[Shape::Text, Shape::Object(&NOTIFICATION)]),
        "Sends a notification, as tools/list_changed.",
    ),
    Key::new(
        "show",
        &Shape::Object(&ENTRY),
        "Puts an entry into its list, and says that the list has changed.",
    ),
    Key::new(
        "hide",
        &Shape::Object(&ENTRY),
        "Takes an entry out of its list, and says that the list has changed.",
    ),
];

static PROGRESS: Object = Object {
    name: "a progress",
    keys: &[&[
        Key::new("progress", &Shape::Number, "How far.").required(),
        Key::new("total", &Shape::Number, "Of how much."),
        Key::new("message", &Shape::Text, "What is being done."),
    ]],
};

static LOG: Object = Object {
    name: "a log message",
    keys: &[&[
        Key::new("level", &LEVEL, "How severe; info where nothing is said."),
        Key::new("logger", &Shape::Text, "Who says it."),
        Key::new("data", &Shape::Any, "What is said.").required(),
    ]],
};

static LEVEL: Shape =
    Shape::Word(&["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]);

static NOTIFICATION: Object = Object {
    name: "a notification",
    keys: &[&[
        Key::new("method", &Shape::Text, "Its method; notifications/ may be left out.").required(),
        Key::new(
            "params",
            &Shape::Map(&Shape::Any),
            "Its params, as they shall stand on the wire.",
        ),
    ]],
};

static ENTRY: Object = Object {
    name: "an entry",
    keys: &[&[
        Key::new("tool", &Shape::Text, "A tool's name."),
        Key::new("resource", &Shape::Text, "A resource's URI."),
        Key::new("template", &Shape::Text, "A resource template."),
        Key::new("prompt", &Shape::Text, "A prompt's name."),
    ]],
};

pub(super) static TIMER: Object = Object {
    name: "a timer",
    keys: &[
        &[
            Key::new("every", &Shape::Duration, "Happens again and again, this far apart."),
            Key::new("after", &Shape::Duration, "Happens once, this long after the start."),
        ],
        &AT_ANY_TIME,
    ],
};

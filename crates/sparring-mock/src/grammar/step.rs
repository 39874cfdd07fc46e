//! Keys of steps and timers.

use sparring_script::{Key, Object, Shape};

/// A step, or several in order.
pub(super) static STEP: Shape =
    Shape::AnyOf(&[Shape::Keyword(&["break_off"]), Shape::NonEmpty(&Shape::Object(&STEPS))]);

/// A step after an answer.
pub(super) static STEP_AFTER: Shape = Shape::NonEmpty(&Shape::Object(&LATER_STEPS));

static LATER_STEPS: Object =
    Object { name: "a step after the answer", keys: &[&[DELAY], &ANYTIME_STEP_KEYS] };

const DELAY: Key = Key::new("delay", &Shape::Duration, "Waits.");

static STEPS: Object = Object {
    name: "a step",
    keys: &[
        &[
            Key::new(
                "progress",
                &Shape::AnyOf(&[Shape::Number, Shape::Object(&PROGRESS)]),
                "Reports progress, if the client asked for it.",
            ),
            Key::new(
                "log",
                &Shape::AnyOf(&[Shape::String, Shape::Object(&LOG)]),
                "Sends a log message, if the client asked for it.",
            ),
            DELAY,
        ],
        &ANYTIME_STEP_KEYS,
    ],
};

/// Steps that need no request.
static ANYTIME_STEP_KEYS: [Key; 3] = [
    Key::new(
        "notify",
        &Shape::AnyOf(&[Shape::String, Shape::Object(&NOTIFICATION)]),
        "Sends a notification, such as tools/list_changed.",
    ),
    Key::new("show", &Shape::Object(&ENTRY), "Adds an entry to its list, and notifies clients."),
    Key::new(
        "hide",
        &Shape::Object(&ENTRY),
        "Removes an entry from its list, and notifies clients.",
    ),
];

static PROGRESS: Object = Object {
    name: "a progress",
    keys: &[&[
        Key::new("progress", &Shape::Number, "The progress so far.").required(),
        Key::new("total", &Shape::Number, "The total."),
        Key::new("message", &Shape::String, "A message about the progress."),
    ]],
};

static LOG: Object = Object {
    name: "a log message",
    keys: &[&[
        Key::new("level", &LEVEL, "The level (default: info)."),
        Key::new("logger", &Shape::String, "The name of the logger."),
        Key::new("data", &Shape::Any, "The message or data.").required(),
    ]],
};

static LEVEL: Shape = Shape::Keyword(&[
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
]);

static NOTIFICATION: Object = Object {
    name: "a notification",
    keys: &[&[
        Key::new("method", &Shape::String, "Its method; notifications/ may be left out.")
            .required(),
        Key::new("params", &Shape::Map(&Shape::Any), "Its params, as sent on the wire."),
    ]],
};

static ENTRY: Object = Object {
    name: "an entry",
    keys: &[&[
        Key::new("tool", &Shape::String, "A tool's name."),
        Key::new("resource", &Shape::String, "A resource's URI."),
        Key::new("template", &Shape::String, "A resource template."),
        Key::new("prompt", &Shape::String, "A prompt's name."),
    ]],
};

pub(super) static TIMER: Object = Object {
    name: "a timer",
    keys: &[
        &[
            Key::new("every", &Shape::Duration, "Runs repeatedly at this interval."),
            Key::new("after", &Shape::Duration, "Runs once, this long after the start."),
        ],
        &ANYTIME_STEP_KEYS,
    ],
};

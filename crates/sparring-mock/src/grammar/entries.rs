//! What can be listed: tools, resources, templates, prompts, completions.
//!
//! An entry with one reply has the reply's keys itself; one with several has
//! them below `replies`.

use sparring_script::{Key, Object, Shape};

use super::reply::{
    ANY_BODY, BLOCK, ONLY_PROMPTS, ONLY_RESOURCES, ONLY_TOOLS, PERFORMANCE, PROMPT_REPLY,
    RESOURCE_REPLY, TOOL_REPLY,
};
use super::script::CACHE;
use super::{JSON_SCHEMA, WIRE};

/// What every entry has.
static LISTED: [Key; 5] = [
    Key::new("title", &Shape::Text, "Its name for people."),
    Key::new("description", &Shape::Text, "What it is, for a model."),
    Key::new("icons", &Shape::List(&WIRE), "Its icons."),
    Key::new("_meta", &Shape::Map(&Shape::Any), "Its metadata."),
    Key::new("hidden", &Shape::Bool, "Whether it is left out of lists until a step shows it."),
];

pub(crate) static TOOL: Object = Object {
    name: "a tool",
    keys: &[
        &[
            Key::new("name", &Shape::Text, "The name it is called by.").required(),
            Key::new(
                "input",
                &Shape::Map(&Shape::Any),
                "Its arguments in short: `{city: string, units: \"string?\"}`.",
            ),
            Key::new("input_schema", &JSON_SCHEMA, "Its arguments as a JSON Schema."),
            Key::new(
                "output",
                &Shape::Map(&Shape::Any),
                "Its structured content in short, as `input`.",
            ),
            Key::new("output_schema", &JSON_SCHEMA, "Its structured content as a JSON Schema."),
            Key::new("annotations", &WIRE, "Hints such as `read_only_hint`."),
            Key::new(
                "validate",
                &Shape::Bool,
                "Whether arguments that break the schema are refused; true where nothing is said.",
            ),
            Key::new(
                "replies",
                &Shape::List(&Shape::Object(&TOOL_REPLY)),
                "What it answers: the first whose `when` fits and whose `times` is not used up.",
            ),
        ],
        &LISTED,
        &PERFORMANCE,
        &BLOCK,
        &ONLY_TOOLS,
        &ANY_BODY,
    ],
};

/// What resources and templates have.
static OF_A_RESOURCE: [Key; 4] = [
    Key::new(
        "mime_type",
        &Shape::Text,
        "As text/plain; found out from a file's name where nothing is said.",
    ),
    Key::new("annotations", &WIRE, "Hints such as `audience` and `priority`."),
    Key::new("cache", &Shape::Object(&CACHE), "How long it may be kept, since 2026-07-28."),
    Key::new(
        "replies",
        &Shape::List(&Shape::Object(&RESOURCE_REPLY)),
        "What reading it gives: the first that fits.",
    ),
];

pub(super) static RESOURCE: Object = Object {
    name: "a resource",
    keys: &[
        &[
            Key::new("uri", &Shape::Text, "Where it is.").required(),
            Key::new("name", &Shape::Text, "Its name; its URI where nothing is said."),
            Key::new("size", &Shape::Integer(0), "How many bytes it says it has."),
        ],
        &LISTED,
        &OF_A_RESOURCE,
        &PERFORMANCE,
        &ONLY_RESOURCES,
        &ANY_BODY,
    ],
};

pub(super) static TEMPLATE: Object = Object {
    name: "a resource template",
    keys: &[
        &[
            Key::new(
                "uri_template",
                &Shape::Text,
                "The pattern, as `file:///{path}`; its variables are `${args…}`.",
            )
            .required(),
            Key::new("name", &Shape::Text, "Its name; the pattern where nothing is said."),
        ],
        &LISTED,
        &OF_A_RESOURCE,
        &PERFORMANCE,
        &ONLY_RESOURCES,
        &ANY_BODY,
    ],
};

pub(super) static PROMPT: Object = Object {
    name: "a prompt",
    keys: &[
        &[
            Key::new("name", &Shape::Text, "The name it is got by.").required(),
            Key::new("arguments", &Shape::List(&Shape::Object(&ARGUMENT)), "What it takes."),
            Key::new(
                "replies",
                &Shape::List(&Shape::Object(&PROMPT_REPLY)),
                "What getting it gives: the first that fits.",
            ),
        ],
        &LISTED,
        &PERFORMANCE,
        &ONLY_PROMPTS,
        &ANY_BODY,
    ],
};

static ARGUMENT: Object = Object {
    name: "an argument",
    keys: &[&[
        Key::new("name", &Shape::Text, "Its name.").required(),
        Key::new("title", &Shape::Text, "Its name for people."),
        Key::new("description", &Shape::Text, "What it is."),
        Key::new("required", &Shape::Bool, "Whether it must be given."),
    ]],
};

pub(super) static COMPLETION: Object = Object {
    name: "a completion",
    keys: &[&[
        Key::new("prompt", &Shape::Text, "The prompt whose argument it completes."),
        Key::new("template", &Shape::Text, "The resource template whose variable it completes."),
        Key::new("argument", &Shape::Text, "The argument.").required(),
        Key::new(
            "values",
            &Shape::List(&Shape::Text),
            "The values; those that begin as what was typed are given.",
        )
        .required(),
        Key::new("total", &Shape::Integer(0), "How many it says there are."),
        Key::new("has_more", &Shape::Bool, "Whether it says there are more."),
    ]],
};

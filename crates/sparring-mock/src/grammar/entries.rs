//! Keys of tools, resources, templates, prompts and completions.
//!
//! An entry with one reply has the keys of the reply itself; one with several has them below
//! `replies`.

use sparring_script::{Key, Object, Shape};

use super::reply::{
    BLOCK_KEYS, BODY_KEYS, DELIVERY_KEYS, PROMPT_BODY_KEYS, PROMPT_REPLY, RESOURCE_BODY_KEYS,
    RESOURCE_REPLY, TOOL_BODY_KEYS, TOOL_REPLY,
};
use super::script::CACHE;
use super::{JSON_SCHEMA, WIRE_MAP};

/// Keys of every entry.
static LISTED: [Key; 5] = [
    Key::new("title", &Shape::String, "Its display name."),
    Key::new("description", &Shape::String, "Its description, for the model."),
    Key::new("icons", &Shape::List(&WIRE_MAP), "Its icons."),
    Key::new("_meta", &Shape::Map(&Shape::Any), "Its metadata."),
    Key::new("hidden", &Shape::Bool, "If true, lists omit it until a step shows it."),
];

pub(crate) static TOOL: Object = Object {
    name: "a tool",
    keys: &[
        &[
            Key::new("name", &Shape::String, "Its name.").required(),
            Key::new(
                "input",
                &Shape::Map(&Shape::Any),
                "Its arguments in short form: `{city: string, units: \"string?\"}`.",
            ).synonyms(&["args", "arguments", "params", "parameters"]),
            Key::new("input_schema", &JSON_SCHEMA, "Its arguments as a JSON Schema.").synonyms(&["schema"]),
            Key::new(
                "output",
                &Shape::Map(&Shape::Any),
                "Its structured content in short form, as `input`.",
            ),
            Key::new("output_schema", &JSON_SCHEMA, "Its structured content as a JSON Schema."),
            Key::new("annotations", &WIRE_MAP, "Hints such as `read_only_hint`."),
            Key::new(
                "validate",
                &Shape::Bool,
                "If true, rejects arguments that violate the schema (default: true).",
            ),
            Key::new(
                "replies",
                &Shape::List(&Shape::Object(&TOOL_REPLY)),
                "Its replies. A call gets the first one whose `when` matches and whose `times` is not used up.",
            ).synonyms(&["responses"]),
        ],
        &LISTED,
        &DELIVERY_KEYS,
        &BLOCK_KEYS,
        &TOOL_BODY_KEYS,
        &BODY_KEYS,
    ],
};

/// Keys of resources and templates.
static RESOURCE_KEYS: [Key; 4] = [
    Key::new(
        "mime_type",
        &Shape::String,
        "The MIME type, such as text/plain (default: guessed from the file name).",
    ),
    Key::new("annotations", &WIRE_MAP, "Hints such as `audience` and `priority`."),
    Key::new("cache", &Shape::Object(&CACHE), "The caching hint, since 2026-07-28."),
    Key::new(
        "replies",
        &Shape::List(&Shape::Object(&RESOURCE_REPLY)),
        "Its replies: the first that matches is given.",
    ),
];

pub(super) static RESOURCE: Object = Object {
    name: "a resource",
    keys: &[
        &[
            Key::new("uri", &Shape::String, "Its URI.").required(),
            Key::new("name", &Shape::String, "Its name (default: its URI)."),
            Key::new("size", &Shape::Integer(0), "The size in bytes that it declares."),
        ],
        &LISTED,
        &RESOURCE_KEYS,
        &DELIVERY_KEYS,
        &RESOURCE_BODY_KEYS,
        &BODY_KEYS,
    ],
};

pub(super) static TEMPLATE: Object = Object {
    name: "a resource template",
    keys: &[
        &[
            Key::new(
                "uri_template",
                &Shape::String,
                "The URI template, such as `file:///{path}`; its variables are `${args…}`.",
            )
            .required(),
            Key::new("name", &Shape::String, "Its name (default: the URI template)."),
        ],
        &LISTED,
        &RESOURCE_KEYS,
        &DELIVERY_KEYS,
        &RESOURCE_BODY_KEYS,
        &BODY_KEYS,
    ],
};

pub(super) static PROMPT: Object = Object {
    name: "a prompt",
    keys: &[
        &[
            Key::new("name", &Shape::String, "Its name.").required(),
            Key::new("arguments", &Shape::List(&Shape::Object(&ARGUMENT)), "Its arguments."),
            Key::new(
                "replies",
                &Shape::List(&Shape::Object(&PROMPT_REPLY)),
                "Its replies: the first that matches is given.",
            ),
        ],
        &LISTED,
        &DELIVERY_KEYS,
        &PROMPT_BODY_KEYS,
        &BODY_KEYS,
    ],
};

static ARGUMENT: Object = Object {
    name: "an argument",
    keys: &[&[
        Key::new("name", &Shape::String, "Its name.").required(),
        Key::new("title", &Shape::String, "Its display name."),
        Key::new("description", &Shape::String, "Its description."),
        Key::new("required", &Shape::Bool, "True if it is required."),
    ]],
};

pub(super) static COMPLETION: Object = Object {
    name: "a completion",
    keys: &[&[
        Key::new("prompt", &Shape::String, "The prompt whose argument it completes."),
        Key::new("template", &Shape::String, "The resource template whose variable it completes."),
        Key::new("argument", &Shape::String, "The argument.").required(),
        Key::new(
            "values",
            &Shape::List(&Shape::String),
            "The values. A request gets those that start with the typed text.",
        )
        .required(),
        Key::new("total", &Shape::Integer(0), "The `total` that it declares."),
        Key::new("has_more", &Shape::Bool, "The `hasMore` that it declares."),
    ]],
};

//! Keys of an issuer: on a mock, alone, and those that can be changed while it serves.

use sparring_script::{Key, Object, Shape};

/// The issuer of a mock.
pub(super) static OAUTH: Object = Object {
    name: "the issuer of a mock",
    keys: &[
        &ISSUER_KEYS,
        &[
            Key::new(
                "requires",
                &Shape::OneOrMany(&Shape::String),
                "The scopes that every request needs.",
            ),
            Key::new(
                "tools",
                &Shape::Map(&Shape::OneOrMany(&Shape::String)),
                "The scopes that calls of a tool need in addition, by tool name.",
            ),
        ],
        &BEHAVIOR_KEYS,
    ],
};

/// An issuer alone.
pub(crate) static ISSUER: Object =
    Object { name: "an issuer", keys: &[&ISSUER_KEYS, &BEHAVIOR_KEYS] };

/// Keys that can be changed while it serves.
pub(crate) static CHANGES: Object =
    Object { name: "a change of an issuer", keys: &[&BEHAVIOR_KEYS] };

/// A token to issue.
pub(crate) static TOKEN: Object = Object {
    name: "a token",
    keys: &[&[
        Key::new("audience", &Shape::OneOrMany(&Shape::String), "Its audience."),
        Key::new("scopes", &Shape::AnyNumber(&Shape::String), "Its scopes."),
        Key::new("subject", &Shape::String, "Its subject."),
        Key::new("client_id", &Shape::String, "The client that it is issued to."),
        Key::new("lifetime", &Shape::Duration, "Its lifetime."),
        Key::new("wrong", &WRONG, "Its fault."),
    ]],
};

static ISSUER_KEYS: [Key; 4] = [
    Key::new("path", &Shape::String, "Its path, such as `/as` (default: the root)."),
    Key::new(
        "scopes",
        &Shape::OneOrMany(&Shape::String),
        "The scopes that it knows (default: any).",
    ),
    Key::new("clients", &Shape::List(&Shape::Object(&CLIENT)), "Its clients."),
    Key::new(
        "registration",
        &Shape::Bool,
        "True if clients may register themselves (default: true).",
    ),
];

static BEHAVIOR_KEYS: [Key; 5] = [
    Key::new(
        "lifetime",
        &Shape::Duration,
        "The lifetime of its tokens, in whole seconds (default: 1h).",
    ),
    Key::new(
        "refresh",
        &Shape::Keyword(&["rotate", "keep", "never"]),
        "The handling of refresh tokens: replaced on each use, reusable, or not issued (default: rotate).",
    ),
    Key::new(
        "login",
        &Shape::AnyNumber(&Shape::Keyword(&["approve", "deny"])),
        "The outcome of logins: one word for all, or a list for the next ones (default: approve).",
    ),
    Key::new(
        "refuse",
        &Shape::AnyNumber(&Shape::String),
        "The OAuth error of token requests: one for all, or a list for the next ones (default: none).",
    ),
    Key::new(
        "wrong",
        &Shape::AnyNumber(&WRONG),
        "The fault of issued tokens: one word for all, or a list for the next ones (default: nothing).",
    ),
];

static WRONG: Shape =
    Shape::Keyword(&["nothing", "signature", "audience", "issuer", "expired", "scope"]);

static CLIENT: Object = Object {
    name: "a client",
    keys: &[&[
        Key::new(
            "id",
            &Shape::String,
            "Its id; the metadata document of an https URL is not fetched.",
        )
        .required(),
        Key::new("secret", &Shape::String, "Its secret."),
        Key::new(
            "key",
            &Shape::String,
            "The PEM file of its public or private key, instead of a secret.",
        ),
        Key::new(
            "redirect_uris",
            &Shape::OneOrMany(&Shape::String),
            "Its redirect URIs (default: any on this machine). On this machine the port is ignored.",
        ),
    ]],
};

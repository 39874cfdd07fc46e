//! An issuer of tokens: as it stands beside a mock, by itself, and what of it can
//! be changed while it serves.

use sparring_script::{Key, Object, Shape};

/// The issuer of a mock, which lets in whoever has its tokens.
pub(super) static OAUTH: Object = Object {
    name: "the issuer of a mock",
    keys: &[
        &OWN,
        &[
            Key::new(
                "requires",
                &Shape::OneOrMany(&Shape::Text),
                "The scopes that a token needs to be let in at all.",
            ),
            Key::new(
                "tools",
                &Shape::Map(&Shape::OneOrMany(&Shape::Text)),
                "The scopes that a call of a tool needs besides, by the tool's name.",
            ),
        ],
        &WAYS,
    ],
};

/// An issuer by itself.
pub(crate) static ISSUER: Object = Object { name: "an issuer", keys: &[&OWN, &WAYS] };

/// What can be changed of one.
pub(crate) static CHANGES: Object = Object { name: "a change of an issuer", keys: &[&WAYS] };

/// A token to be made.
pub(crate) static TOKEN: Object = Object {
    name: "a token",
    keys: &[&[
        Key::new("audience", &Shape::OneOrMany(&Shape::Text), "Whom it is for."),
        Key::new("scopes", &Shape::OneOrMany(&Shape::Text), "Its scopes."),
        Key::new("subject", &Shape::Text, "On whose behalf it is."),
        Key::new("client_id", &Shape::Text, "To which client it is given."),
        Key::new("lifetime", &Shape::Duration, "How long it is good."),
        Key::new("wrong", &WRONG, "What is wrong with it."),
    ]],
};

static OWN: [Key; 4] = [
    Key::new(
        "path",
        &Shape::Text,
        "Where it is at its origin, as `/as`; at the root where nothing is said.",
    ),
    Key::new(
        "scopes",
        &Shape::OneOrMany(&Shape::Text),
        "The scopes that there are; where nothing is said, any is good.",
    ),
    Key::new("clients", &Shape::List(&Shape::Object(&CLIENT)), "The clients that it knows."),
    Key::new(
        "registration",
        &Shape::Bool,
        "Whether clients may register themselves; they may where nothing is said.",
    ),
];

static WAYS: [Key; 5] = [
    Key::new(
        "lifetime",
        &Shape::Duration,
        "How long its tokens are good, in whole seconds; an hour where nothing is said.",
    ),
    Key::new(
        "refresh",
        &Shape::Word(&["rotate", "keep", "never"]),
        "Whether a refresh token is good once, always, or not given at all; once where nothing is said.",
    ),
    Key::new(
        "login",
        &Shape::OneOrMany(&Shape::Word(&["approve", "deny"])),
        "What comes of logins: of all, or as a list of one after the other. Then they are approved.",
    ),
    Key::new(
        "refuse",
        &Shape::OneOrMany(&Shape::Text),
        "The error of OAuth that token requests are refused with: all, or as a list one after the other. Then they are served.",
    ),
    Key::new(
        "wrong",
        &Shape::OneOrMany(&WRONG),
        "What is wrong with the tokens it gives: with all, or as a list with one after the other. Then nothing is.",
    ),
];

static WRONG: Shape =
    Shape::Word(&["nothing", "signature", "audience", "issuer", "expired", "scope"]);

static CLIENT: Object = Object {
    name: "a client",
    keys: &[&[
        Key::new(
            "id",
            &Shape::Text,
            "Its id; an https URL is a document that is taken as known, and never looked up.",
        )
        .required(),
        Key::new("secret", &Shape::Text, "Its secret."),
        Key::new("key", &Shape::Text, "The file of its key in PEM, public or private, instead."),
        Key::new(
            "redirect_uris",
            &Shape::OneOrMany(&Shape::Text),
            "Where a browser may be sent; anywhere on this machine where nothing is said. On this machine the port does not matter.",
        ),
    ]],
};

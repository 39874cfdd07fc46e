//! The kinds of values that expectations check.
//!
//! The items of the protocol have the fields of all revisions; a test compares them with the
//! types of the wire.

use std::collections::BTreeSet;

use sparring_script::{Shape, Subject};
use sparring_wire::{RULES, Revision, Side};

use crate::step_result::ERROR_KINDS;

/// A text that always exists.
pub(super) static TEXT: Shape = Shape::Matcher(&Subject::Present(&Subject::Text));

/// A number that always exists.
pub(super) static NUMBER: Shape = Shape::Matcher(&Subject::Present(&Subject::Number));

/// A string or a number that always exists.
pub(super) static SCALAR: Shape = Shape::Matcher(&Subject::Present(&Subject::Scalar));

/// User data.
pub(super) static DATA: Shape = Shape::Matcher(&Subject::Data);

/// Headers or query parameters by name. One that is repeated is a list.
pub(super) static TEXTS_BY_NAME: Subject =
    Subject::Map(&Subject::OneOf(&[Subject::Text, Subject::List(&Subject::Text)]));

/// The error of a request.
pub(super) static ERROR: Subject = Subject::Object(
    "an error",
    &[
        ("kind", Subject::Keyword(|| ERROR_KINDS.to_vec())),
        ("code", Subject::Number),
        ("message", Subject::Text),
        ("data", Subject::Data),
    ],
);

/// A protocol violation.
pub(crate) static VIOLATION: Subject = Subject::Object(
    "a violation",
    &[
        ("rule", Subject::Keyword(|| RULES.iter().map(|entry| entry.id).collect())),
        ("level", Subject::Keyword(|| vec!["must", "should"])),
        ("path", Subject::Text),
        ("message", Subject::Text),
        ("section", Subject::Text),
    ],
);

/// A request or a notification.
pub(crate) static MESSAGE: Subject =
    Subject::Object("a message", &[("method", METHOD), ("params", Subject::Data)]);

/// A method of the protocol, or another one.
pub(crate) const METHOD: Subject = Subject::Name(methods);

/// A method of HTTP, or another one.
pub(crate) const HTTP_METHOD: Subject = Subject::Name(|| {
    vec!["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]
});

/// The methods of the protocol in all revisions, each once.
fn methods() -> Vec<&'static str> {
    let of_side = |revision: Revision, from: Side| {
        let requests = revision.requests(from).iter().map(|it| it.name);
        requests.chain(revision.notifications(from).iter().map(|it| it.name))
    };
    let sides = [Side::Client, Side::Server];
    let all = Revision::ALL
        .into_iter()
        .flat_map(|revision| sides.into_iter().flat_map(move |from| of_side(revision, from)));
    all.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Any frame. One that is not JSON is a string, and a batch is a list.
pub(crate) static FRAME: Subject =
    Subject::OneOf(&[JSON_FRAME, Subject::Text, Subject::List(&JSON_FRAME)]);

const JSON_FRAME: Subject = Subject::Object(
    "a frame",
    &[
        ("jsonrpc", Subject::Text),
        ("id", Subject::Scalar),
        ("method", METHOD),
        ("params", Subject::Data),
        ("result", Subject::Data),
        (
            "error",
            Subject::Object(
                "an error",
                &[("code", Subject::Number), ("message", Subject::Text), ("data", Subject::Data)],
            ),
        ),
    ],
);

/// A value of a completion.
pub(crate) static COMPLETION: Subject = Subject::Present(&Subject::Text);

/// An item of `list: tools`.
pub(crate) static TOOL: Subject = Subject::Object(
    "a tool",
    &[
        ("name", Subject::Text),
        ("title", Subject::Text),
        ("description", Subject::Text),
        ("inputSchema", Subject::Data),
        ("outputSchema", Subject::Data),
        (
            "annotations",
            Subject::Object(
                "the annotations of a tool",
                &[
                    ("title", Subject::Text),
                    ("readOnlyHint", Subject::Bool),
                    ("destructiveHint", Subject::Bool),
                    ("idempotentHint", Subject::Bool),
                    ("openWorldHint", Subject::Bool),
                ],
            ),
        ),
        (
            "execution",
            Subject::Object("the execution of a tool", &[("taskSupport", Subject::Text)]),
        ),
        ("icons", ICONS),
        ("_meta", Subject::Data),
    ],
);

/// An item of `list: resources`.
pub(crate) static RESOURCE: Subject = Subject::Object(
    "a resource",
    &[
        ("uri", Subject::Text),
        ("name", Subject::Text),
        ("title", Subject::Text),
        ("description", Subject::Text),
        ("mimeType", Subject::Text),
        ("size", Subject::Number),
        ("annotations", ANNOTATIONS),
        ("icons", ICONS),
        ("_meta", Subject::Data),
    ],
);

/// An item of `list: templates`.
pub(crate) static TEMPLATE: Subject = Subject::Object(
    "a resource template",
    &[
        ("uriTemplate", Subject::Text),
        ("name", Subject::Text),
        ("title", Subject::Text),
        ("description", Subject::Text),
        ("mimeType", Subject::Text),
        ("annotations", ANNOTATIONS),
        ("icons", ICONS),
        ("_meta", Subject::Data),
    ],
);

/// An item of `list: prompts`.
pub(crate) static PROMPT: Subject = Subject::Object(
    "a prompt",
    &[
        ("name", Subject::Text),
        ("title", Subject::Text),
        ("description", Subject::Text),
        (
            "arguments",
            Subject::List(&Subject::Object(
                "an argument",
                &[
                    ("name", Subject::Text),
                    ("title", Subject::Text),
                    ("description", Subject::Text),
                    ("required", Subject::Bool),
                ],
            )),
        ),
        ("icons", ICONS),
        ("_meta", Subject::Data),
    ],
);

/// The items of `content`, `contents` or `messages`.
pub(super) static CONTENT: Subject = Subject::List(&CONTENT_ITEM);

/// An item of one of these lists, with the fields of all kinds.
static CONTENT_ITEM: Subject = Subject::Object(
    "an item of the content",
    &[
        ("type", Subject::Text),
        ("text", Subject::Text),
        ("data", Subject::Text),
        ("blob", Subject::Text),
        ("mimeType", Subject::Text),
        ("uri", Subject::Text),
        ("name", Subject::Text),
        ("title", Subject::Text),
        ("description", Subject::Text),
        ("size", Subject::Number),
        ("icons", ICONS),
        ("annotations", ANNOTATIONS),
        ("resource", RESOURCE_CONTENTS),
        ("role", Subject::Text),
        ("content", CONTENT_BLOCK),
        ("_meta", Subject::Data),
    ],
);

/// The content of a message of a prompt.
const CONTENT_BLOCK: Subject = Subject::Object(
    "a content block",
    &[
        ("type", Subject::Text),
        ("text", Subject::Text),
        ("data", Subject::Text),
        ("mimeType", Subject::Text),
        ("uri", Subject::Text),
        ("name", Subject::Text),
        ("title", Subject::Text),
        ("description", Subject::Text),
        ("size", Subject::Number),
        ("icons", ICONS),
        ("annotations", ANNOTATIONS),
        ("resource", RESOURCE_CONTENTS),
        ("_meta", Subject::Data),
    ],
);

const RESOURCE_CONTENTS: Subject = Subject::Object(
    "the contents of a resource",
    &[
        ("uri", Subject::Text),
        ("mimeType", Subject::Text),
        ("text", Subject::Text),
        ("blob", Subject::Text),
        ("_meta", Subject::Data),
    ],
);

const ANNOTATIONS: Subject = Subject::Object(
    "annotations",
    &[
        ("audience", Subject::List(&Subject::Text)),
        ("priority", Subject::Number),
        ("lastModified", Subject::Text),
    ],
);

const ICONS: Subject = Subject::List(&Subject::Object(
    "an icon",
    &[
        ("src", Subject::Text),
        ("mimeType", Subject::Text),
        ("sizes", Subject::List(&Subject::Text)),
        ("theme", Subject::Text),
    ],
));

#[cfg(test)]
mod tests {
    use super::*;

    /// The files of the revisions, which have one line for each type.
    const REVISIONS: [&str; 5] = [
        include_str!("../../../sparring-wire/src/revision/v2024_11_05.rs"),
        include_str!("../../../sparring-wire/src/revision/v2025_03_26.rs"),
        include_str!("../../../sparring-wire/src/revision/v2025_06_18.rs"),
        include_str!("../../../sparring-wire/src/revision/v2025_11_25.rs"),
        include_str!("../../../sparring-wire/src/revision/v2026_07_28.rs"),
    ];

    /// The fields of a type in one revision.
    fn fields(revision: &'static str, name: &str) -> Vec<&'static str> {
        let start = format!("{name} = {{ ");
        let Some(line) = revision.lines().find_map(|line| line.strip_prefix(&*start)) else {
            return Vec::new();
        };
        let (mut depth, mut fields, mut start) = (0, Vec::new(), 0);
        for (at, c) in line.char_indices() {
            match c {
                '{' | '[' | '<' | '(' => depth += 1,
                '}' | ']' | '>' | ')' => depth -= 1,
                ',' if depth == 0 => start = at + 1,
                ':' if depth == 0 => fields.push(line[start..at].trim().trim_end_matches('?')),
                _ => {}
            }
        }
        fields
    }

    /// Checks that a kind has exactly the fields of these types, in any revision.
    #[track_caller]
    fn check(subject: &Subject, types: &[&str]) {
        let Subject::Object(_, known) = subject else { panic!("{subject:?}") };
        let known: BTreeSet<&str> = known.iter().map(|(name, _)| *name).collect();
        let of_types = REVISIONS
            .iter()
            .flat_map(|revision| types.iter().flat_map(|name| fields(revision, name)));
        assert_eq!(known, of_types.collect(), "{types:?}");
    }

    #[test]
    fn items_have_the_fields_of_their_types_in_all_revisions() {
        check(&TOOL, &["Tool"]);
        check(&RESOURCE, &["Resource"]);
        check(&TEMPLATE, &["ResourceTemplate"]);
        check(&PROMPT, &["Prompt"]);
        check(&ANNOTATIONS, &["Annotations"]);
        check(&RESOURCE_CONTENTS, &["TextResourceContents", "BlobResourceContents"]);
        check(
            &CONTENT_BLOCK,
            &["TextContent", "ImageContent", "AudioContent", "ResourceLink", "EmbeddedResource"],
        );
        check(
            &CONTENT_ITEM,
            &[
                "TextContent",
                "ImageContent",
                "AudioContent",
                "ResourceLink",
                "EmbeddedResource",
                "TextResourceContents",
                "BlobResourceContents",
                "PromptMessage",
            ],
        );
    }
}

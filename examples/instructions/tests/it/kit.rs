//! What the tests of this server check again and again.

use sparring::{Content, Response};

use crate::client::ids;

/// What every answer about the learning loop has.
pub(crate) fn learning_loop() -> Content {
    Content::all(["learning loop", "retrospective"])
}

/// What every answer about the work log has.
pub(crate) fn work_log() -> Content {
    Content::all(["work log", "entry"])
}

/// What every answer with a checklist has.
pub(crate) fn checklist() -> Content {
    Content::from("checklist")
}

/// Checks that something was routed to.
#[track_caller]
pub(crate) fn assert_routing_success(response: &Response) {
    response.assert_content(Content::not_empty());
    assert!(!ids(response).is_empty(), "nothing fits: {}", response.text());
}

/// Checks that an answer has this instruction.
#[track_caller]
pub(crate) fn assert_contains_instruction(response: &Response, id: &str) {
    let ids = ids(response);
    assert!(ids.iter().any(|it| it == id), "expected {id:?}\nfound: {ids:?}");
}

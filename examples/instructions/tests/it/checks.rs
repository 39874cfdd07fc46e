//! Checks that several tests of this server share.

use sparring::{Content, Response};

use crate::client::ids;

/// Matches every answer about the learning loop.
pub(crate) fn learning_loop() -> Content {
    Content::all(["learning loop", "retrospective"])
}

/// Matches every answer about the work log.
pub(crate) fn work_log() -> Content {
    Content::all(["work log", "entry"])
}

/// Matches every answer with a checklist.
pub(crate) fn checklist() -> Content {
    Content::from("checklist")
}

/// Checks that the message was routed to at least one instruction.
#[track_caller]
pub(crate) fn assert_routing_success(response: &Response) {
    response.assert_content(Content::not_empty());
    assert!(!ids(response).is_empty(), "nothing fits: {}", response.text());
}

/// Checks that an answer contains this instruction.
#[track_caller]
pub(crate) fn assert_contains_instruction(response: &Response, id: &str) {
    let ids = ids(response);
    assert!(ids.iter().any(|it| it == id), "expected {id:?}\nfound: {ids:?}");
}

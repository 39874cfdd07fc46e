//! What the tests of this server check again and again.

use sparring::Response;

/// Texts that an answer must have, in whatever case.
pub(crate) struct Expected(&'static [&'static str]);

/// What every answer about the learning loop has.
pub(crate) const LEARNING_LOOP: Expected = Expected(&["learning loop", "retrospective"]);

/// What every answer about the work log has.
pub(crate) const WORK_LOG: Expected = Expected(&["work log", "entry"]);

/// What every answer with a checklist has.
pub(crate) const CHECKLIST: Expected = Expected(&["checklist"]);

impl Expected {
    /// Checks that an answer has all of it.
    #[track_caller]
    pub(crate) fn in_answer(&self, response: &Response) {
        response.assert_success();
        let content = response.content().to_lowercase();
        for text in self.0 {
            assert!(content.contains(text), "no {text:?} in: {content:.300}");
        }
    }
}

/// Checks that something was routed to.
#[track_caller]
pub(crate) fn assert_routing_success(response: &Response) {
    response.assert_success();
    assert!(!crate::client::ids(response).is_empty(), "nothing fits: {}", response.content());
}

/// Checks that an answer has this instruction.
#[track_caller]
pub(crate) fn assert_contains_instruction(response: &Response, id: &str) {
    let ids = crate::client::ids(response);
    assert!(ids.iter().any(|it| it == id), "no {id:?} among {ids:?}");
}

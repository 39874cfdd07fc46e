//! Conversations that begin with a handshake, or with nothing.

use super::super::Referee;
use super::{CALL, CALLED, check, discovery, half_handshake, handshake, session};
use crate::frame::Frame;
use crate::revision::{Revision, Side};

#[test]
fn learns_the_revision_from_the_handshake() {
    for revision in Revision::ALL.into_iter().filter(|it| !it.is_modern()) {
        let referee = check(&handshake(revision.name(), "{}", "{}"), &[]);
        assert_eq!(referee.revision(), Some(revision));
    }
    assert_eq!(Referee::new().revision(), None);
}

#[test]
fn before_the_revision_is_known_only_what_is_wrong_in_all_is_reported() {
    check(
        &[],
        &[
            (r#"<{"id":7,"result":{}}"#, "unknown-reply $.id"),
            (CALL, ""),
            (CALL, ""),
            (r#"<{"method":"notifications/message","params":{}}"#, ""),
        ],
    );
    let mut referee = Referee::new();
    let found = referee.observe(Side::Server, &Frame::parse("noise"));
    assert_eq!(found.len(), 1);
}

#[test]
fn results_are_judged_by_the_request_they_answer() {
    check(
        &session(),
        &[
            (CALL, ""),
            (r#">{"id":2,"method":"tools/list"}"#, ""),
            (r#"<{"id":2,"result":{"content":[]}}"#, "missing-field $.result.tools"),
            (r#"<{"id":1,"result":{"tools":[]}}"#, "missing-field $.result.content"),
        ],
    );
}

#[test]
fn replies_fit_a_request_in_flight_once() {
    check(
        &session(),
        &[
            (CALL, ""),
            (r#"<{"id":5,"result":{}}"#, "unknown-reply $.id"),
            (r#"<{"id":"1","result":{}}"#, "reply-id-type $.id"),
            (CALLED, ""),
            (CALLED, "duplicate-reply $.id"),
            (r#"<{"id":"01","result":{}}"#, "unknown-reply $.id"),
            (r#">{"id":"s","method":"tools/call","params":{"name":"a"}}"#, ""),
            (r#"<{"id":"s","error":{"code":-32602,"message":"m"}}"#, ""),
            (r#"<{"error":{"code":-32700,"message":"m"}}"#, ""),
        ],
    );
}

#[test]
fn a_late_reply_to_a_cancelled_request_is_legal_once() {
    check(
        &session(),
        &[
            (CALL, ""),
            (r#">{"method":"notifications/cancelled","params":{"requestId":1}}"#, ""),
            (CALLED, ""),
            (CALLED, "duplicate-reply $.id"),
        ],
    );
}

#[test]
fn ids_are_not_used_again() {
    check(
        &session(),
        &[
            (CALL, ""),
            (CALL, "id-reused $.id"),
            (CALLED, ""),
            (CALLED, ""),
            (CALL, "id-reused $.id"),
        ],
    );
    let list = r#">{"id":1,"method":"tools/list","params":{$META}}"#;
    let listed = r#"<{"id":1,"result":{"resultType":"complete","tools":[],"ttlMs":1,"cacheScope":"public"}}"#;
    check(&discovery(), &[(list, ""), (listed, ""), (list, ""), (list, "id-reused $.id")]);
}

#[test]
fn both_sides_may_use_the_same_ids() {
    check(
        &session(),
        &[
            (CALL, ""),
            (r#"<{"id":1,"method":"roots/list"}"#, ""),
            (r#">{"id":1,"result":{"roots":[]}}"#, ""),
            (CALLED, ""),
        ],
    );
}

#[test]
fn requests_wait_for_the_handshake_but_pings_and_logs_do_not() {
    let opening = half_handshake("2025-06-18", r#"{"roots":{}}"#, r#"{"tools":{},"logging":{}}"#);
    check(
        &opening,
        &[
            (r#">{"id":1,"method":"ping"}"#, ""),
            (r#"<{"id":1,"method":"ping"}"#, ""),
            (r#"<{"method":"notifications/message","params":{"level":"info","data":1}}"#, ""),
            (r#"<{"id":2,"method":"roots/list"}"#, "out-of-order $.method"),
            (r#">{"id":2,"method":"tools/list"}"#, "out-of-order $.method"),
            (r#">{"method":"notifications/initialized"}"#, ""),
            (r#">{"id":3,"method":"tools/list"}"#, ""),
            (
                r#">{"id":4,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
                "out-of-order $.method",
            ),
        ],
    );
}

#[test]
fn only_declared_capabilities_are_used() {
    let opening = handshake(
        "2025-11-25",
        r#"{"elicitation":{},"sampling":{}}"#,
        r#"{"tools":{},"resources":{"subscribe":false}}"#,
    );
    check(
        &opening,
        &[
            (r#">{"id":1,"method":"tools/list"}"#, ""),
            (r#">{"id":2,"method":"prompts/list"}"#, "undeclared $.method"),
            (
                r#">{"id":3,"method":"resources/subscribe","params":{"uri":"a:b"}}"#,
                "undeclared $.method",
            ),
            (r#"<{"method":"notifications/tools/list_changed"}"#, "undeclared $.method"),
            (
                r#"<{"method":"notifications/message","params":{"level":"info","data":1}}"#,
                "undeclared $.method",
            ),
            (r#"<{"id":1,"method":"roots/list"}"#, "undeclared $.method"),
            (
                r#"<{"id":2,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#,
                "",
            ),
            (
                r#"<{"id":3,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u:v","elicitationId":"e"}}"#,
                "undeclared $.method",
            ),
            (
                r#"<{"id":4,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}}"#,
                "undeclared $.method",
            ),
            (r#">{"method":"notifications/roots/list_changed"}"#, "undeclared $.method"),
        ],
    );
}

#[test]
fn progress_belongs_to_a_request_in_flight_and_increases() {
    let progress = |token: &str, value: &str| {
        format!(
            r#"<{{"method":"notifications/progress","params":{{"progressToken":{token},"progress":{value}}}}}"#
        )
    };
    check(
        &session(),
        &[
            (
                r#">{"id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}"#,
                "",
            ),
            (&progress("\"t\"", "1"), ""),
            (&progress("\"t\"", "1.5"), ""),
            (&progress("\"t\"", "1.5"), "wrong-progress $.params.progress"),
            (&progress("\"u\"", "1"), "wrong-progress $.params.progressToken"),
            (
                r#">{"id":2,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}"#,
                "wrong-progress $.params._meta.progressToken",
            ),
            (CALLED, ""),
            (&progress("\"t\"", "8"), ""),
            (r#"<{"id":2,"result":{"content":[]}}"#, ""),
            (&progress("\"t\"", "9"), "wrong-progress $.params.progressToken"),
        ],
    );
}

#[test]
fn progress_goes_on_for_tasks_and_may_come_late_after_a_cancellation() {
    let progress = |value: &str| {
        format!(
            r#"<{{"method":"notifications/progress","params":{{"progressToken":7,"progress":{value}}}}}"#
        )
    };
    let task = r#">{"id":1,"method":"tools/call","params":{"name":"a","task":{},"_meta":{"progressToken":7}}}"#;
    let created = r#"<{"id":1,"result":{"task":{"taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"l","ttl":1}}}"#;
    check(&session(), &[(task, ""), (created, ""), (&progress("1"), ""), (&progress("2"), "")]);
    check(
        &session(),
        &[
            (
                r#">{"id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":7}}}"#,
                "",
            ),
            (r#">{"method":"notifications/cancelled","params":{"requestId":1}}"#, ""),
            (&progress("1"), ""),
        ],
    );
}

#[test]
fn a_task_is_no_answer_to_a_request_that_did_not_ask_for_one() {
    check(
        &session(),
        &[
            (CALL, ""),
            (
                r#"<{"id":1,"result":{"task":{"taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"l","ttl":1}}}"#,
                "missing-field $.result.content",
            ),
        ],
    );
}

#[test]
fn a_handshake_leads_to_a_version_asked_for_or_known() {
    let ask = |version: &str| {
        format!(
            r#">{{"id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
        )
    };
    let answer = |version: &str| {
        format!(
            r#"<{{"id":0,"result":{{"protocolVersion":"{version}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
        )
    };
    let wrong = "wrong-version $.result.protocolVersion";
    for (asked, answered, expected) in [
        ("2025-11-25", "2024-11-05", ""),
        ("2025-11-25", "1.0", wrong),
        ("2025-11-25", "2026-07-28", wrong),
        ("2030-01-01", "2030-01-01", ""),
    ] {
        check(&[], &[(&ask(asked), ""), (&answer(answered), expected)]);
    }
}

#[test]
fn frames_of_a_batch_are_judged_in_their_place() {
    let mut referee = check(&handshake("2025-03-26", "{}", r#"{"tools":{}}"#), &[]);
    let ask = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"prompts/list"}]"#;
    let found = referee.observe(Side::Client, &Frame::parse(ask));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].path, "$[1].method");
    let answer = r#"[{"jsonrpc":"2.0","id":2,"result":{"prompts":[]}},{"jsonrpc":"2.0","id":1,"result":{}}]"#;
    let found = referee.observe(Side::Server, &Frame::parse(answer));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].path, "$[1].result.tools");
}

#[test]
fn a_batch_that_is_not_allowed_still_counts_as_sent() {
    let mut referee = check(&session(), &[(CALL, "")]);
    let answer = r#"[{"jsonrpc":"2.0","id":1,"result":{"content":[]}}]"#;
    let found = referee.observe(Side::Server, &Frame::parse(answer));
    assert_eq!(found.len(), 1, "{found:?}");
    let again = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    let found = referee.observe(Side::Server, &Frame::parse(again));
    assert_eq!(found[0].rule.name(), "duplicate-reply");
}

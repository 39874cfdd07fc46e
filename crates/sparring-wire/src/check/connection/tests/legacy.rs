//! Connections that start with a handshake, or without a known revision.

use super::super::ConnectionChecker;
use super::{CALL, CALLED, check, discovery, half_handshake, handshake, session};
use crate::frame::Frame;
use crate::revision::{Revision, Side};
use crate::rule::Rule;

#[test]
fn learns_the_revision_from_the_handshake() {
    for revision in Revision::ALL.into_iter().filter(|it| !it.is_modern()) {
        let checker = check(&handshake(revision.name(), "{}", "{}"), &[]);
        assert_eq!(checker.revision(), Some(revision));
    }
    assert_eq!(ConnectionChecker::new().revision(), None);
}

#[test]
fn reports_only_violations_of_all_revisions_before_the_revision_is_known() {
    check(
        &[],
        &[
            (r#"<{"id":7,"result":{}}"#, "exchange/unknown-response $.id"),
            (CALL, ""),
            (CALL, ""),
            (r#"<{"method":"notifications/message","params":{}}"#, ""),
        ],
    );
    let mut checker = ConnectionChecker::new();
    let found = checker.check(Side::Server, &Frame::parse("noise"));
    assert_eq!(found.len(), 1);
}

#[test]
fn results_are_checked_by_their_request() {
    check(
        &session(),
        &[
            (CALL, ""),
            (r#">{"id":2,"method":"tools/list"}"#, ""),
            (r#"<{"id":2,"result":{"content":[]}}"#, "schema/missing-field $.result.tools"),
            (r#"<{"id":1,"result":{"tools":[]}}"#, "schema/missing-field $.result.content"),
        ],
    );
}

#[test]
fn reports_responses_without_a_pending_request() {
    check(
        &session(),
        &[
            (CALL, ""),
            (r#"<{"id":5,"result":{}}"#, "exchange/unknown-response $.id"),
            (r#"<{"id":"1","result":{}}"#, "exchange/response-id-type $.id"),
            (CALLED, ""),
            (CALLED, "exchange/duplicate-response $.id"),
            (r#"<{"id":"01","result":{}}"#, "exchange/unknown-response $.id"),
            (r#">{"id":"s","method":"tools/call","params":{"name":"a"}}"#, ""),
            (r#"<{"id":"s","error":{"code":-32602,"message":"m"}}"#, ""),
            (r#"<{"error":{"code":-32700,"message":"m"}}"#, ""),
        ],
    );
}

#[test]
fn a_cancelled_request_can_get_one_late_response() {
    check(
        &session(),
        &[
            (CALL, ""),
            (r#">{"method":"notifications/cancelled","params":{"requestId":1}}"#, ""),
            (CALLED, ""),
            (CALLED, "exchange/duplicate-response $.id"),
        ],
    );
}

#[test]
fn reports_reused_ids() {
    check(
        &session(),
        &[
            (CALL, ""),
            (CALL, "exchange/id-reused $.id"),
            (CALLED, ""),
            (CALLED, ""),
            (CALL, "exchange/id-reused $.id"),
        ],
    );
    let list = r#">{"id":1,"method":"tools/list","params":{$META}}"#;
    let listed = r#"<{"id":1,"result":{"resultType":"complete","tools":[],"ttlMs":1,"cacheScope":"public"}}"#;
    check(&discovery(), &[(list, ""), (listed, ""), (list, ""), (list, "exchange/id-reused $.id")]);
}

#[test]
fn both_sides_can_use_the_same_ids() {
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
            (r#"<{"id":2,"method":"roots/list"}"#, "lifecycle/out-of-order $.method"),
            (r#">{"id":2,"method":"tools/list"}"#, "lifecycle/out-of-order $.method"),
            (r#">{"method":"notifications/initialized"}"#, ""),
            (r#">{"id":3,"method":"tools/list"}"#, ""),
            (
                r#">{"id":4,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
                "lifecycle/out-of-order $.method",
            ),
        ],
    );
}

#[test]
fn undeclared_parts_of_a_feature_break_a_should_until_2025_03_26() {
    let updated = r#"<{"method":"notifications/resources/updated","params":{"uri":"a://b"}}"#;
    for (version, part) in [("2025-03-26", "not-negotiated"), ("2025-06-18", "undeclared")] {
        let part = format!("capabilities/{part} $.method");
        let update = format!("{part}, subscriptions/unrequested-update $.params.uri");
        check(
            &handshake(version, "{}", r#"{"tools":{},"resources":{}}"#),
            &[
                (r#"<{"method":"notifications/tools/list_changed"}"#, &*part),
                (updated, &*update),
                (
                    r#"<{"method":"notifications/prompts/list_changed"}"#,
                    "capabilities/undeclared $.method",
                ),
                (
                    r#"<{"method":"notifications/message","params":{"level":"info","data":1}}"#,
                    "capabilities/undeclared $.method",
                ),
            ],
        );
    }
}

#[test]
fn reports_undeclared_capabilities() {
    let opening = handshake(
        "2025-11-25",
        r#"{"elicitation":{},"sampling":{}}"#,
        r#"{"tools":{},"resources":{"subscribe":false}}"#,
    );
    check(
        &opening,
        &[
            (r#">{"id":1,"method":"tools/list"}"#, ""),
            (r#">{"id":2,"method":"prompts/list"}"#, "capabilities/undeclared $.method"),
            (
                r#">{"id":3,"method":"resources/subscribe","params":{"uri":"a:b"}}"#,
                "capabilities/undeclared $.method",
            ),
            (
                r#"<{"method":"notifications/tools/list_changed"}"#,
                "capabilities/undeclared $.method",
            ),
            (
                r#"<{"method":"notifications/message","params":{"level":"info","data":1}}"#,
                "capabilities/undeclared $.method",
            ),
            (r#"<{"id":1,"method":"roots/list"}"#, "capabilities/undeclared $.method"),
            (
                r#"<{"id":2,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#,
                "",
            ),
            (
                r#"<{"id":3,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u:v","elicitationId":"e"}}"#,
                "capabilities/undeclared $.method",
            ),
            (
                r#"<{"id":4,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}}"#,
                "capabilities/undeclared $.method",
            ),
            (
                r#">{"method":"notifications/roots/list_changed"}"#,
                "capabilities/undeclared $.method",
            ),
        ],
    );
}

#[test]
fn progress_must_belong_to_a_pending_request_and_increase() {
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
            (&progress("\"t\"", "1.5"), "progress/invalid $.params.progress"),
            (&progress("\"u\"", "1"), "progress/invalid $.params.progressToken"),
            (
                r#">{"id":2,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}"#,
                "progress/invalid $.params._meta.progressToken",
            ),
            (CALLED, ""),
            (&progress("\"t\"", "8"), ""),
            (r#"<{"id":2,"result":{"content":[]}}"#, ""),
            (&progress("\"t\"", "9"), "progress/invalid $.params.progressToken"),
        ],
    );
}

#[test]
fn progress_continues_for_tasks_and_can_come_after_a_cancellation() {
    let progress = |value: &str| {
        format!(
            r#"<{{"method":"notifications/progress","params":{{"progressToken":7,"progress":{value},"_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"t"}}}}}}}}"#
        )
    };
    let task = r#">{"id":1,"method":"tools/call","params":{"name":"a","task":{},"_meta":{"progressToken":7}}}"#;
    let created = r#"<{"id":1,"result":{"task":{"taskId":"t","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":1}}}"#;
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
fn reports_a_task_as_result_of_a_request_without_task() {
    check(
        &session(),
        &[
            (CALL, ""),
            (
                r#"<{"id":1,"result":{"task":{"taskId":"t","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":1}}}"#,
                "schema/missing-field $.result.content",
            ),
        ],
    );
}

#[test]
fn a_handshake_must_select_a_requested_or_known_version() {
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
    let wrong = "lifecycle/wrong-version $.result.protocolVersion";
    for (asked, context, expected) in [
        ("2025-11-25", "2024-11-05", ""),
        ("2025-11-25", "1.0", wrong),
        ("2025-11-25", "2026-07-28", wrong),
        ("2030-01-01", "2030-01-01", ""),
    ] {
        check(&[], &[(&ask(asked), ""), (&answer(context), expected)]);
    }
}

#[test]
fn frames_of_a_batch_are_checked_in_order() {
    let mut checker = check(&handshake("2025-03-26", "{}", r#"{"tools":{}}"#), &[]);
    let ask = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"prompts/list"}]"#;
    let found = checker.check(Side::Client, &Frame::parse(ask));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].path, "$[1].method");
    let answer = r#"[{"jsonrpc":"2.0","id":2,"result":{"prompts":[]}},{"jsonrpc":"2.0","id":1,"result":{}}]"#;
    let found = checker.check(Side::Server, &Frame::parse(answer));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].path, "$[1].result.tools");
}

#[test]
fn the_response_to_initialize_is_in_no_batch() {
    let mut checker = ConnectionChecker::new();
    let info = r#"{"name":"n","version":"1"}"#;
    let version = r#""protocolVersion":"2025-03-26","capabilities":{}"#;
    let ask = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{{version},"clientInfo":{info}}}}}"#
    );
    assert!(checker.check(Side::Client, &Frame::parse(ask)).is_empty());
    let answer =
        format!(r#"[{{"jsonrpc":"2.0","id":1,"result":{{{version},"serverInfo":{info}}}}}]"#);
    let found = checker.check(Side::Server, &Frame::parse(answer));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].rule, &*found[0].path), (Rule::BatchNotAllowed, "$[0]"));
}

#[test]
fn an_update_is_about_a_subscribed_resource_or_a_part_of_it() {
    let subscribe = r#">{"id":1,"method":"resources/subscribe","params":{"uri":"a://b/c"}}"#;
    let update = |uri: &str| {
        format!(r#"<{{"method":"notifications/resources/updated","params":{{"uri":"{uri}"}}}}"#)
    };
    check(
        &session(),
        &[
            (subscribe, ""),
            (r#"<{"id":1,"result":{}}"#, ""),
            (&update("a://b/c"), ""),
            (&update("a://b/c/d"), ""),
            (&update("a://b/c?d"), ""),
            (&update("a://b/c#d"), ""),
            (&update("a://b/cd"), "subscriptions/unrequested-update $.params.uri"),
        ],
    );
}

#[test]
fn the_frames_of_a_forbidden_batch_count_as_sent() {
    let mut checker = check(&session(), &[(CALL, "")]);
    let answer = r#"[{"jsonrpc":"2.0","id":1,"result":{"content":[]}}]"#;
    let found = checker.check(Side::Server, &Frame::parse(answer));
    assert_eq!(found.len(), 1, "{found:?}");
    let again = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    let found = checker.check(Side::Server, &Frame::parse(again));
    assert_eq!(found[0].rule.id(), "exchange/duplicate-response");
}

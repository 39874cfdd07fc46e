//! Rules about several frames of a server: each with frames that break it and frames that
//! keep it.

use super::{CALL, check, discovery, half_handshake, handshake, session};
use crate::frame::Frame;
use crate::revision::Side;

#[test]
fn a_server_sends_nothing_but_pings_and_logs_before_the_handshake() {
    let opening = &half_handshake("2025-06-18", "{}", "{}")[..1];
    check(
        opening,
        &[
            (r#"<{"id":"s","method":"ping"}"#, ""),
            (r#"<{"method":"notifications/message","params":{"level":"info","data":1}}"#, ""),
            (r#"<{"id":"r","method":"roots/list"}"#, "lifecycle/early-message $.method"),
            (
                r#"<{"method":"notifications/tools/list_changed"}"#,
                "lifecycle/early-message $.method",
            ),
        ],
    );
    let after = half_handshake("2025-06-18", "{}", r#"{"tools":{"listChanged":true}}"#);
    check(&after, &[(r#"<{"method":"notifications/tools/list_changed"}"#, "")]);
}

#[test]
fn a_cancellation_names_a_request_of_its_sender() {
    let cancel = r#"<{"method":"notifications/cancelled","params":{"requestId":"s"}}"#;
    check(
        &session(),
        &[
            (r#">{"id":"s","method":"tools/list"}"#, ""),
            (cancel, "cancellation/unknown-request $.params.requestId"),
            (r#"<{"id":"s","method":"roots/list"}"#, ""),
            (cancel, ""),
            // The answer can cross the cancellation.
            (cancel, ""),
        ],
    );
    check(&discovery(), &[(cancel, "cancellation/unknown-request $.params.requestId")]);
}

#[test]
fn a_modern_server_sends_nothing_for_a_cancelled_request() {
    let call = r#">{"id":1,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let cancel = r#">{"method":"notifications/cancelled","params":{"requestId":1}}"#;
    let list = r#">{"id":2,"method":"tools/list","params":{$META}}"#;
    let listed = r#"<{"id":2,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}"#;
    let answer = r#"<{"id":1,"result":{"resultType":"complete","content":[]}}"#;
    let progress =
        r#"<{"method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#;
    check(&discovery(), &[(call, ""), (cancel, ""), (progress, ""), (answer, "")]);
    check(
        &discovery(),
        &[
            (call, ""),
            (cancel, ""),
            (list, ""),
            (listed, ""),
            (progress, "cancellation/late-message $.params.progressToken"),
            (answer, "cancellation/late-message $.id"),
        ],
    );
    // Up to 2025-11-25 a server should not answer, but can.
    check(
        &session(),
        &[
            (CALL, ""),
            (cancel, ""),
            (r#">{"id":2,"method":"tools/list"}"#, ""),
            (r#"<{"id":2,"result":{"tools":[]}}"#, ""),
            (r#"<{"id":1,"result":{"content":[]}}"#, ""),
        ],
    );
}

fn log(level: &str) -> String {
    format!(r#"<{{"method":"notifications/message","params":{{"level":"{level}","data":1}}}}"#)
}

#[test]
fn a_log_message_is_not_below_the_level_that_was_set() {
    let (info, warning) = (log("info"), log("warning"));
    let set = |id: u32, level: &str| {
        format!(r#">{{"id":{id},"method":"logging/setLevel","params":{{"level":"{level}"}}}}"#)
    };
    check(
        &session(),
        &[
            (&info, ""),
            (&set(5, "warning"), ""),
            (&info, ""),
            (r#"<{"id":5,"result":{}}"#, ""),
            // The message can be older than the response.
            (&info, ""),
            (CALL, ""),
            (&warning, ""),
            (&info, "logging/below-set-level $.params.level"),
            // The server can have applied a level that it has not confirmed.
            (&set(6, "debug"), ""),
            (&info, ""),
        ],
    );
}

#[test]
fn a_modern_log_message_is_not_below_the_level_of_its_request() {
    let call = r#">{"id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/logLevel":"warning","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    check(
        &discovery(),
        &[
            (call, ""),
            (&log("info"), "logging/below-level $.params.level"),
            (&log("warning"), ""),
            (&log("emergency"), ""),
        ],
    );
}

#[test]
fn early_revisions_only_recommend_negotiated_capabilities() {
    let ask = r#"<{"id":7,"method":"roots/list"}"#;
    for (revision, expected) in [
        ("2024-11-05", "capabilities/not-negotiated $.method"),
        ("2025-03-26", "capabilities/not-negotiated $.method"),
        ("2025-06-18", "capabilities/undeclared $.method"),
    ] {
        check(&handshake(revision, "{}", r#"{"tools":{}}"#), &[(ask, expected)]);
    }
}

#[test]
fn tools_with_embedded_resources_need_the_capability_resources() {
    let call = r#">{"id":1,"method":"tools/call","params":{"name":"a"}}"#;
    let answer = r#"<{"id":1,"result":{"content":[{"type":"resource","resource":{"uri":"a:b","text":""}}]}}"#;
    for (revision, capabilities, expected) in [
        ("2025-03-26", r#"{"tools":{}}"#, ""),
        ("2025-06-18", r#"{"tools":{},"resources":{}}"#, ""),
        ("2025-06-18", r#"{"tools":{}}"#, "tools/embedded-resource $.result.content"),
    ] {
        check(&handshake(revision, "{}", capabilities), &[(call, ""), (answer, expected)]);
    }
}

#[test]
fn recommendations_for_tools_are_checked_since_their_revision() {
    let list = r#">{"id":1,"method":"tools/list"}"#;
    let tool = |name: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    let listed = |names: &[&str]| {
        let tools: Vec<String> = names.iter().map(|it| tool(it)).collect();
        format!(r#"<{{"id":1,"result":{{"tools":[{}]}}}}"#, tools.join(","))
    };
    let long = "a".repeat(129);
    for (revision, names, expected) in [
        ("2025-06-18", vec!["a b", "c", "c"], ""),
        ("2025-11-25", vec!["a_b-c.D1", &long[1..]], ""),
        ("2025-11-25", vec!["a b"], "tools/name $.result.tools[0].name"),
        ("2025-11-25", vec!["a", &long], "tools/name $.result.tools[1].name"),
        ("2025-11-25", vec!["a", "a"], "tools/duplicate-name $.result.tools[1].name"),
    ] {
        let opening = handshake(revision, "{}", r#"{"tools":{}}"#);
        check(&opening, &[(list, ""), (&listed(&names), expected)]);
    }
    let call = r#">{"id":1,"method":"tools/call","params":{"name":"a"}}"#;
    let answer = r#"<{"id":1,"result":{"content":[],"structuredContent":{}}}"#;
    let with_text =
        r#"<{"id":1,"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}}"#;
    let opening = handshake("2025-06-18", "{}", r#"{"tools":{}}"#);
    check(&opening, &[(call, ""), (answer, "tools/structured-text $.result.content")]);
    check(&opening, &[(call, ""), (with_text, "")]);
}

#[test]
fn a_server_declares_the_features_that_it_supports() {
    let tool = r#"{"name":"a","inputSchema":{"type":"object"}}"#;
    let undeclared = handshake("2025-06-18", "{}", "{}");
    let list = r#">{"id":1,"method":"tools/list"}"#;
    let refused = "capabilities/undeclared $.method";
    check(
        &undeclared,
        &[
            (list, refused),
            (
                &format!(r#"<{{"id":1,"result":{{"tools":[{tool}]}}}}"#),
                "capabilities/undeclared $.result",
            ),
            (r#">{"id":2,"method":"tools/call","params":{"name":"a"}}"#, refused),
            (r#"<{"id":2,"result":{"content":[]}}"#, "capabilities/undeclared $.result"),
            (r#">{"id":3,"method":"tools/call","params":{"name":"a"}}"#, refused),
            (r#"<{"id":3,"result":{"content":[],"isError":true}}"#, ""),
            (r#">{"id":4,"method":"prompts/list"}"#, refused),
            (r#"<{"id":4,"result":{"prompts":[]}}"#, ""),
        ],
    );
    let result =
        r#"{"resultType":"complete","prompts":[{"name":"a"}],"ttlMs":0,"cacheScope":"public"}"#;
    check(
        &discovery(),
        &[
            (r#">{"id":1,"method":"prompts/list","params":{$META}}"#, ""),
            (&format!(r#"<{{"id":1,"result":{result}}}"#), "capabilities/undeclared $.result"),
        ],
    );
}

#[test]
fn all_pages_of_a_list_have_the_same_cache_scope() {
    let page = |id: u32, scope: &str| {
        format!(
            r#"<{{"id":{id},"result":{{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"{scope}","nextCursor":"c{id}"}}}}"#
        )
    };
    let next = |id: u32| {
        let cursor = id - 1;
        format!(r#">{{"id":{id},"method":"tools/list","params":{{"cursor":"c{cursor}",$META}}}}"#)
    };
    check(
        &discovery(),
        &[
            (r#">{"id":1,"method":"tools/list","params":{$META}}"#, ""),
            (&page(1, "public"), ""),
            (&next(2), ""),
            (&page(2, "public"), ""),
            (&next(3), ""),
            (&page(3, "private"), "caching/scope-changed $.result.cacheScope"),
        ],
    );
}

#[test]
fn discovery_and_errors_do_not_contradict_the_request() {
    check(
        &[],
        &[
            (r#">{"id":"d","method":"server/discover","params":{$META}}"#, ""),
            (
                r#"<{"id":"d","result":{"resultType":"complete","supportedVersions":["2027-01-01"],"capabilities":{},"ttlMs":0,"cacheScope":"public"}}"#,
                "lifecycle/wrong-version $.result.supportedVersions",
            ),
        ],
    );
    let call = r#">{"id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}}"#;
    let refusal = |capabilities: &str| {
        format!(
            r#"<{{"id":1,"error":{{"code":-32021,"message":"m","data":{{"requiredCapabilities":{capabilities}}}}}}}"#
        )
    };
    check(&discovery(), &[(call, ""), (&refusal(r#"{"elicitation":{}}"#), "")]);
    check(&discovery(), &[(call, ""), (&refusal(r#"{"sampling":{"tools":{}}}"#), "")]);
    let wrong = "errors/wrong-code $.error.data.requiredCapabilities";
    check(&discovery(), &[(call, ""), (&refusal("{}"), wrong)]);
    check(&discovery(), &[(call, ""), (&refusal(r#"{"sampling":{}}"#), wrong)]);
}

#[test]
fn a_complete_elicitation_is_one_that_the_server_requested() {
    let complete =
        r#"<{"method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}"#;
    let client = r#"{"elicitation":{"url":{}}}"#;
    let opening = handshake("2025-11-25", client, r#"{"tools":{}}"#);
    let ask = r#"<{"id":"s","method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://e.org/x","elicitationId":"e"}}"#;
    check(&opening, &[(complete, "elicitation/unknown-id $.params.elicitationId")]);
    check(&opening, &[(ask, ""), (complete, "")]);
    let error = r#"<{"id":1,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","message":"m","url":"https://e.org/x","elicitationId":"e"}]}}}"#;
    check(&opening, &[(CALL, ""), (error, ""), (complete, "")]);
    // A long id is not remembered, so it is not checked.
    let long = complete.replace("\"e\"", &format!("\"{}\"", "e".repeat(2_000)));
    check(&opening, &[(&long, "")]);
}

#[test]
fn a_long_id_of_a_request_is_not_remembered() {
    let long = "e".repeat(2_000);
    let opening = handshake("2025-11-25", r#"{"roots":{}}"#, "{}");
    let ask = format!(r#"<{{"id":"{long}","method":"ping"}}"#);
    let answer = format!(r#">{{"id":"{long}","result":{{}}}}"#);
    check(&opening, &[(&ask, ""), (&answer, ""), (&ask, ""), (&answer, "")]);
}

const TASK_CALL: &str = r#">{"id":1,"method":"tools/call","params":{"name":"a","task":{}}}"#;

fn task(status: &str) -> String {
    format!(
        r#"{{"taskId":"t","status":"{status}","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":null}}"#
    )
}

fn created(id: u32, status: &str) -> String {
    format!(r#"<{{"id":{id},"result":{{"task":{}}}}}"#, task(status))
}

#[test]
fn a_task_begins_as_working_and_keeps_its_final_status() {
    check(
        &session(),
        &[(TASK_CALL, ""), (&created(1, "completed"), "tasks/wrong-status $.result.task.status")],
    );
    let get = |id: u32| format!(r#">{{"id":{id},"method":"tasks/get","params":{{"taskId":"t"}}}}"#);
    let got = |id: u32, status: &str| format!(r#"<{{"id":{id},"result":{}}}"#, task(status));
    check(
        &session(),
        &[
            (TASK_CALL, ""),
            (&created(1, "working"), ""),
            (&get(2), ""),
            (&got(2, "input_required"), ""),
            (&get(3), ""),
            (&get(4), ""),
            (&got(4, "completed"), ""),
            // This request came before the status was known.
            (&got(3, "working"), ""),
            (&get(5), ""),
            (&got(5, "completed"), ""),
            (&get(6), ""),
            (&got(6, "working"), "tasks/wrong-status $.result.status"),
        ],
    );
}

#[test]
fn the_status_of_a_task_does_not_contradict_a_notification() {
    let get = |id: u32| format!(r#">{{"id":{id},"method":"tasks/get","params":{{"taskId":"t"}}}}"#);
    let got = |id: u32, status: &str| format!(r#"<{{"id":{id},"result":{}}}"#, task(status));
    let notified = |status: &str| {
        format!(r#"<{{"method":"notifications/tasks/status","params":{}}}"#, task(status))
    };
    check(
        &session(),
        &[
            (TASK_CALL, ""),
            (&created(1, "working"), ""),
            (&notified("working"), ""),
            (&get(2), ""),
            (&notified("cancelled"), ""),
            // This request came before the status was known.
            (&got(2, "working"), ""),
            (&get(3), ""),
            (&got(3, "cancelled"), ""),
            (&get(4), ""),
            (&got(4, "completed"), "tasks/wrong-status $.result.status"),
        ],
    );
}

#[test]
fn a_cancelled_task_is_cancelled_and_a_new_task_has_a_new_id() {
    let server = r#"{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}"#;
    let cancel = r#">{"id":2,"method":"tasks/cancel","params":{"taskId":"t"}}"#;
    let cancelled = |status: &str| format!(r#"<{{"id":2,"result":{}}}"#, task(status));
    let again = TASK_CALL.replace("\"id\":1", "\"id\":3");
    check(
        &handshake("2025-11-25", "{}", server),
        &[
            (TASK_CALL, ""),
            (&created(1, "working"), ""),
            (cancel, ""),
            (&cancelled("cancelled"), ""),
            (&again, ""),
            (&created(3, "working"), "tasks/duplicate-id $.result.task.taskId"),
        ],
    );
    check(
        &handshake("2025-11-25", "{}", server),
        &[
            (TASK_CALL, ""),
            (&created(1, "working"), ""),
            (cancel, ""),
            (&cancelled("working"), "tasks/wrong-status $.result.status"),
        ],
    );
    check(
        &handshake("2025-11-25", "{}", r#"{"tools":{}}"#),
        &[(TASK_CALL, ""), (&created(1, "working"), "capabilities/undeclared $.result.task")],
    );
}

#[test]
fn the_result_of_a_task_names_the_task() {
    let ask =
        |id: u32| format!(r#">{{"id":{id},"method":"tasks/result","params":{{"taskId":"t"}}}}"#);
    let answer = |id: u32, named: &str| {
        format!(
            r#"<{{"id":{id},"result":{{"content":[],"_meta":{{"io.modelcontextprotocol/related-task":{{"taskId":"{named}"}}}}}}}}"#
        )
    };
    let broken = r#"tasks/related-task $.result._meta["io.modelcontextprotocol/related-task"]"#;
    check(
        &session(),
        &[
            (&ask(1), ""),
            (&answer(1, "t"), ""),
            (&ask(2), ""),
            (&answer(2, "u"), broken),
            (&ask(3), ""),
            (r#"<{"id":3,"result":{"content":[]}}"#, broken),
            (&ask(4), ""),
            (r#"<{"id":4,"error":{"code":-32603,"message":"m"}}"#, ""),
        ],
    );
}

#[test]
fn a_tool_that_requires_a_task_does_not_run_without_one() {
    let listed = r#"<{"id":9,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}}"#;
    let list = (r#">{"id":9,"method":"tools/list"}"#, "");
    check(
        &session(),
        &[
            list,
            (listed, ""),
            (CALL, ""),
            (r#"<{"id":1,"result":{"content":[]}}"#, "tasks/required $.result"),
            (r#">{"id":2,"method":"tools/call","params":{"name":"b"}}"#, ""),
            (r#"<{"id":2,"result":{"content":[]}}"#, ""),
            (r#">{"id":3,"method":"tools/call","params":{"name":"a"}}"#, ""),
            (r#"<{"id":3,"error":{"code":-32601,"message":"m"}}"#, ""),
        ],
    );
}

#[test]
fn a_modern_error_has_the_status_of_its_code() {
    let mut checker = check(&discovery(), &[(r#">{"id":1,"method":"x/y","params":{$META}}"#, "")]);
    let error = |code: i64| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"m"}}}}"#);
        Frame::parse(text)
    };
    checker.check(Side::Server, &error(-32601));
    let status = |code, status| {
        let mut found = Vec::new();
        checker.check_status_code(&error(code), status, &mut found);
        found.iter().map(|it| it.rule.id()).collect::<Vec<_>>()
    };
    assert_eq!(status(-32601, 404), [""; 0]);
    assert_eq!(status(-32601, 200), ["http/wrong-status"]);
    assert_eq!(status(-32020, 200), ["http/wrong-status"]);
    assert_eq!(status(-32021, 400), [""; 0]);
    assert_eq!(status(-32022, 404), ["http/wrong-status"]);
    assert_eq!(status(-32602, 200), [""; 0]);
    let legacy = check(&session(), &[]);
    let mut found = Vec::new();
    legacy.check_status_code(&error(-32601), 200, &mut found);
    assert_eq!(found, []);
    for checker in [checker, legacy] {
        let result = Frame::parse(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        let found = |status| {
            let mut found = Vec::new();
            checker.check_status_code(&result, status, &mut found);
            found.iter().map(|it| it.rule.id()).collect::<Vec<_>>()
        };
        assert_eq!(found(200), [""; 0]);
        assert_eq!(found(500), ["http/wrong-status"]);
    }
}

#[test]
fn a_server_implements_ping_and_the_lists_that_it_declares() {
    let refusal = |id: u32| format!(r#"<{{"id":{id},"error":{{"code":-32601,"message":"m"}}}}"#);
    let broken = "methods/not-implemented $.error.code";
    let ping = r#">{"id":1,"method":"ping"}"#;
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let opening = handshake(revision, "{}", r#"{"tools":{}}"#);
        let list = r#">{"id":2,"method":"tools/list"}"#;
        check(
            &opening,
            &[
                (ping, ""),
                (&refusal(1), broken),
                // Up to 2025-11-25 no sentence requires the lists.
                (list, ""),
                (&refusal(2), ""),
                (r#">{"id":3,"method":"ping"}"#, ""),
                (r#"<{"id":3,"result":{}}"#, ""),
            ],
        );
    }
    check(
        &discovery(),
        &[
            (r#">{"id":1,"method":"tools/list","params":{$META}}"#, ""),
            (&refusal(1), broken),
            (r#">{"id":2,"method":"prompts/list","params":{$META}}"#, ""),
            (&refusal(2), ""),
            (r#">{"id":3,"method":"tools/list","params":{$META}}"#, ""),
            (r#"<{"id":3,"error":{"code":-32603,"message":"m"}}"#, ""),
        ],
    );
}

#[test]
fn an_error_without_an_id_answers_an_unreadable_message() {
    let broken = ["exchange/unidentified-error"].as_slice();
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"m"}}"#;
    let found = |lines: &[(&str, &str)], opening: &[String], status: Option<u16>| {
        let mut checker = check(opening, lines);
        let frame = Frame::parse(error);
        let mut found = checker.check(Side::Server, &frame);
        checker.check_error_id(&frame, status, &mut found);
        found.iter().map(|it| it.rule.id()).collect::<Vec<_>>()
    };
    let notified = (r#">{"method":"notifications/roots/list_changed"}"#, "");
    let client = r#"{"roots":{"listChanged":true}}"#;
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let opening = handshake(revision, client, "{}");
        assert_eq!(found(&[notified], &opening, None), broken, "{revision}");
        assert_eq!(found(&[notified], &opening, Some(200)), broken, "{revision}");
        // The body of a refusal can be an error without an id.
        assert_eq!(found(&[notified], &opening, Some(400)), [""; 0], "{revision}");
        let unreadable = (r#">{"id":{},"method":"ping"}"#, "wire/id-wrong-type $.id");
        assert_eq!(found(&[unreadable], &opening, None), [""; 0], "{revision}");
        let malformed =
            (r#">{"id":5,"method":"ping","params":[]}"#, "wire/params-wrong-type $.params");
        assert_eq!(found(&[malformed], &opening, None), [""; 0], "{revision}");
        let wrong = r#">{"id":5,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":[]}}"#;
        let wrong = (wrong, "schema/wrong-type $.params.argument");
        let answered = (r#"<{"id":5,"error":{"code":-32602,"message":"m"}}"#, "");
        if revision == "2024-11-05" {
            assert_eq!(found(&[wrong], &opening, None), [""; 0], "{revision}");
            assert_eq!(found(&[wrong, answered], &opening, None), broken, "{revision}");
        }
    }
    assert_eq!(found(&[], &discovery(), None), broken);
    // A server can answer a probe of the other era in any way.
    let probe = r#">{"id":"d","method":"server/discover","params":{$META}}"#;
    assert_eq!(found(&[(probe, "")], &[], None), [""; 0]);
}

#[test]
fn a_resource_in_a_prompt_has_a_mime_type() {
    let get = r#">{"id":1,"method":"prompts/get","params":{"name":"a"}}"#;
    let answer = |resource: &str| {
        format!(
            r#"<{{"id":1,"result":{{"messages":[{{"role":"user","content":{{"type":"resource","resource":{resource}}}}}]}}}}"#
        )
    };
    let broken = "prompts/resource-media-type $.result.messages[0].content.resource";
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let opening = handshake(revision, "{}", r#"{"prompts":{}}"#);
        let complete = answer(r#"{"uri":"a:b","mimeType":"text/plain","text":""}"#);
        check(&opening, &[(get, ""), (&complete, "")]);
        check(&opening, &[(get, ""), (&answer(r#"{"uri":"a:b","text":""}"#), broken)]);
        let empty = answer(r#"{"uri":"a:b","mimeType":"","text":""}"#);
        let path = "$.result.messages[0].content.resource.mimeType";
        let broken = format!("format/resource-media-type {path}, {broken}");
        check(&opening, &[(get, ""), (&empty, &broken)]);
    }
}

#[test]
fn trace_context_of_a_modern_server_has_its_syntax() {
    let list = r#">{"id":1,"method":"tools/list","params":{$META}}"#;
    let listed = |parent: &str| {
        format!(
            r#"<{{"id":1,"result":{{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public","_meta":{{"traceparent":{parent}}}}}}}"#
        )
    };
    let valid = r#""00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01""#;
    let broken = "format/trace-context $.result._meta.traceparent";
    check(&discovery(), &[(list, ""), (&listed(valid), "")]);
    check(&discovery(), &[(list, ""), (&listed(r#""00-1-2-3""#), broken)]);
    check(&discovery(), &[(list, ""), (&listed("7"), broken)]);
    // Earlier revisions do not have this sentence.
    let opening = handshake("2025-11-25", "{}", r#"{"tools":{}}"#);
    let early = r#"<{"id":1,"result":{"tools":[],"_meta":{"traceparent":"x"}}}"#;
    check(&opening, &[(r#">{"id":1,"method":"tools/list"}"#, ""), (early, "")]);
}

#[test]
fn the_source_of_an_icon_is_a_uri() {
    let list = r#">{"id":1,"method":"tools/list"}"#;
    let listed = |src: &str| {
        format!(
            r#"<{{"id":1,"result":{{"tools":[{{"name":"a","inputSchema":{{"type":"object"}},"icons":[{{"src":"{src}"}}]}}]}}}}"#
        )
    };
    let opening = handshake("2025-11-25", "{}", r#"{"tools":{}}"#);
    check(&opening, &[(list, ""), (&listed("data:image/png;base64,aGVs"), "")]);
    let broken = "format/uri $.result.tools[0].icons[0].src";
    check(&opening, &[(list, ""), (&listed("/icon.png"), broken)]);
}

#[test]
fn log_messages_and_progress_belong_to_no_subscription() {
    let listen = r#">{"id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/logLevel":"debug","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let acknowledged = r#"<{"method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}"#;
    let log = r#"<{"method":"notifications/message","params":{"level":"info","data":1,"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}"#;
    let broken =
        r#"subscriptions/invalid $.params._meta["io.modelcontextprotocol/subscriptionId"]"#;
    let call = r#">{"id":"c","method":"tools/call","params":{"name":"t","_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let progress = r#"<{"method":"notifications/progress","params":{"progressToken":"p","progress":1,"_meta":{"io.modelcontextprotocol/subscriptionId":"l"}}}"#;
    check(
        &discovery(),
        &[(listen, ""), (acknowledged, ""), (log, broken), (call, ""), (progress, broken)],
    );
}

#[test]
fn a_final_task_cannot_be_cancelled() {
    let ask = |id: u32, method: &str| {
        format!(r#">{{"id":{id},"method":"{method}","params":{{"taskId":"t"}}}}"#)
    };
    let server = r#"{"tools":{},"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}"#;
    let opening = handshake("2025-11-25", "{}", server);
    let status = |id: u32, status: &str| format!(r#"<{{"id":{id},"result":{}}}"#, task(status));
    check(
        &opening,
        &[
            (TASK_CALL, ""),
            (&created(1, "working"), ""),
            (&ask(2, "tasks/cancel"), ""),
            (&status(2, "cancelled"), ""),
            (&ask(3, "tasks/get"), ""),
            (&status(3, "cancelled"), ""),
            (&ask(4, "tasks/cancel"), ""),
            (&status(4, "cancelled"), "tasks/wrong-status $.result.status"),
        ],
    );
}

#[test]
fn a_modern_server_process_exits_when_its_input_ends() {
    let found = |opening: &[String]| {
        check(opening, &[]).check_ignored_end_of_input().map(|it| it.rule.id())
    };
    assert_eq!(found(&discovery()), Some("lifecycle/ignored-end-of-input"));
    assert_eq!(found(&session()), None);
}

#[test]
fn revisions_without_tasks_do_not_check_them() {
    let list = r#">{"id":9,"method":"tools/list"}"#;
    let listed = r#"<{"id":9,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}}"#;
    let server = r#"{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}"#;
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let opening = handshake(revision, "{}", server);
        let result = r#"<{"id":1,"result":{"content":[]}}"#;
        check(&opening, &[(list, ""), (listed, ""), (CALL, ""), (result, "")]);
    }
}

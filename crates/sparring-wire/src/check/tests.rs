//! One test a rule: what single frames may and may not be.

use super::Checker;
use crate::frame::Frame;
use crate::json::RawJson;
use crate::revision::{Revision, Side};
use crate::violation::Violation;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn spelled(found: &[Violation]) -> String {
    let found = found.iter().map(|it| format!("{} {}", it.rule, it.path));
    found.collect::<Vec<_>>().join(", ")
}

/// `who` is the sender and, for a reply, the method it answers:
/// `server tools/call`. `$META` in the frame stands for modern metadata.
fn check(revision: Revision, who: &str, frame: &str, expected: &str) {
    let (side, answers) = who.split_once(' ').unwrap_or((who, ""));
    let from = match side {
        "client" => Side::Client,
        _ => Side::Server,
    };
    let frame = Frame::parse(frame.replace("$META", META));
    let answers = Some(answers).filter(|it| !it.is_empty());
    let found = Checker::of(revision).check(&frame, from, answers);
    assert_eq!(spelled(&found), expected, "{revision} {who} {frame:?}: {found:?}");
}

use Revision::*;

#[test]
fn params_have_the_shape_of_their_method() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":[1,{}]},"more":1}}"#;
    check(V2025_06_18, "client", call, "");
    check(
        V2025_06_18,
        "client",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7,"arguments":[]}}"#,
        "wrong-type $.params.name, wrong-type $.params.arguments",
    );
    check(
        V2025_06_18,
        "client",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
        "missing-field $.params",
    );
    check(V2025_06_18, "client", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "");
    check(
        V2025_06_18,
        "client",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#,
        "params-wrong-type $.params",
    );
    check(
        V2025_11_25,
        "server",
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"loud","data":null}}"#,
        "wrong-value $.params.level",
    );
}

#[test]
fn results_have_the_shape_of_what_they_answer() {
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"inputSchema":{"type":"array"}}]}}"#;
    check(
        V2025_06_18,
        "server tools/list",
        result,
        "wrong-value $.result.tools[1].inputSchema.type, missing-field $.result.tools[1].name",
    );
    check(V2025_06_18, "server", result, "");
    check(V2025_06_18, "server x/own", result, "");
    check(
        V2025_06_18,
        "server ping",
        r#"{"jsonrpc":"2.0","id":1,"result":{"_meta":7}}"#,
        "wrong-type $.result._meta",
    );
    check(
        V2025_06_18,
        "server ping",
        r#"{"jsonrpc":"2.0","id":1,"result":7}"#,
        "result-wrong-type $.result",
    );
}

#[test]
fn unions_report_for_the_alternative_that_was_meant() {
    let result =
        |content: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{content}]}}}}"#);
    let check = |content: &str, expected: &str| {
        check(V2025_06_18, "server tools/call", &result(content), expected);
    };
    check(
        r#"{"type":"image","data":7}"#,
        "wrong-type $.result.content[0].data, missing-field $.result.content[0].mimeType",
    );
    check(r#"{"type":"video"}"#, "wrong-value $.result.content[0].type");
    check(r#"{"text":"x"}"#, "missing-field $.result.content[0].type");
    check(r#"{"type":7}"#, "wrong-type $.result.content[0].type");
    check(r#""x""#, "wrong-type $.result.content[0]");
    check(
        r#"{"type":"resource","resource":{"uri":"a:b"}}"#,
        "missing-field $.result.content[0].resource.text",
    );
    check(
        r#"{"type":"text","text":"x","annotations":{"priority":1.5,"audience":["me"]}}"#,
        "wrong-value $.result.content[0].annotations.priority, wrong-value $.result.content[0].annotations.audience[0]",
    );
    self::check(
        V2025_11_25,
        "server",
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u"}}"#,
        "missing-field $.params.elicitationId",
    );
    self::check(
        V2025_11_25,
        "server",
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m"}}"#,
        "missing-field $.params.requestedSchema",
    );
}

#[test]
fn names_that_are_not_plain_stand_in_brackets() {
    check(
        V2026_07_28,
        "client",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7,"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        r#"wrong-type $.params._meta["io.modelcontextprotocol/protocolVersion"]"#,
    );
}

#[test]
fn methods_have_a_direction() {
    let sample = r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#;
    check(V2025_06_18, "server", sample, "");
    check(V2025_06_18, "client", sample, "wrong-direction $.method");
    check(
        V2025_06_18,
        "server",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "wrong-direction $.method",
    );
    check(V2025_06_18, "server", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "");
}

#[test]
fn modern_servers_send_no_requests_and_modern_clients_no_responses() {
    check(
        V2026_07_28,
        "server",
        r#"{"jsonrpc":"2.0","id":1,"method":"x/own"}"#,
        "wrong-direction $.method",
    );
    check(V2026_07_28, "client", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "wrong-direction $");
    check(
        V2026_07_28,
        "client",
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
        "wrong-direction $",
    );
}

#[test]
fn methods_of_other_revisions_are_out_of_place_and_unknown_ones_are_free() {
    let ask = |method: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
    check(V2024_11_05, "server", &ask("elicitation/create"), "not-in-revision $.method");
    check(V2026_07_28, "client", &ask("initialize"), "not-in-revision $.method");
    check(V2025_11_25, "client", &ask("server/discover"), "not-in-revision $.method");
    check(V2025_11_25, "client", &ask("x/own"), "");
    let notify = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    check(V2026_07_28, "client", notify, "not-in-revision $.method");
    let notify = r#"{"jsonrpc":"2.0","method":"x/own","params":{}}"#;
    check(V2026_07_28, "client", notify, "");
    // Tasks went from the core into an extension.
    let task = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{$META}}"#;
    check(V2026_07_28, "client", task, "");
}

#[test]
fn requests_have_an_id_and_notifications_none() {
    check(V2025_06_18, "client", r#"{"jsonrpc":"2.0","method":"tools/list"}"#, "id-missing $.id");
    check(
        V2025_06_18,
        "client",
        r#"{"jsonrpc":"2.0","id":4,"method":"notifications/initialized"}"#,
        "wrong-value $.id",
    );
}

#[test]
fn modern_requests_carry_metadata_whatever_they_ask() {
    for method in ["tools/list", "x/own"] {
        let bare =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{}}}}}}"#);
        check(
            V2026_07_28,
            "client",
            &bare,
            r#"missing-field $.params._meta["io.modelcontextprotocol/clientCapabilities"], missing-field $.params._meta["io.modelcontextprotocol/protocolVersion"]"#,
        );
        let full = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{$META}}}}"#);
        check(V2026_07_28, "client", &full, "");
        let none = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
        check(V2026_07_28, "client", &none, "missing-field $.params");
    }
}

#[test]
fn batches_are_allowed_in_one_revision_and_their_frames_are_judged() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}},7,[],{"jsonrpc":"1.0","id":3,"method":"ping"}]"#;
    check(
        V2025_03_26,
        "client",
        batch,
        "missing-field $[1].params.name, not-an-object $[2], not-an-object $[3], wrong-jsonrpc $[4].jsonrpc",
    );
    for revision in [V2024_11_05, V2025_06_18, V2025_11_25, V2026_07_28] {
        check(revision, "client", batch, "batch-not-allowed $");
    }
    check(V2025_03_26, "client", "[]", "empty-batch $");
    let initialize = r#"[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}]"#;
    check(V2025_03_26, "client", initialize, "batch-not-allowed $[0]");
}

#[test]
fn result_types_are_known_and_in_their_place() {
    let check = |method: &str, result: &str, expected: &str| {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        check(V2026_07_28, &format!("server {method}"), &frame, expected);
    };
    check("tools/call", r#"{"content":[]}"#, "missing-field $.result.resultType");
    check("tools/call", r#"{"content":[],"resultType":"complete"}"#, "");
    check("tools/call", r#"{"resultType":"later"}"#, "wrong-result-type $.result.resultType");
    check("tools/call", r#"{"resultType":7,"content":[]}"#, "wrong-type $.result.resultType");
    let state = r#"{"resultType":"input_required","requestState":"s"}"#;
    for method in ["tools/call", "prompts/get", "resources/read"] {
        check(method, state, "");
    }
    check("tools/list", state, "wrong-result-type $.result.resultType");
    check("tools/call", r#"{"resultType":"input_required"}"#, "missing-field $.result");
    check(
        "tools/call",
        r#"{"resultType":"input_required","inputRequests":{"a b":{"method":"tools/call"}}}"#,
        r#"wrong-value $.result.inputRequests["a b"].method"#,
    );
}

#[test]
fn cacheable_results_say_how_long_and_for_whom() {
    let check = |result: &str, expected: &str| {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        check(V2026_07_28, "server tools/list", &frame, expected);
    };
    check(
        r#"{"resultType":"complete","tools":[]}"#,
        "missing-field $.result.cacheScope, missing-field $.result.ttlMs",
    );
    check(
        r#"{"resultType":"complete","tools":[],"ttlMs":-1,"cacheScope":"mine"}"#,
        "wrong-value $.result.ttlMs, wrong-value $.result.cacheScope",
    );
    check(r#"{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}"#, "");
}

#[test]
fn a_request_that_may_be_a_task_is_answered_by_either() {
    let task = r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t","status":"working","createdAt":"c","lastUpdatedAt":"l","ttl":null}}}"#;
    check(V2025_11_25, "server tools/call", task, "");
    check(V2025_06_18, "server tools/call", task, "missing-field $.result.content");
    let broken = r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t","status":"idle","createdAt":"c","lastUpdatedAt":"l","ttl":null}}}"#;
    check(V2025_11_25, "server tools/call", broken, "wrong-value $.result.task.status");
}

#[test]
fn error_codes_have_their_revision() {
    let check = |revision, error: &str, expected: &str| {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
        check(revision, "server", &frame, expected);
    };
    let not_found = r#"{"code":-32002,"message":"m"}"#;
    check(V2025_11_25, not_found, "");
    check(V2026_07_28, not_found, "wrong-error-code $.error.code");
    check(V2026_07_28, r#"{"code":-32042,"message":"m"}"#, "wrong-error-code $.error.code");
    check(V2026_07_28, r#"{"code":-32050,"message":"m"}"#, "wrong-error-code $.error.code");
    check(V2025_11_25, r#"{"code":-32050,"message":"m"}"#, "");
    check(V2026_07_28, r#"{"code":-32000,"message":"m"}"#, "");
    check(V2026_07_28, r#"{"code":-32020,"message":"m"}"#, "");
    check(V2026_07_28, r#"{"code":-32022,"message":"m"}"#, "missing-field $.error.data");
    check(
        V2026_07_28,
        r#"{"code":-32022,"message":"m","data":{"supported":[1],"requested":"x"}}"#,
        "wrong-type $.error.data.supported[0]",
    );
    check(
        V2026_07_28,
        r#"{"code":-32021,"message":"m","data":{}}"#,
        "missing-field $.error.data.requiredCapabilities",
    );
    check(
        V2025_11_25,
        r#"{"code":-32042,"message":"m","data":{}}"#,
        "missing-field $.error.data.elicitations",
    );
    check(
        V2025_11_25,
        r#"{"code":1.5}"#,
        "error-malformed $.error.code, error-malformed $.error.message",
    );
}

#[test]
fn an_error_without_id_is_fine_where_the_revision_has_it() {
    let absent = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#;
    let null = r#" {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}} "#;
    for revision in Revision::ALL {
        check(revision, "server", null, "");
        let expected = match revision.error_without_id() {
            true => "",
            false => "id-missing $.id",
        };
        check(revision, "server", absent, expected);
    }
}

#[test]
fn repeated_keys_are_found_at_any_depth() {
    check(
        V2025_06_18,
        "client",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b","arguments":{"x":[{"y":1,"y":2}]}}}"#,
        "duplicate-key $.params.name, duplicate-key $.params.arguments.x[0].y",
    );
}

#[test]
fn sections_name_revision_page_and_heading() {
    let section = |revision, frame: &str| {
        let found = Checker::of(revision).check(&Frame::parse(frame), Side::Client, None);
        found[0].section.to_string()
    };
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    assert_eq!(section(V2025_06_18, call), "2025-06-18/server/tools#calling-tools");
    let wrong = r#"{"id":1,"method":"ping"}"#;
    assert_eq!(section(V2025_06_18, wrong), "2025-06-18/basic#messages");
    assert_eq!(section(V2024_11_05, wrong), "2024-11-05/basic/messages");
}

#[test]
fn completion_offers_at_most_a_hundred_values() {
    for revision in Revision::ALL {
        for (count, expected) in [(100, ""), (101, "wrong-value $.completion.values")] {
            let values = vec!["\"v\""; count].join(",");
            let text =
                format!(r#"{{"resultType":"complete","completion":{{"values":[{values}]}}}}"#);
            let json = RawJson::parse(&text).unwrap();
            let found = Checker::of(revision).check_type("CompleteResult", json.view());
            assert_eq!(spelled(&found.unwrap()), expected, "{revision}");
        }
    }
}

#[test]
fn types_that_are_not_there_have_no_answer() {
    let checker = Checker::of(V2024_11_05);
    let json = RawJson::empty_object();
    assert!(checker.check_type("ElicitResult", json.view()).is_none());
    assert!(checker.type_names().any(|name| name == "Tool"));
}

#[test]
fn an_integer_may_be_spelled_as_a_whole_number() {
    let sample = |tokens: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{{"messages":[],"maxTokens":{tokens}}}}}"#
        )
    };
    check(V2025_06_18, "server", &sample("1.0"), "");
    check(V2025_06_18, "server", &sample("1e3"), "");
    check(V2025_06_18, "server", &sample("1.5"), "wrong-type $.params.maxTokens");
}

#[test]
fn reports_are_bounded_and_deep_nesting_is_fine() {
    let items = vec![r#"{"type":"nope"}"#; 5000].join(",");
    let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{items}]}}}}"#);
    let checker = Checker::of(V2025_11_25);
    let found = checker.check(&Frame::parse(frame), Side::Server, Some("tools/call"));
    assert_eq!(found.len(), 64);
    let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
    check(
        V2025_11_25,
        "client",
        &format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":{{"x":{deep}}}}}}}"#
        ),
        "",
    );
}

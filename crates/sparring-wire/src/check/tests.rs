//! Tests of the rules for single frames.

use super::Checker;
use crate::frame::Frame;
use crate::json::RawJson;
use crate::revision::{Revision, Side};
use crate::violation::Violation;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn render(found: &[Violation]) -> String {
    let found = found.iter().map(|it| format!("{} {}", it.rule, it.path));
    found.collect::<Vec<_>>().join(", ")
}

/// `who` is the sender and, for a response, the method of the request:
/// `server tools/call`. `$META` in the frame stands for modern metadata.
fn check(revision: Revision, who: &str, frame: &str, expected: &str) {
    let (side, answers) = who.split_once(' ').unwrap_or((who, ""));
    let from = match side {
        "client" => Side::Client,
        _ => Side::Server,
    };
    let frame = Frame::parse(frame.replace("$META", META));
    let answers = Some(answers).filter(|it| !it.is_empty());
    let found = Checker::for_revision(revision).check(&frame, from, answers);
    assert_eq!(render(&found), expected, "{revision} {who} {frame:?}: {found:?}");
}

use Revision::*;

#[test]
fn params_must_have_the_shape_of_their_method() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":[1,{}]},"more":1}}"#;
    check(V2025_06_18, "client", call, "");
    check(
        V2025_06_18,
        "client",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7,"arguments":[]}}"#,
        "schema/wrong-type $.params.name, schema/wrong-type $.params.arguments",
    );
    check(
        V2025_06_18,
        "client",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
        "schema/missing-field $.params",
    );
    check(V2025_06_18, "client", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "");
    check(
        V2025_06_18,
        "client",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#,
        "wire/params-wrong-type $.params",
    );
    check(
        V2025_11_25,
        "server",
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"loud","data":null}}"#,
        "schema/wrong-value $.params.level",
    );
}

#[test]
fn results_must_have_the_shape_of_their_method() {
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"inputSchema":{"type":"array"}}]}}"#;
    check(
        V2025_06_18,
        "server tools/list",
        result,
        "schema/wrong-value $.result.tools[1].inputSchema.type, schema/missing-field $.result.tools[1].name",
    );
    check(V2025_06_18, "server", result, "");
    check(V2025_06_18, "server x/own", result, "");
    check(
        V2025_06_18,
        "server ping",
        r#"{"jsonrpc":"2.0","id":1,"result":{"_meta":7}}"#,
        "schema/wrong-type $.result._meta",
    );
    check(
        V2025_06_18,
        "server ping",
        r#"{"jsonrpc":"2.0","id":1,"result":7}"#,
        "wire/result-wrong-type $.result",
    );
}

#[test]
fn a_union_reports_violations_of_the_alternative_with_the_same_tag() {
    let result =
        |content: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{content}]}}}}"#);
    let check = |content: &str, expected: &str| {
        check(V2025_06_18, "server tools/call", &result(content), expected);
    };
    check(
        r#"{"type":"image","data":7}"#,
        "schema/wrong-type $.result.content[0].data, schema/missing-field $.result.content[0].mimeType",
    );
    check(r#"{"type":"video"}"#, "schema/wrong-value $.result.content[0].type");
    check(r#"{"text":"x"}"#, "schema/missing-field $.result.content[0].type");
    check(r#"{"type":7}"#, "schema/wrong-type $.result.content[0].type");
    check(r#""x""#, "schema/wrong-type $.result.content[0]");
    check(
        r#"{"type":"resource","resource":{"uri":"a:b"}}"#,
        "schema/missing-field $.result.content[0].resource.text",
    );
    check(
        r#"{"type":"resource","resource":{"uri":"a:b","blob":7}}"#,
        "schema/wrong-type $.result.content[0].resource.blob",
    );
    check(
        r#"{"type":"text","text":"x","annotations":{"priority":1.5,"audience":["me"]}}"#,
        "schema/wrong-value $.result.content[0].annotations.priority, schema/wrong-value $.result.content[0].annotations.audience[0]",
    );
    self::check(
        V2025_11_25,
        "server",
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u:v"}}"#,
        "schema/missing-field $.params.elicitationId",
    );
    self::check(
        V2025_11_25,
        "server",
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"m"}}"#,
        "schema/missing-field $.params.requestedSchema",
    );
}

#[test]
fn names_that_are_not_identifiers_are_in_brackets() {
    check(
        V2026_07_28,
        "client",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7,"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        r#"schema/wrong-type $.params._meta["io.modelcontextprotocol/protocolVersion"]"#,
    );
}

#[test]
fn reports_a_method_from_the_wrong_side() {
    let sample = r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#;
    check(V2025_06_18, "server", sample, "");
    check(V2025_06_18, "client", sample, "methods/wrong-direction $.method");
    check(
        V2025_06_18,
        "server",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "methods/wrong-direction $.method",
    );
    check(V2025_06_18, "server", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "");
}

#[test]
fn reports_modern_servers_that_send_requests_and_modern_clients_that_send_responses() {
    check(
        V2026_07_28,
        "server",
        r#"{"jsonrpc":"2.0","id":1,"method":"x/own"}"#,
        "methods/wrong-direction $.method",
    );
    check(
        V2026_07_28,
        "client",
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        "methods/wrong-direction $",
    );
    check(
        V2026_07_28,
        "client",
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
        "methods/wrong-direction $",
    );
}

#[test]
fn reports_methods_of_other_revisions_and_allows_custom_methods() {
    let ask = |method: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
    check(V2024_11_05, "server", &ask("elicitation/create"), "methods/not-in-revision $.method");
    check(V2026_07_28, "client", &ask("initialize"), "methods/not-in-revision $.method");
    check(V2025_11_25, "client", &ask("server/discover"), "methods/not-in-revision $.method");
    check(V2025_11_25, "client", &ask("x/own"), "");
    let notify = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    check(V2026_07_28, "client", notify, "methods/not-in-revision $.method");
    let notify = r#"{"jsonrpc":"2.0","method":"x/own","params":{}}"#;
    check(V2026_07_28, "client", notify, "");
    // Tasks moved from the core into an extension.
    let task = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{$META}}"#;
    check(V2026_07_28, "client", task, "");
}

#[test]
fn requests_must_have_an_id_and_notifications_must_not() {
    check(
        V2025_06_18,
        "client",
        r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
        "wire/id-missing $.id",
    );
    check(
        V2025_06_18,
        "client",
        r#"{"jsonrpc":"2.0","id":4,"method":"notifications/initialized"}"#,
        "schema/wrong-value $.id",
    );
}

#[test]
fn modern_requests_of_any_method_must_carry_metadata() {
    for method in ["tools/list", "x/own"] {
        let bare =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{}}}}}}"#);
        check(
            V2026_07_28,
            "client",
            &bare,
            r#"schema/missing-field $.params._meta["io.modelcontextprotocol/clientCapabilities"], schema/missing-field $.params._meta["io.modelcontextprotocol/protocolVersion"]"#,
        );
        let full = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{$META}}}}"#);
        check(V2026_07_28, "client", &full, "");
        let none = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
        check(V2026_07_28, "client", &none, "schema/missing-field $.params");
    }
}

#[test]
fn batches_are_allowed_in_one_revision_and_their_frames_are_checked() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}},7,[],{"jsonrpc":"1.0","id":3,"method":"ping"}]"#;
    check(
        V2025_03_26,
        "client",
        batch,
        "schema/missing-field $[1].params.name, wire/not-an-object $[2], wire/not-an-object $[3], wire/wrong-jsonrpc $[4].jsonrpc",
    );
    for revision in [V2024_11_05, V2025_06_18, V2025_11_25, V2026_07_28] {
        check(revision, "client", batch, "wire/batch-not-allowed $");
    }
    check(V2025_03_26, "client", "[]", "wire/empty-batch $");
    let initialize = r#"[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}]"#;
    check(V2025_03_26, "client", initialize, "wire/batch-not-allowed $[0]");
}

#[test]
fn reports_unknown_and_misplaced_result_types() {
    let check = |method: &str, result: &str, expected: &str| {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        check(V2026_07_28, &format!("server {method}"), &frame, expected);
    };
    check("tools/call", r#"{"content":[]}"#, "schema/missing-field $.result.resultType");
    check("tools/call", r#"{"content":[],"resultType":"complete"}"#, "");
    check(
        "tools/call",
        r#"{"resultType":"later"}"#,
        "schema/wrong-result-type $.result.resultType",
    );
    check(
        "tools/call",
        r#"{"resultType":7,"content":[]}"#,
        "schema/wrong-type $.result.resultType",
    );
    let state = r#"{"resultType":"input_required","requestState":"s"}"#;
    for method in ["tools/call", "prompts/get", "resources/read"] {
        check(method, state, "");
    }
    check("tools/list", state, "schema/wrong-result-type $.result.resultType");
    check("tools/call", r#"{"resultType":"input_required"}"#, "schema/missing-field $.result");
    check(
        "tools/call",
        r#"{"resultType":"input_required","inputRequests":{"a b":{"method":"tools/call"}}}"#,
        r#"schema/wrong-value $.result.inputRequests["a b"].method"#,
    );
}

#[test]
fn cacheable_results_must_have_lifetime_and_scope() {
    let check = |result: &str, expected: &str| {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        check(V2026_07_28, "server tools/list", &frame, expected);
    };
    check(
        r#"{"resultType":"complete","tools":[]}"#,
        "schema/missing-field $.result.cacheScope, schema/missing-field $.result.ttlMs",
    );
    check(
        r#"{"resultType":"complete","tools":[],"ttlMs":-1,"cacheScope":"mine"}"#,
        "schema/wrong-value $.result.ttlMs, schema/wrong-value $.result.cacheScope",
    );
    check(r#"{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}"#, "");
}

#[test]
fn the_result_of_a_request_that_can_be_a_task_is_a_task_or_its_own_result() {
    let task = r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t","status":"working","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":null}}}"#;
    check(V2025_11_25, "server tools/call", task, "");
    check(V2025_06_18, "server tools/call", task, "schema/missing-field $.result.content");
    let broken = r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t","status":"idle","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":null}}}"#;
    check(V2025_11_25, "server tools/call", broken, "schema/wrong-value $.result.task.status");
}

#[test]
fn reports_error_codes_that_the_revision_reserves_or_forbids() {
    let check = |revision, error: &str, expected: &str| {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
        check(revision, "server", &frame, expected);
    };
    let not_found = r#"{"code":-32002,"message":"m"}"#;
    check(V2025_11_25, not_found, "");
    check(V2026_07_28, not_found, "errors/wrong-code $.error.code");
    check(V2026_07_28, r#"{"code":-32042,"message":"m"}"#, "errors/wrong-code $.error.code");
    check(V2026_07_28, r#"{"code":-32050,"message":"m"}"#, "errors/wrong-code $.error.code");
    check(V2025_11_25, r#"{"code":-32050,"message":"m"}"#, "");
    check(V2026_07_28, r#"{"code":-32000,"message":"m"}"#, "");
    check(V2026_07_28, r#"{"code":-32020,"message":"m"}"#, "");
    check(V2026_07_28, r#"{"code":-32022,"message":"m"}"#, "schema/missing-field $.error.data");
    check(
        V2026_07_28,
        r#"{"code":-32022,"message":"m","data":{"supported":[1],"requested":"x"}}"#,
        "schema/wrong-type $.error.data.supported[0]",
    );
    check(
        V2026_07_28,
        r#"{"code":-32021,"message":"m","data":{}}"#,
        "schema/missing-field $.error.data.requiredCapabilities",
    );
    check(
        V2025_11_25,
        r#"{"code":-32042,"message":"m","data":{}}"#,
        "schema/missing-field $.error.data.elicitations",
    );
    check(
        V2025_11_25,
        r#"{"code":1.5}"#,
        "wire/error-malformed $.error.code, wire/error-malformed $.error.message",
    );
}

#[test]
fn an_error_can_omit_its_id_only_in_some_revisions() {
    let absent = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#;
    let null = r#" {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}} "#;
    for revision in Revision::ALL {
        check(revision, "server", null, "");
        let expected = match revision.omits_unknown_error_id() {
            true => "",
            false => "wire/id-missing $.id",
        };
        check(revision, "server", absent, expected);
    }
}

#[test]
fn reports_duplicate_keys_at_any_depth() {
    check(
        V2025_06_18,
        "client",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","name":"b","arguments":{"x":[{"y":1,"y":2}]}}}"#,
        "wire/duplicate-key $.params.name, wire/duplicate-key $.params.arguments.x[0].y",
    );
}

#[test]
fn sections_name_revision_page_and_heading() {
    let section = |revision, frame: &str| {
        let found = Checker::for_revision(revision).check(&Frame::parse(frame), Side::Client, None);
        found[0].section.to_string()
    };
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    assert_eq!(section(V2025_06_18, call), "2025-06-18/server/tools#calling-tools");
    let wrong = r#"{"id":1,"method":"ping"}"#;
    assert_eq!(section(V2025_06_18, wrong), "2025-06-18/basic#messages");
    assert_eq!(section(V2024_11_05, wrong), "2024-11-05/basic/messages");
}

#[test]
fn a_completion_has_at_most_a_hundred_values() {
    for revision in Revision::ALL {
        for (count, expected) in [(100, ""), (101, "schema/wrong-value $.completion.values")] {
            let values = vec!["\"v\""; count].join(",");
            let text =
                format!(r#"{{"resultType":"complete","completion":{{"values":[{values}]}}}}"#);
            let json = RawJson::parse(&text).unwrap();
            let found = Checker::for_revision(revision).check_type("CompleteResult", json.view());
            assert_eq!(render(&found.unwrap()), expected, "{revision}");
        }
    }
}

#[test]
fn check_type_returns_none_for_unknown_types() {
    let checker = Checker::for_revision(V2024_11_05);
    let json = RawJson::empty_object();
    assert!(checker.check_type("ElicitResult", json.view()).is_none());
    assert!(checker.type_names().any(|name| name == "Tool"));
}

#[test]
fn an_integer_can_be_written_with_fraction_zero_or_exponent() {
    let sample = |tokens: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{{"messages":[],"maxTokens":{tokens}}}}}"#
        )
    };
    check(V2025_06_18, "server", &sample("1.0"), "");
    check(V2025_06_18, "server", &sample("1e3"), "");
    check(V2025_06_18, "server", &sample("1.5"), "schema/wrong-type $.params.maxTokens");
}

#[test]
fn the_number_of_violations_is_bounded_and_deep_nesting_is_allowed() {
    let items = vec![r#"{"type":"nope"}"#; 5000].join(",");
    let frame = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{items}]}}}}"#);
    let checker = Checker::for_revision(V2025_11_25);
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

#[test]
fn images_audio_and_blobs_are_base64_with_a_media_type() {
    let called =
        |content: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{content}]}}}}"#);
    for revision in [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25] {
        let good = r#"{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"resource","resource":{"uri":"a:b","blob":"aGk=","mimeType":"a/b; c=d"}}"#;
        check(revision, "server tools/call", &called(good), "");
        check(
            revision,
            "server tools/call",
            &called(r#"{"type":"image","data":"data:image/png;base64,aGk=","mimeType":"png"}"#),
            "format/base64 $.result.content[0].data, format/media-type $.result.content[0].mimeType",
        );
        check(
            revision,
            "server tools/call",
            &called(r#"{"type":"resource","resource":{"uri":"no scheme","blob":"a-_="}}"#),
            "format/uri $.result.content[0].resource.uri, format/base64 $.result.content[0].resource.blob",
        );
    }
    let prompt = r#"{"jsonrpc":"2.0","id":1,"result":{"messages":[{"role":"user","content":{"type":"audio","data":"?","mimeType":"audio/wav"}}]}}"#;
    check(
        V2025_03_26,
        "server prompts/get",
        prompt,
        "format/base64 $.result.messages[0].content.data",
    );
}

#[test]
fn resources_have_uris_and_templates() {
    let listed = |list: &str, item: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"{list}":[{item}]}}}}"#)
    };
    for revision in [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25] {
        let resource =
            listed("resources", r#"{"uri":"file:///a%20b","name":"a","mimeType":"text/plain"}"#);
        check(revision, "server resources/list", &resource, "");
        check(
            revision,
            "server resources/list",
            &listed("resources", r#"{"uri":"/a b","name":"a"}"#),
            "format/uri $.result.resources[0].uri",
        );
        let template = listed("resourceTemplates", r#"{"uriTemplate":"a://{+b}","name":"a"}"#);
        check(revision, "server resources/templates/list", &template, "");
        check(
            revision,
            "server resources/templates/list",
            &listed("resourceTemplates", r#"{"uriTemplate":"a://{b","name":"a"}"#),
            "format/uri-template $.result.resourceTemplates[0].uriTemplate",
        );
        check(
            revision,
            "server",
            r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x y"}}"#,
            "format/uri $.params.uri",
        );
    }
    check(
        V2025_11_25,
        "server",
        r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"example","elicitationId":"e"}}"#,
        "format/uri $.params.url",
    );
}

#[test]
fn a_violation_of_a_format_names_the_section_of_its_rule() {
    let frame = Frame::parse(
        r#"{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"a:b","blob":"?"}]}}"#,
    );
    let found =
        Checker::for_revision(V2025_06_18).check(&frame, Side::Server, Some("resources/read"));
    assert_eq!(found[0].section, "2025-06-18/server/resources#security-considerations");
    assert_eq!(
        found[0].message,
        "expected base64 (standard alphabet, with padding), but character 1 is '?'"
    );
}

#[test]
fn the_times_of_a_task_are_timestamps() {
    let task = |time: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"taskId":"t","status":"working","createdAt":"{time}","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":1}}}}"#
        )
    };
    check(V2025_11_25, "server tasks/get", &task("2025-11-25T10:30:00.5+01:00"), "");
    check(V2025_11_25, "server tasks/get", &task("today"), "format/timestamp $.result.createdAt");
}

#[test]
fn keys_of_metadata_have_a_prefix_of_labels_and_a_name() {
    let result = |key: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[],"_meta":{{"{key}":1}}}}}}"#)
    };
    for revision in [V2025_06_18, V2025_11_25] {
        check(revision, "server tools/list", &result("com.example/a-b"), "");
        check(revision, "server tools/list", &result("_a"), "format/meta-key $.result._meta._a");
    }
    check(V2025_03_26, "server tools/list", &result("_a"), "");
    let block = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a","_meta":{"a b":1}}]}}"#;
    check(
        V2025_11_25,
        "server tools/call",
        block,
        r#"format/meta-key $.result.content[0]._meta["a b"]"#,
    );
}

#[test]
fn the_schemas_of_tools_are_valid() {
    let listed = |schema: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{{"name":"a","inputSchema":{schema}}}]}}}}"#
        )
    };
    let good = listed(r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}"#);
    let bad = listed(r#"{"type":"object","properties":{"a":{"type":"text"}}}"#);
    check(V2025_11_25, "server tools/list", &good, "");
    check(
        V2025_11_25,
        "server tools/list",
        &bad,
        r#"format/json-schema $.result.tools[0].inputSchema.properties["a"].type"#,
    );
    // Older revisions name no dialect.
    check(V2025_06_18, "server tools/list", &bad, "");
}

#[test]
fn the_result_of_ping_is_empty() {
    let result = |result: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    for revision in [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25] {
        check(revision, "server ping", &result("{}"), "");
        check(revision, "server ping", &result(r#"{"_meta":{"a":1}}"#), "");
        check(revision, "server ping", &result(r#"{"ok":true}"#), "ping/not-empty $.result.ok");
    }
}

#[test]
fn the_names_of_extensions_have_a_prefix() {
    let discovered = |name: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{{"extensions":{{"{name}":{{}}}}}},"ttlMs":0,"cacheScope":"public"}}}}"#
        )
    };
    check(V2026_07_28, "server server/discover", &discovered("io.x/tasks"), "");
    check(
        V2026_07_28,
        "server server/discover",
        &discovered("tasks"),
        "capabilities/extension-name $.result.capabilities.extensions.tasks",
    );
}

#[test]
fn tool_uses_in_a_sampling_request_are_followed_by_their_results() {
    let sample = |messages: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{{"maxTokens":1,"messages":[{messages}]}}}}"#
        )
    };
    let say = r#"{"role":"user","content":{"type":"text","text":"a"}}"#;
    let tool =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"a","input":{}}]}"#;
    let answer = |id: &str, more: &str| {
        format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","toolUseId":"{id}","content":[]}}{more}]}}"#
        )
    };
    let check = |messages: &[&str], expected: &str| {
        check(V2025_11_25, "server", &sample(&messages.join(",")), expected);
    };
    let rule = |index: u32| format!("sampling/unbalanced-tools $.params.messages[{index}].content");
    check(&[say, tool, &answer("1", ""), say], "");
    check(&[say, tool], &rule(1));
    check(&[tool, say], &rule(1));
    check(&[tool, &answer("2", "")], &rule(1));
    check(&[&answer("1", "")], &rule(0));
    check(&[tool, &answer("1", r#",{"type":"text","text":"a"}"#)], &rule(1));
}

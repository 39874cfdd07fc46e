//! Connections without a handshake, and between the eras.

use super::{CALL, CALLED, META, check, discovery, handshake, session};
use crate::revision::Revision;

#[test]
fn learns_the_revision_from_the_metadata_of_requests() {
    let checker = check(&discovery(), &[]);
    assert_eq!(checker.revision(), Some(Revision::V2026_07_28));
}

#[test]
fn a_handshake_follows_a_failed_probe_of_a_legacy_server() {
    let mut lines = vec![
        r#">{"id":9,"method":"server/discover","params":{$META}}"#.to_owned(),
        r#"<{"id":9,"error":{"code":-32002,"message":"not initialized"}}"#.to_owned(),
    ];
    lines.extend(session());
    let checker = check(&lines, &[(CALL, ""), (CALLED, "")]);
    assert_eq!(checker.revision(), Some(Revision::V2025_11_25));
}

#[test]
fn reports_an_error_that_rejects_a_supported_version() {
    check(
        &[],
        &[
            (r#">{"id":1,"method":"tools/list","params":{$META}}"#, ""),
            (
                r#"<{"id":1,"error":{"code":-32022,"message":"m","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}}"#,
                "lifecycle/wrong-version $.error.data.supported",
            ),
        ],
    );
}

#[test]
fn reports_notifications_that_a_subscription_did_not_request_or_acknowledge() {
    let on = |method: &str, id: &str| {
        format!(
            r#"<{{"method":"notifications/{method}","params":{{"uri":"a:b","notifications":{{}},"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
        )
    };
    let wrong = r#"subscriptions/invalid $.params._meta["io.modelcontextprotocol/subscriptionId"]"#;
    let (changed, ack) = ("tools/list_changed", "subscriptions/acknowledged");
    let ended = |id: &str| {
        format!(
            r#"<{{"id":1,"result":{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
        )
    };
    let mut opening = discovery();
    opening.push(r#">{"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},$META}}"#.to_owned());
    check(
        &opening,
        &[
            (&on(changed, "1"), wrong),
            (&on(ack, "2"), wrong),
            (&on(ack, "1"), ""),
            (&on(changed, "1"), ""),
            (&on(changed, "\"1\""), wrong),
            (r#"<{"method":"notifications/tools/list_changed"}"#, wrong),
            (
                &on("prompts/list_changed", "1"),
                &format!("capabilities/undeclared $.method, {wrong}"),
            ),
            (
                &ended("2"),
                r#"subscriptions/invalid $.result._meta["io.modelcontextprotocol/subscriptionId"]"#,
            ),
            (&on(changed, "1"), wrong),
        ],
    );
    check(
        &opening,
        &[
            (&on(ack, "1"), ""),
            (r#">{"method":"notifications/cancelled","params":{"requestId":1}}"#, ""),
            (&on(changed, "1"), ""),
            (&ended("1"), ""),
        ],
    );
}

#[test]
fn a_modern_server_can_cancel_only_subscriptions() {
    let mut opening = discovery();
    opening.push(
        r#">{"id":1,"method":"subscriptions/listen","params":{"notifications":{},$META}}"#
            .to_owned(),
    );
    opening.push(r#">{"id":2,"method":"tools/call","params":{"name":"a",$META}}"#.to_owned());
    check(
        &opening,
        &[
            (
                r#"<{"method":"notifications/cancelled","params":{"requestId":2}}"#,
                "subscriptions/invalid $.params.requestId",
            ),
            (r#"<{"method":"notifications/cancelled","params":{"requestId":1}}"#, ""),
            (
                r#"<{"method":"notifications/cancelled","params":{"requestId":99}}"#,
                "cancellation/unknown-request $.params.requestId",
            ),
        ],
    );
}

#[test]
fn a_modern_server_can_log_only_on_request() {
    let log = r#"<{"method":"notifications/message","params":{"level":"info","data":1}}"#;
    let meta = META.replace("{\"io.", r#"{"io.modelcontextprotocol/logLevel":"info","io."#);
    let call = format!(r#">{{"id":2,"method":"tools/call","params":{{"name":"a",{meta}}}}}"#);
    let done = r#"<{"id":2,"result":{"resultType":"complete","content":[]}}"#;
    check(
        &discovery(),
        &[
            (log, "capabilities/undeclared $.method"),
            (&call, ""),
            (log, ""),
            (done, ""),
            (log, "capabilities/undeclared $.method"),
        ],
    );
}

#[test]
fn a_modern_server_can_ask_only_for_declared_input() {
    let ask = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b c":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u:v"}}}}"#;
    let reply = format!(r#"<{{"id":1,"result":{ask}}}"#);
    let call = |capabilities: &str| {
        let meta = META.replace("{}", capabilities);
        format!(r#">{{"id":1,"method":"tools/call","params":{{"name":"a",{meta}}}}}"#)
    };
    let all = r#"{"roots":{},"elicitation":{"url":{}}}"#;
    check(&discovery(), &[(&call(all), ""), (&reply, "")]);
    let lacking = r#"capabilities/undeclared $.result.inputRequests.a, capabilities/undeclared $.result.inputRequests["b c"]"#;
    check(&discovery(), &[(&call(r#"{"elicitation":{}}"#), ""), (&reply, lacking)]);
}

#[test]
fn extensions_can_add_result_types() {
    let meta = META.replace("{}", r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#);
    let call = format!(r#">{{"id":1,"method":"tools/call","params":{{"name":"a",{meta}}}}}"#);
    let task = r#"<{"id":1,"result":{"resultType":"task","taskId":"t"}}"#;
    check(&discovery(), &[(&call, ""), (task, "")]);
    let plain = r#">{"id":1,"method":"tools/call","params":{"name":"a",$META}}"#;
    check(&discovery(), &[(plain, ""), (task, "schema/wrong-result-type $.result.resultType")]);
}

#[test]
fn a_server_of_both_eras_can_send_notifications_of_either() {
    let mut lines = discovery();
    lines.extend(handshake("2025-11-25", "{}", r#"{"tools":{"listChanged":true}}"#));
    check(
        &lines,
        &[
            (r#"<{"method":"notifications/tools/list_changed"}"#, ""),
            (r#">{"id":5,"method":"tools/list"}"#, ""),
            (r#"<{"id":5,"result":{"tools":[]}}"#, ""),
            (r#">{"id":6,"method":"tools/list","params":{$META}}"#, ""),
            (
                r#"<{"id":6,"result":{"tools":[]}}"#,
                "schema/missing-field $.result.cacheScope, schema/missing-field $.result.resultType, schema/missing-field $.result.ttlMs",
            ),
        ],
    );
}

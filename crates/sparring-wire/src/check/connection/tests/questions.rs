//! Rules about questions to the client, subscriptions, cancellations and the progress of
//! tasks.

use super::{CALL, check, discovery, handshake, session};

const CLIENT: &str = r#"{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#;

fn asked(revision: &str, params: &str, expected: &str) {
    let ask = format!(r#"<{{"id":"s","method":"elicitation/create","params":{params}}}"#);
    check(&handshake(revision, CLIENT, r#"{"tools":{}}"#), &[(CALL, ""), (&ask, expected)]);
}

#[test]
fn the_schema_of_a_form_is_flat() {
    let form = |property: &str| {
        format!(
            r#"{{"message":"m","requestedSchema":{{"type":"object","properties":{{"a":{property}}}}}}}"#
        )
    };
    let broken = "elicitation/schema $.params.requestedSchema.properties.a";
    for revision in ["2025-06-18", "2025-11-25"] {
        asked(revision, &form(r#"{"type":"string"}"#), "");
        asked(revision, &form(r#"{"type":"string","enum":["a"],"enumNames":["A"]}"#), "");
        asked(revision, &form(r#"{"type":"string","enum":[1,2]}"#), broken);
        asked(revision, &form(r#"{"type":"string","allOf":[]}"#), broken);
        asked(revision, &form(r##"{"type":"string","$ref":"#/a"}"##), broken);
    }
    let top = r#"{"message":"m","requestedSchema":{"type":"object","properties":{},"oneOf":[]}}"#;
    asked("2025-11-25", top, "elicitation/schema $.params.requestedSchema");
    let titled = |value: &str| {
        form(&format!(r#"{{"type":"string","oneOf":[{{"const":{value},"title":"A"}}]}}"#))
    };
    asked("2025-11-25", &titled(r#""a""#), "");
    asked("2025-11-25", &titled("1"), broken);
}

#[test]
fn a_form_asks_for_no_secrets_and_has_no_urls() {
    let form = |message: &str, name: &str| {
        format!(
            r#"{{"message":"{message}","requestedSchema":{{"type":"object","properties":{{"{name}":{{"type":"string"}}}}}}}}"#
        )
    };
    for revision in ["2025-06-18", "2025-11-25"] {
        asked(revision, &form("Your name?", "name"), "");
        let field = "elicitation/sensitive $.params.requestedSchema.properties.password";
        asked(revision, &form("Log in", "password"), field);
        let message = "elicitation/sensitive $.params.message";
        asked(revision, &form("Please enter your API key", "value"), message);
    }
    let url = form("See https://example.com", "name");
    asked("2025-11-25", &url, "elicitation/clickable-url $.params.message");
    asked("2025-06-18", &url, "");
}

#[test]
fn the_url_of_an_elicitation_is_safe() {
    let url =
        |url: &str| format!(r#"{{"mode":"url","message":"m","elicitationId":"e","url":"{url}"}}"#);
    asked("2025-11-25", &url("https://example.com/connect?id=7"), "");
    asked("2025-11-25", &url("http://localhost:3000/connect"), "");
    let insecure = "elicitation/insecure-url $.params.url";
    asked("2025-11-25", &url("http://example.com/connect"), insecure);
    let secret = "elicitation/url-secrets $.params.url";
    asked("2025-11-25", &url("https://example.com/?access_token=a"), secret);
    let error = |url: &str| {
        format!(
            r#"<{{"id":1,"error":{{"code":-32042,"message":"m","data":{{"elicitations":[{{"mode":"url","message":"m","url":"{url}","elicitationId":"e"}}]}}}}}}"#
        )
    };
    let opening = handshake("2025-11-25", CLIENT, r#"{"tools":{}}"#);
    check(&opening, &[(CALL, ""), (&error("https://example.com/"), "")]);
    let broken = "elicitation/url-secrets $.error.data.elicitations[0].url";
    check(&opening, &[(CALL, ""), (&error("https://a:b@example.com/"), broken)]);
    let empty = r#"<{"id":1,"error":{"code":-32042,"message":"m","data":{"elicitations":[]}}}"#;
    let none = "elicitation/none-required $.error.data.elicitations";
    check(&opening, &[(CALL, ""), (empty, none)]);
}

#[test]
fn a_sampling_request_uses_only_declared_features() {
    let ask = |more: &str| {
        format!(
            r#"<{{"id":"s","method":"sampling/createMessage","params":{{"messages":[],"maxTokens":1,{more}}}}}"#
        )
    };
    let context = ask(r#""includeContext":"thisServer""#);
    let choice = ask(r#""toolChoice":{"mode":"none"}"#);
    let opening = handshake("2025-11-25", r#"{"sampling":{}}"#, "{}");
    check(&opening, &[(&context, "sampling/undeclared-context $.params.includeContext")]);
    check(&opening, &[(&choice, "capabilities/undeclared $.method")]);
    let opening = handshake("2025-11-25", r#"{"sampling":{"context":{},"tools":{}}}"#, "{}");
    check(&opening, &[(&context, "")]);
    check(&opening, &[(&choice, "")]);
}

#[test]
fn required_input_has_unique_keys() {
    let call = r#">{"id":1,"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{}}}}}"#;
    let answer = |inputs: &str| {
        format!(
            r#"<{{"id":1,"result":{{"resultType":"input_required","inputRequests":{{{inputs}}}}}}}"#
        )
    };
    let roots = r#""a":{"method":"roots/list"}"#;
    check(&discovery(), &[(call, ""), (&answer(roots), "")]);
    let twice =
        "wire/duplicate-key $.result.inputRequests.a, input/duplicate-key $.result.inputRequests.a";
    check(&discovery(), &[(call, ""), (&answer(&format!("{roots},{roots}")), twice)]);
    check(&discovery(), &[(call, ""), (&answer(""), "input/empty $.result.inputRequests")]);
    let secret = r#""a":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"apiKey":{"type":"string"}}}}}"#;
    let broken =
        "elicitation/sensitive $.result.inputRequests.a.params.requestedSchema.properties.apiKey";
    check(&discovery(), &[(call, ""), (&answer(secret), broken)]);
}

#[test]
fn a_log_message_holds_no_secrets() {
    let log = |data: &str| {
        format!(
            r#"<{{"method":"notifications/message","params":{{"level":"info","data":"{data}"}}}}"#
        )
    };
    check(&session(), &[(&log("half way"), "")]);
    check(&session(), &[(&log("password=hunter2"), "logging/sensitive $.params.data")]);
}

#[test]
fn a_resource_is_announced_only_to_its_subscribers() {
    let updated = r#"<{"method":"notifications/resources/updated","params":{"uri":"file:///a/b"}}"#;
    let broken = "subscriptions/unrequested-update $.params.uri";
    let ask = |id: u32, method: &str, uri: &str| {
        format!(r#">{{"id":{id},"method":"resources/{method}","params":{{"uri":"{uri}"}}}}"#)
    };
    let empty = |id: u32| format!(r#"<{{"id":{id},"result":{{}}}}"#);
    check(&session(), &[(updated, broken)]);
    check(&session(), &[(&ask(1, "subscribe", "file:///c"), ""), (updated, broken)]);
    check(
        &session(),
        &[
            (&ask(1, "subscribe", "file:///a"), ""),
            (&empty(1), ""),
            // A part of the resource.
            (updated, ""),
            (&ask(2, "unsubscribe", "file:///a"), ""),
            (&empty(2), ""),
            // It can be older than the response.
            (updated, ""),
            (r#">{"id":3,"method":"ping"}"#, ""),
            (&empty(3), ""),
            (updated, broken),
        ],
    );
}

#[test]
fn an_acknowledgment_names_only_what_was_requested_and_declared() {
    let listen = r#">{"id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a:b"]},$META}}"#;
    let acknowledged = |granted: &str| {
        format!(
            r#"<{{"method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{{granted}}},"_meta":{{"io.modelcontextprotocol/subscriptionId":"l"}}}}}}"#
        )
    };
    for (granted, expected) in [
        (r#""toolsListChanged":true"#, ""),
        (r#""toolsListChanged":true,"resourcesListChanged":false"#, ""),
        (
            r#""resourcesListChanged":true"#,
            "subscriptions/wrong-acknowledgment $.params.notifications.resourcesListChanged",
        ),
        (
            r#""resourceSubscriptions":["a:c"]"#,
            "subscriptions/wrong-acknowledgment $.params.notifications.resourceSubscriptions",
        ),
        (
            r#""promptsListChanged":true"#,
            "subscriptions/undeclared-kind $.params.notifications.promptsListChanged",
        ),
    ] {
        check(&discovery(), &[(listen, ""), (&acknowledged(granted), expected)]);
    }
}

#[test]
fn a_server_cancels_only_what_is_pending() {
    let cancel = |id: &str| {
        format!(r#"<{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    let list = r#">{"id":2,"method":"ping"}"#;
    check(
        &session(),
        &[
            (CALL, ""),
            (r#"<{"id":"s","method":"roots/list"}"#, ""),
            (r#">{"id":"s","result":{"roots":[]}}"#, ""),
            // The response can be on its way.
            (&cancel("\"s\""), ""),
            (list, ""),
            (r#"<{"id":2,"result":{}}"#, ""),
            (&cancel("\"s\""), "cancellation/finished-request $.params.requestId"),
        ],
    );
    check(
        &discovery(),
        &[
            (r#">{"id":1,"method":"tools/list","params":{$META}}"#, ""),
            (
                r#"<{"id":1,"result":{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}}"#,
                "",
            ),
            (&cancel("1"), "subscriptions/invalid $.params.requestId"),
        ],
    );
}

#[test]
fn progress_of_a_task_names_it_and_stops_when_it_is_final() {
    let state = |status: &str| {
        format!(
            r#""taskId":"t","status":"{status}","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:30:00Z","ttl":1"#
        )
    };
    let call = r#">{"id":1,"method":"tools/call","params":{"name":"a","task":{},"_meta":{"progressToken":7}}}"#;
    let created = format!(r#"<{{"id":1,"result":{{"task":{{{}}}}}}}"#, state("working"));
    let progress = |value: u32, meta: &str| {
        format!(
            r#"<{{"method":"notifications/progress","params":{{"progressToken":7,"progress":{value}{meta}}}}}"#
        )
    };
    let named = r#","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}"#;
    let get = |id: u32| format!(r#">{{"id":{id},"method":"tasks/get","params":{{"taskId":"t"}}}}"#);
    let got = |id: u32, more: &str| format!(r#"<{{"id":{id},"result":{{{more}}}}}"#);
    check(
        &session(),
        &[
            (call, ""),
            (&created, ""),
            (&progress(1, named), ""),
            (&progress(2, ""), "tasks/related-task $.params._meta"),
            (&get(2), ""),
            (&got(2, &state("completed")), ""),
            (&progress(3, named), ""),
            (r#">{"id":3,"method":"ping"}"#, ""),
            (r#"<{"id":3,"result":{}}"#, ""),
            (&progress(4, named), "progress/invalid $.params.progressToken"),
            (&get(4), ""),
            (
                &got(4, &format!("{}{named}", state("completed"))),
                r#"tasks/superfluous-related-task $.result._meta["io.modelcontextprotocol/related-task"]"#,
            ),
        ],
    );
    check(
        &session(),
        &[
            (call, ""),
            (&created, ""),
            (&get(2), ""),
            (&got(2, &state("failed")), "tasks/status-message $.result"),
        ],
    );
}

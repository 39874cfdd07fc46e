//! Steps other than a single request: subscriptions, waiting, cancellation, restarts and raw
//! bytes, and the expectations of the HTTP response.

use sparring_suite::Outcome;

use crate::fixture::{block_on, fail, failed, outcomes, pass};

/// A mock in both eras, over each transport that this process serves itself.
const EVERYWHERE: &str = "servers: {it: {mock: trainer.mock.yaml, timeout: 2s, \
    protocol: [2024-11-05, 2025-11-25, 2026-07-28], transport: [memory, http, sse]}}\n";

#[track_caller]
fn pass_everywhere(test: &str) {
    pass_on(EVERYWHERE, test);
}

#[track_caller]
fn pass_on(servers: &str, test: &str) {
    let results = block_on(outcomes(&format!("{servers}tests: [{{name: a, {test}}}]"), false));
    assert!(results.len() > 1, "{results:?}");
    for (_, outcome) in results {
        assert!(matches!(outcome, Some(Outcome::Passed)), "{test}\n{outcome:#?}");
    }
}

/// A server that answers `initialize` and `ping`.
const ANSWERS: &str = include_str!("../answers.sh");

const UPDATED: &str = "{method: notifications/resources/updated, params: {uri: \"a://b\"}}";

#[test]
fn a_subscription_lasts_until_its_test_ends() {
    let changed = format!("expect: {{notifications: {{has: {UPDATED}}}}}");
    pass_everywhere(&format!(
        "steps: [{{subscribe: \"a://b\"}}, {{call: update, {changed}}}, {{call: update, {changed}}}]"
    ));
    // The next test gets no notification, because the subscription has ended.
    let text = format!(
        "{EVERYWHERE}tests: [{{name: a, subscribe: \"a://b\"}}, {{name: b, call: update, \
         expect: {{notifications: {{lacks: {UPDATED}}}}}}}]"
    );
    for (name, outcome) in block_on(outcomes(&text, false)) {
        assert!(matches!(outcome, Some(Outcome::Passed)), "{name} {outcome:#?}");
    }
}

#[test]
fn the_acknowledgement_of_a_subscription_is_no_notification() {
    let none = "expect: {notifications: {count: 0}}";
    pass_everywhere(&format!("wait: 50ms, {none}"));
    pass_everywhere(&format!("restart: true, {none}"));
    pass_everywhere(&format!("subscribe: \"a://b\", {none}"));
    let listen = "request: subscriptions/listen, with: {notifications: {toolsListChanged: true}}";
    let text = format!(
        "servers: {{it: {{mock: trainer.mock.yaml, protocol: 2026-07-28}}}}\n\
         tests: [{{name: a, {listen}, cancel: {{after: 100ms}}, expect: {{notifications: \
         {{has: {{method: notifications/subscriptions/acknowledged}}, count: 1}}}}}}]"
    );
    let results = block_on(outcomes(&text, false));
    assert!(matches!(results[0].1, Some(Outcome::Passed)), "{results:#?}");
}

#[test]
fn a_subscription_that_the_server_refuses_is_an_error() {
    let text = "servers: {it: {mock: plain.mock.yaml, protocol: [2025-11-25, 2026-07-28]}}\n\
                tests: [{name: a, subscribe: \"a://b\"}, {name: b, subscribe: \"a://b\", \
                expect: {error: {kind: {one_of: [refused, not-acknowledged]}}}}]";
    let results = block_on(outcomes(text, false));
    let results: Vec<String> = results.into_iter().map(|(_, it)| format!("{it:?}")).collect();
    assert!(results[0].contains("method not found: resources/subscribe"), "{results:?}");
    assert!(results[2].contains("did not acknowledge the subscription to a://b"), "{results:?}");
    assert!(results[1] == "Some(Passed)" && results[3] == "Some(Passed)", "{results:?}");
}

#[test]
fn wait_accepts_messages_since_the_start_of_the_previous_step() {
    let changed = "notifications: {has: {method: notifications/tools/list_changed}}";
    pass_everywhere(&format!("steps: [{{call: soon}}, {{wait: 10s, expect: {{{changed}}}}}]"));
    pass(&[&format!(
        "steps: [{{call: changing, expect: {{{changed}}}}}, {{wait: 10s, expect: {{{changed}}}}}]"
    )]);
    // The notification comes after 2.5s. Other verbs wait only 2s for one.
    pass(&[&format!("steps: [{{call: later}}, {{wait: 20s, expect: {{{changed}}}}}]")]);
    fail(
        &format!("steps: [{{ping: true}}, {{wait: 50ms, expect: {{{changed}}}}}]"),
        "found no notifications",
    );
}

#[test]
fn wait_ignores_messages_of_earlier_tests() {
    let changed = "notifications: {has: {method: notifications/tools/list_changed}}";
    let text = format!(
        "servers: {{it: {{mock: trainer.mock.yaml}}}}\n\
         tests: [{{name: a, call: changing, expect: {{{changed}}}}}, \
         {{name: b, wait: 50ms, expect: {{{changed}}}}}]"
    );
    let results = block_on(outcomes(&text, false));
    assert!(matches!(results[0].1, Some(Outcome::Passed)), "{results:?}");
    assert!(format!("{:?}", results[1].1).contains("found no notifications"), "{results:?}");
}

#[test]
fn sleep_waits() {
    let begun = std::time::Instant::now();
    pass(&["sleep: 120ms"]);
    assert!(begun.elapsed() >= std::time::Duration::from_millis(120));
}

#[test]
fn a_request_is_cancelled_and_the_server_continues() {
    pass_everywhere(
        "steps: [{call: slow, cancel: {after: 30ms, reason: enough}, \
         expect: {frames: {lacks: {result: {exists: true}}}}}, {ping: true}]",
    );
    for verb in ["read: \"slow://a\"", "request: tools/call, with: {name: slow, arguments: {}}"] {
        pass(&[&format!("steps: [{{{verb}, cancel: {{after: 30ms}}}}, {{ping: true}}]")]);
    }
}

#[test]
fn cancels_as_the_revision_and_the_transport_require() {
    let recorded = |protocol: &str, transport: &str| {
        let text = format!(
            "servers: {{it: {{mock: trainer.mock.yaml, protocol: {protocol}, transport: {transport}}}}}\n\
             tests: [{{name: a, call: slow, cancel: {{after: 30ms, reason: enough}}, \
             expect: {{violations: {{has: {{rule: wire/not-json}}}}}}}}]"
        );
        let results = block_on(outcomes(&text, false));
        let Some(Outcome::Failed(failed)) = &results[0].1 else { panic!("{results:?}") };
        let ours = failed.frames.iter().filter(|it| !it.by_server);
        ours.skip(1).map(|it| it.text.clone()).collect::<Vec<_>>().join("\n")
    };
    for (protocol, transport, notified, closed) in [
        ("2024-11-05", "memory", true, false),
        ("2026-07-28", "memory", true, false),
        ("2025-11-25", "http", true, true),
        ("2025-11-25", "sse", true, false),
        ("2026-07-28", "http", false, true),
    ] {
        let recorded = recorded(protocol, transport);
        let what = format!("{protocol} {transport}: {recorded}");
        assert_eq!(recorded.contains("\"reason\":\"enough\""), notified, "{what}");
        assert_eq!(recorded.contains("ended by this side"), closed, "{what}");
    }
}

#[test]
fn a_late_answer_to_a_cancelled_request_is_recorded() {
    let late = "frames: {has: {result: {content: [{text: too late}]}}}";
    pass(&[&format!(
        "steps: [{{call: late, cancel: {{after: 30ms}}}}, {{wait: 5s, expect: {{{late}}}}}, \
         {{call: echo, with: {{message: hi}}, expect: {{text: hi}}}}]"
    )]);
}

#[test]
fn reports_an_answer_that_comes_before_the_cancellation() {
    fail("call: two, cancel: {after: 1s}", "nothing to cancel: the answer came first");
    fail("call: refused, cancel: {after: 1s}", "returned an error: not today (-32001)");
}

#[test]
fn restart_starts_a_new_server_and_keeps_saved_values() {
    pass_everywhere(
        "steps: [{call: once, expect: {text: first}}, {call: once, save: {again: text}}, \
         {restart: true}, {call: once, expect: {text: first}}, \
         {call: echo, with: {message: \"${again}\"}, expect: {text: again}}]",
    );
    pass_everywhere(
        "steps: [{call: exit, expect: {error: {kind: {one_of: [closed, broken, http]}}}}, {restart: true}, {call: two}, \
         {restart: true}, {restart: true}, {call: two}]",
    );
}

#[test]
fn reports_a_failed_restart_at_its_step() {
    let folder = tempfile::tempdir().unwrap();
    let flag = folder.path().join("flag");
    let script = serde_json::json!(format!(
        "test -e {0} && echo once only >&2 && exit 9; touch {0}\n{ANSWERS}",
        flag.display()
    ));
    let text = format!(
        "servers: {{it: {{command: sh, args: [-c, {script}], timeout: 5s}}}}\n\
         tests: [{{name: a, steps: [{{ping: true}}, {{restart: true}}]}}, {{name: b, ping: true}}]"
    );
    let results = block_on(outcomes(&text, false));
    for (_, outcome) in &results {
        let Some(Outcome::Failed(failed)) = outcome else { panic!("{results:?}") };
        assert!(failed.failures[0].message.contains("exited with status 9"), "{failed:?}");
        assert_eq!(failed.stderr, "once only");
    }
    let Some(Outcome::Failed(failed)) = &results[0].1 else { panic!("{results:?}") };
    let span = failed.failures[0].span;
    assert_eq!(&text[span.start..span.end], "restart");
}

#[test]
fn send_sends_bytes_unchanged() {
    let servers = "servers: {it: {mock: trainer.mock.yaml, timeout: 2s, \
                   protocol: [2025-11-25, 2026-07-28], transport: [memory, http]}}\n";
    pass_on(
        servers,
        "steps: [{send: \"{nonsense\", expect: {frames: {has: {error: {code: -32700}}}}}, \
         {send: {base64: \"/w==\"}, expect: {frames: {has: {error: {code: -32700}}}}}, \
         {ping: true}]",
    );
    pass_everywhere(
        "cases: [{name: b}], steps: [{send: {json: {jsonrpc: \"2.0\", id: mine, \
         method: no/such, params: {name: \"${name}\"}}}, \
         expect: {frames: {has: {id: mine, error: {code: {one_of: [-32600, -32601, -32602]}}}}}}, {ping: true}]",
    );
    pass(&["send: '[1, 2', expect: {frames: {has: {error: {code: -32700}}, count: 1}}"]);
    pass(&["steps: [{send: hello}, {send: ' '}, {ping: true}]"]);
}

#[test]
fn send_sends_large_messages() {
    let many = "x".repeat(9 * 1024 * 1024);
    pass(&[&format!(
        "steps: [{{send: \"{many}\", expect: {{frames: {{has: {{error: {{}}}}}}}}}}, {{ping: true}}]"
    )]);
}

#[test]
fn status_and_headers_check_the_http_response() {
    let over_http = "servers: {it: {mock: trainer.mock.yaml, timeout: 2s, \
                     protocol: [2025-11-25, 2026-07-28], transport: http}}\n";
    let json = "headers: {Content-Type: {starts_with: application/json}}";
    pass_on(over_http, &format!("call: two, expect: {{status: 200, {json}}}"));
    pass_on(over_http, &format!("list: tools, expect: {{status: {{lt: 300}}, {json}}}"));
    pass_on(
        over_http,
        "send: \"{nonsense\", expect: {status: 400, headers: {x-none: {exists: false}}}",
    );
    pass_on(
        over_http,
        "steps: [{call: two}, {notify: notifications/roots/list_changed, expect: {status: 202}}]",
    );
    let old = over_http.replace("2026-07-28", "2024-11-05").replace("http}", "sse}");
    pass_on(&old, "call: two, expect: {status: 202}");
    let results = block_on(outcomes(
        &format!("{over_http}tests: [{{name: a, call: two, expect: {{status: 404}}}}]"),
        false,
    ));
    assert!(format!("{results:?}").contains("status: expected 404, found 200"), "{results:?}");
}

#[test]
fn reports_status_and_headers_without_http() {
    let failed = block_on(failed("call: two, expect: {status: 200, headers: {a: b}}")).unwrap();
    let messages: Vec<&str> = failed.failures.iter().map(|it| &*it.message).collect();
    assert_eq!(
        messages,
        [
            "no status: the connection does not use HTTP",
            "no headers: the connection does not use HTTP",
        ]
    );
}

//! Every expectation, with values that meet it and values that do not.

use sparring_suite::Outcome;

use crate::fixture::{block_on, fail, failed, outcomes, pass};

#[test]
fn checks_each_aspect_of_an_answer() {
    pass(&[
        "call: two, expect: {text: \"onetwo\\n\", content: [{type: text, text: one}, {type: text}]}",
        "call: echo, with: {message: \"[1, 2]\"}, expect: {json: [1, {gt: 1}]}",
        "call: typed, with: {days: 2}, expect: {structured: {days: 2}, is_error: false}",
        "call: typed, with: {days: 2}, expect: {result: {structured_content: {days: 2}}}",
        "call: failing, expect: {is_error: true, text: {contains: city}}",
        "call: refused, expect: {error: {code: -32001, message: not today, data: {until: monday}}}",
        "call: exit, expect: {error: {kind: closed}}",
    ]);
    fail(
        "call: two, expect: {text: {starts_with: two}}",
        "text: expected a string that starts with",
    );
    fail("call: echo, with: {message: no}, expect: {json: 1}", "the text is not JSON");
    fail(
        "call: typed, with: {days: 2}, expect: {structured: {days: 3}}",
        "structured.days: expected 3",
    );
    fail("call: two, expect: {structured: {}}", "structured: expected a map, found nothing");
    fail("call: two, expect: {content: []}", "content: expected 0 items");
    fail("call: two, expect: {is_error: true}", "is_error: expected true, found false");
    fail("call: two, expect: {error: {}}", "expected an error, found the result");
    fail("list: tools, expect: {error: {}}", "expected an error, found the result a list");
    fail("call: refused, expect: {error: {code: 1}}", "error.code: expected 1, found -32001");
}

#[test]
fn an_error_that_the_server_did_not_send_needs_its_kind() {
    let other = "expected an error that the server sent, found an error of `kind:";
    fail("call: exit, expect: {error: {}}", &format!("{other} closed`: the other side closed"));
    fail("call: slow, expect: {error: {}}", &format!("{other} timeout`: no answer to tools/call"));
    fail("call: exit, expect: {error: {not: {code: 1}}}", &format!("{other} closed`"));
    fail("call: exit, expect: {error: {not: {kind: timeout}}}", &format!("{other} closed`"));
    fail(
        "call: exit, expect: {error: {kind: timeout}}",
        "error.kind: expected \"timeout\", found \"closed\"",
    );
    pass(&[
        "call: refused, expect: {error: {}}",
        "call: refused, expect: {error: {kind: refused}}",
        "call: exit, expect: {error: {any: [{kind: closed}, {code: 1}]}}",
    ]);
}

#[test]
fn reports_every_failure_with_its_position_and_the_frames() {
    let test = "call: typed, with: {days: 2}, expect: {text: x, structured: {days: 3, more: 1}}";
    let failed = block_on(failed(test)).unwrap();
    let messages: Vec<&str> = failed.failures.iter().map(|failure| &*failure.message).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert_eq!(messages[1], "structured.days: expected 3, found 2");
    assert!(failed.failures[1].span.start > failed.failures[0].span.start);
    assert!(!failed.frames[0].by_server && failed.frames[0].text.contains("tools/call"));
    assert!(failed.frames[1].by_server && failed.frames[1].text.contains("structuredContent"));
}

#[test]
fn a_mismatch_of_several_lines_has_a_diff() {
    let failed = block_on(failed("call: two, expect: {text: \"onetwo\\nthree\\n\"}")).unwrap();
    assert_eq!(failed.failures[0].diff.as_deref(), Some(" onetwo\n-three"));
}

#[test]
fn checks_lists() {
    fail("list: tools, expect: {has: {name: ehco}}", "none of the items matches; the nearest is");
    fail(
        "list: tools, expect: {lacks: {name: echo}}",
        "one of the items matches this: {\"name\":\"echo\"",
    );
    fail("list: prompts, expect: {count: 2}", "the count of items: expected 2, found 1");
    fail("complete: {prompt: greet, argument: who, value: X}, expect: {has: X}", "found no items");
}

#[test]
fn checks_notifications() {
    pass(&[
        "call: changing, expect: {notifications: {has: {method: notifications/tools/list_changed}}}",
        "call: changing, expect: {notifications: {count: 1}}",
        "call: two, expect: {notifications: {count: 0}}",
        "call: changing, expect: {notifications: {lacks: {method: notifications/message}}}",
    ]);
    fail("call: two, expect: {notifications: {has: {}}}", "found no notifications");
    fail("call: changing, expect: {notifications: {count: 0}}", "expected 0, found 1");
    fail(
        "call: changing, expect: {notifications: {lacks: {method: {ends_with: list_changed}}}}",
        "one of the notifications matches this",
    );
    fail(
        "call: changing, expect: {notifications: {lacks: {method: {matches: \"^(?:(?=[a-z/])[a-z/]+)+$\"}}}}",
        "gave up after too many steps",
    );
}

#[test]
fn count_beside_has_counts_only_the_items_that_match() {
    let changed = "has: {method: notifications/tools/list_changed}";
    pass(&[
        &format!("call: again, expect: {{notifications: {{{changed}, count: 2}}}}"),
        "list: tools, expect: {has: {name: echo}, count: 1}",
        "list: tools, expect: {has: [{name: echo}, {name: {starts_with: ask}}], count: 3}",
        "list: tools, expect: {lacks: {name: nothing}, count: {gt: 9}}",
        "call: noise, expect: {violations: {has: {rule: wire/not-json}, count: 1}}",
    ]);
    fail(
        &format!("call: again, expect: {{notifications: {{{changed}, count: 1}}}}"),
        "the count of notifications that match: expected 1, found 2",
    );
    fail(
        "list: tools, expect: {has: {name: {starts_with: ask}}, count: 1}",
        "the count of items that match: expected 1, found 2",
    );
    // A violation that does not match is not counted, so it is unexpected.
    fail(
        "call: noisy_type, with: {days: x}, expect: {violations: {has: {rule: wire/not-json}, count: 1}}",
        "tools/output-schema",
    );
}

#[test]
fn a_maximum_count_includes_late_notifications() {
    fail("call: again, expect: {notifications: {count: 1}}", "expected 1, found 2");
    fail("call: again, expect: {notifications: {count: {lt: 2}}}", "a number < 2, found 2");
    fail("call: again, expect: {notifications: {count: {not: 2}}}", "found 2");
    fail("call: again, expect: {notifications: {count: {one_of: [1, {gt: 2}]}}}", "found 2");
    pass(&["call: again, expect: {notifications: {count: {ge: 1}}}"]);
}

#[test]
fn counts_every_violation_of_a_step() {
    let answer =
        |result: &str| format!("echo '{{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{result}}}'");
    let server = "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\
                  \"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}}";
    let script = format!(
        "while read -r line; do id=$(printf %s \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/'); \
         case \"$line\" in *'\"initialize\"'*) {} ;; \
         *own/flood*) seq -f 'noise %.0f' $(printf %s \"$line\" | sed 's/.*\"n\":\\([0-9]*\\).*/\\1/'); {} ;; esac; done",
        answer(server),
        answer("{}")
    );
    let check = |number: usize, expect: &str| {
        let text = format!(
            "servers: {{it: {{command: sh, args: [-c, {}], protocol: 2025-06-18}}}}\n\
             tests: [{{name: a, request: own/flood, with: {{n: {number}}}{expect}}}]",
            serde_json::json!(script)
        );
        match block_on(outcomes(&text, false)).remove(0).1 {
            Some(Outcome::Passed) => Vec::new(),
            Some(Outcome::Failed(failed)) => {
                failed.failures.into_iter().map(|failure| failure.message).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(check(150, ", expect: {violations: {count: 150}}"), Vec::<String>::new());
    let found = check(150, "");
    assert_eq!(found.len(), 101, "{found:?}");
    assert_eq!(found[100], "… and 50 other violations");
    let found = check(10_005, ", expect: {violations: {has: {rule: wire/not-json}}}");
    assert_eq!(found, ["5 violations were not checked: the step has too many of them"]);
}

#[test]
fn answers_and_checks_requests_of_the_server() {
    let yes = "answer: {elicitation: {action: accept, content: {}}}";
    pass(&[
        &format!("call: ask, {yes}, expect: {{text: accept, requests: {{count: 1}}}}"),
        "call: ask_twice, answer: {elicitation: [{action: accept, content: {}}, {action: decline}]}, \
         expect: {text: accept decline}",
        "call: think, answer: {sampling: {role: assistant, model: none, stop_reason: end, \
         content: {type: text, text: deep}}}, expect: {text: deep}",
        "call: look, answer: {roots: \"file:///here\"}, expect: {text: \"file:///here\"}",
        &format!(
            "steps: [{{call: ask, expect: {{error: {{kind: unanswered}}, \
             requests: {{has: {{method: elicitation/create}}}}}}}}, {{call: ask, {yes}}}]"
        ),
    ]);
    fail(
        &format!("call: ask, {yes}, expect: {{requests: {{has: {{params: {{message: no}}}}}}}}"),
        "none of the requests matches; the nearest is",
    );
}

#[test]
fn checks_the_time_until_the_answer() {
    pass(&["call: two, expect: {within: 2s}"]);
    fail("call: two, expect: {within: 0s}", "expected an answer within 0ns, but it took");
}

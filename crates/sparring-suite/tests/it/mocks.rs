//! Mocks of a suite: their replies, and the expectations of the requests that they received.

use sparring_suite::Outcome;

use crate::fixture::{block_on, outcomes};

/// Returns a suite whose server sends requests to an HTTP mock with these routes.
fn suite(routes: &str, tests: &str) -> String {
    format!(
        "servers: {{it: {{mock: upstream.mock.yaml, vars: {{api: \"${{mocks.api.url}}\"}}}}}}\n\
         mocks: {{api: {{http: [{routes}]}}}}\ntests: [{tests}]"
    )
}

/// Runs a suite. Returns the failure messages of all tests, each on its own line.
fn failure_messages(text: &str) -> String {
    let mut messages = String::new();
    for (name, outcome) in block_on(outcomes(text, false)) {
        match outcome {
            Some(Outcome::Passed) => {}
            Some(Outcome::Failed(failed)) => {
                failed.failures.iter().for_each(|it| messages += &format!("{}\n", it.message));
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    messages
}

/// Checks that a test passes which calls `fetch`.
#[track_caller]
fn check_fetch(routes: &str, expect: &str) {
    let test = format!("{{name: a, call: fetch, with: {{path: x}}, expect: {{{expect}}}}}");
    assert_eq!(failure_messages(&suite(routes, &test)), "", "{routes}");
}

#[test]
fn an_http_server_answers_by_routes() {
    let routes = "{when: {method: get, path: /x, query: {q: a b}, headers: {X-A: {matches: b}}}, reply: {json: {n: 1}}}";
    check_fetch(routes, "json: {n: 1}");
    check_fetch("{when: {path: /y}, reply: {text: y}}, {reply: {text: any}}", "text: any");
    let posted = "{name: a, call: post, with: {body: {id: 7}}, expect: {text: made}}";
    let routes = "{when: {method: POST, body: {id: 7}, text: {contains: id}}, \
                  reply: {status: 201, headers: {X-B: c}, text: made}}";
    assert_eq!(failure_messages(&suite(routes, posted)), "");
}

#[test]
fn replies_are_sent_in_order_and_again_for_the_next_test() {
    let routes =
        "{when: {path: /x}, reply: [{text: one}, {text: two, times: 2}]}, {reply: {text: rest}}";
    let steps = ["one", "two", "two", "rest"].map(|text| {
        format!("{{call: fetch, with: {{path: x}}, expect: {{text: {text}, received: {{api: {{count: 1}}}}}}}}")
    });
    let test = |name: &str| format!("{{name: {name}, steps: [{}]}}", steps.join(", "));
    let tests = format!("{}, {}", test("a"), test("b"));
    assert_eq!(failure_messages(&suite(routes, &tests)), "");
}

#[test]
fn an_http_mock_sends_faults_delays_and_statuses() {
    for (fault, expected) in [
        ("fault: {disconnect: before}", "closed"),
        ("json: {a: 1}, fault: {disconnect: middle}", "reading a body"),
        ("fault: {silent: true}", "2s"),
        ("text: abcdefghijabcdefghijabcdefghijabcdefghij, fault: {slow: 10}", "2s"),
        ("text: late, delay: 5s", "2s"),
        ("status: 503", "503"),
    ] {
        let expect = format!("is_error: true, text: {{matches: \"{expected}\"}}");
        check_fetch(&format!("{{reply: {{{fault}}}}}"), &expect);
    }
    check_fetch("{reply: {text: abcdefghij, fault: {slow: 100}}}", "text: abcdefghij");
}

#[test]
fn received_checks_requests_and_a_failure_names_the_nearest() {
    let check = |received: &str| {
        let test = format!(
            "{{name: a, call: fetch, with: {{path: x}}, expect: {{received: {{api: {received}}}}}}}"
        );
        failure_messages(&suite("{reply: {json: {}}}", &test))
    };
    for good in [
        "{}",
        "{count: 1}",
        "{count: 1, method: GET, path: /x, query: {q: a b}}",
        "{headers: {Authorization: Bearer abc}}",
        "{headers: {authorization: {not: Bearer x}}}",
        "[{path: /x}, {path: /y, count: 0}]",
    ] {
        assert_eq!(check(good), "", "{good}");
    }
    let bad = [
        (
            "{path: /y}",
            "the only request to `api` does not match; the nearest is GET /x: at path: expected \"/y\", found \"/x\"",
        ),
        (
            "{path: /y, count: 1}",
            "the count of requests to `api` that match: expected 1, found 0; the nearest",
        ),
        ("{count: 2}", "the count of requests to `api`: expected 2, found 1"),
        ("{path: /x, count: 0}", "expected 0, found 1"),
        ("{headers: {authorization: Bearer x}}", "found \"(hidden)\""),
        ("{headers: {authorization: {not: Bearer abc}}}", "a header differs"),
    ];
    // Checked in one step, because each failed expectation waits for its timeout.
    let told_of_all = check(&format!("[{}]", bad.map(|(bad, _)| bad).join(", ")));
    for (bad, expected) in bad {
        assert!(told_of_all.contains(expected), "{bad}: {told_of_all}");
    }
    assert!(!told_of_all.contains("abc"), "a secret in {told_of_all}");
    let none = "{name: a, list: tools, expect: {received: {api: {path: /x}}}}";
    assert_eq!(failure_messages(&suite("{reply: {}}", none)), "found no requests to `api`\n");
}

#[test]
fn called_checks_the_calls_of_a_mock_under_test() {
    let check = |called: &str| {
        let step = "{call: echo, with: {message: hi}}";
        let last = format!("{{call: echo, with: {{message: ho}}, expect: {{called: {called}}}}}");
        failure_messages(&format!(
            "servers: {{it: {{mock: trainer.mock.yaml, transport: [memory, http, sse], protocol: 2025-11-25}}}}\n\
             tests: [{{name: a, steps: [{step}, {last}]}}]"
        ))
    };
    assert_eq!(
        check("{it: [{tool: echo, args: {message: ho}, count: 1}, {tool: two, count: 0}]}"),
        ""
    );
    let messages = check("{it: {tool: echo, args: {message: {starts_with: hi}}}}");
    let line = "the only call of `it` does not match; the nearest is echo {\"message\":\"ho\"}: \
                at args.message: expected a string that starts with \"hi\", found \"ho\"\n";
    assert_eq!(messages, line.repeat(3));
}

#[test]
fn a_mock_can_use_an_earlier_mock() {
    let text = "servers: {it: {url: \"${mocks.caller.url}\"}}\n\
                mocks: {api: {http: [{reply: {text: hi}}]}, \
                caller: {mock: upstream.mock.yaml, vars: {api: \"${mocks.api.url}\"}}}\n\
                tests: [{name: a, call: fetch, with: {path: x}, expect: {text: hi, \
                received: {api: {path: /x}}, called: {caller: {tool: fetch, count: 1}}}}]";
    assert_eq!(failure_messages(text), "");
}

#[test]
fn a_mock_that_cannot_be_started_fails_the_tests_with_the_reason() {
    let tests = "{name: a, ping: true}, {name: b, ping: true}";
    let bad = suite("{reply: {headers: {\"a b\": c}}}", tests);
    let line = "cannot start mock `api`: \"a b\" is not a header name\n";
    assert_eq!(failure_messages(&bad), line.repeat(2));
    let bad = suite("{reply: {text: \"${NOBODY}\"}}", "{name: a, ping: true}");
    assert!(
        failure_messages(&bad).contains("environment variable `NOBODY` is not set"),
        "{}",
        failure_messages(&bad)
    );
}

#[test]
fn tests_run_once_over_each_transport_of_their_mocks() {
    let text = "servers: {it: {url: \"${mocks.them.url}\"}}\n\
                mocks: {them: {mock: trainer.mock.yaml, transport: [http, sse]}, \
                others: {mcp_interactions: [], transport: sse}}\n\
                tests: [{name: a, call: echo, with: {message: \"${mocks.them.url} ${mocks.others.url}\"}, \
                expect: {text: {matches: \"/(mcp|sse) .*/sse$\"}, called: {them: {count: 1}}}}]";
    assert_eq!(block_on(outcomes(text, false)).len(), 2);
    assert_eq!(failure_messages(text), "");
}

#[test]
fn a_list_is_checked_for_a_tool_its_count_and_a_removed_tool() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mock.yaml");
    let script = "tools:\n\
        - {name: weather-api, description: the weather, input: {city: string, unit: \"string?\"}, text: a}\n\
        - {name: remove, text: done, after: [{hide: {tool: weather-api}}]}\n";
    std::fs::write(&path, script).unwrap();
    let listed =
        "{name: weather-api, description: {contains: weather}, input_schema: {required: [city]}}";
    let text = format!(
        "servers: {{it: {{mock: \"{}\"}}}}\n\
         tests: [{{name: a, steps: [{{list: tools, expect: {{has: {listed}, count: 1}}}}, {{call: remove}}, \
         {{list: tools, expect: {{lacks: {{name: weather-api}}, count: 1}}}}]}}]",
        path.display()
    );
    assert_eq!(failure_messages(&text), "");
    let wrong = text.replace("required: [city]", "required: [town]");
    assert!(
        failure_messages(&wrong).contains("the nearest is {\"name\":\"weather-api\""),
        "{}",
        failure_messages(&wrong)
    );
}

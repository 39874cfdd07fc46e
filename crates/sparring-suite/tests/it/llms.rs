//! LLM endpoints of a suite: their turns, their journals, and requests that do not fit their
//! scripts.

use sparring_suite::Outcome;

use crate::fixture::{block_on, outcomes, read};

/// Returns a suite whose server forwards request bodies to an LLM endpoint.
fn suite(llm: &str, tests: &str) -> String {
    format!(
        "servers: {{it: {{mock: upstream.mock.yaml, vars: {{api: \"${{mocks.llm.url}}\"}}}}}}\n\
         mocks: {{api: {{http: []}}, llm: {{{llm}}}}}\ntests: [{tests}]"
    )
}

/// Returns a step that sends a user message to the model.
fn user_message_step(text: &str, expect: &str) -> String {
    let body = format!("{{model: m, messages: [{{role: user, content: \"{text}\"}}]}}");
    format!("call: complete, with: {{body: {body}}}, expect: {{{expect}}}")
}

/// Runs a suite. Returns the failure messages of each test.
fn failure_messages(text: &str) -> Vec<String> {
    let failed = |(name, outcome): (String, Option<Outcome>)| match outcome {
        Some(Outcome::Passed) => String::new(),
        Some(Outcome::Failed(failed)) => {
            failed.failures.iter().map(|it| format!("{}\n", it.message)).collect()
        }
        other => panic!("{name}: {other:?}"),
    };
    block_on(outcomes(text, false)).into_iter().map(failed).collect()
}

#[test]
fn each_test_starts_at_the_first_turn_and_can_have_its_own_turns() {
    let own = |name: &str, more: &str, expected: &str| {
        format!(
            "{{name: {name}, {more} {}}}",
            user_message_step("hi", &format!("text: {{contains: {expected}}}"))
        )
    };
    let tests = [
        own("a", "", "of all"),
        own("b", "turns: [{text: of b}],", "of b"),
        own("c", "", "of all"),
        own("d", "cases: [{who: Bo}], turns: [{text: \"of ${who} ${last.text}\"}],", "of Bo hi"),
        own("e", "turns: [{expect: {user: \"${env:WHO}\"}, text: x}],", "Ada"),
    ];
    let messages =
        failure_messages(&suite("openai: [{text: \"of all ${WHO}\"}]", &tests.join(", ")));
    assert_eq!(messages[..4], ["", "", "", ""], "{messages:?}");
    assert!(messages[4].contains("expected \"Ada\", found \"hi\""), "{messages:?}");
}

#[test]
fn a_request_that_does_not_fit_the_script_fails_the_test() {
    let two = format!(
        "{{{}}}, {{{}}}",
        user_message_step("hi", "is_error: false"),
        user_message_step("hi", "is_error: true")
    );
    let expected = "is_error: true, violations: {has: {rule: llm/unexpected-turn}, count: 1}";
    let tests = [
        format!("{{name: a, {}}}", user_message_step("hi", "is_error: true")),
        format!("{{name: b, turns: [{{text: x}}], steps: [{two}]}}"),
        format!("{{name: c, {}}}", user_message_step("hi", expected)),
        "{name: d, call: complete, with: {body: {}}, expect: {is_error: true}}".to_owned(),
    ];
    let messages =
        failure_messages(&suite("openai: [{expect: {user: hello}, text: x}]", &tests.join(", ")));
    let miss = "llm/unexpected-turn: mock `llm`: turn 1: the request does not meet the expectation: at user: expected \"hello\", found \"hi\"\n";
    assert_eq!(messages[0], miss);
    assert_eq!(
        messages[1],
        "llm/unexpected-turn: mock `llm`: turn 2 was requested, but the script has only 1\n"
    );
    assert_eq!(messages[2], "");
    assert_eq!(messages[3], "llm/invalid-request: mock `llm`: `model` is missing\n");
}

#[test]
fn received_checks_the_fields_that_both_apis_share() {
    let received =
        "received: {llm: {count: 1, user: \"hi [test_case_id=a]\", case: a, turn: 1, model: m}}";
    let wrong = "received: {llm: {user: hello}}";
    let tests = [
        format!("{{name: a, {}}}", user_message_step("hi [test_case_id=a]", received)),
        format!("{{name: b, {}}}", user_message_step("hi", wrong)),
    ];
    let messages =
        failure_messages(&suite("openai: [{text: y}], cases: {a: [{text: x}]}", &tests.join(", ")));
    assert_eq!(messages[0], "");
    let expected = "the only request to `llm` does not match; the nearest is POST /v1/chat/completions: at user: expected \"hello\", found \"hi\"\n";
    assert_eq!(messages[1], expected);
}

#[test]
fn reports_invalid_turns_when_the_suite_is_loaded() {
    let check = |text: &str, message: &str| {
        let problems = read(text).unwrap_err();
        assert!(problems.contains(message), "{message} is not in\n{problems}");
    };
    let test = "tests: [{name: a, agent: {command: cat}, turns: [{text: a}]}]";
    check(test, "the suite has no LLM endpoint for these turns");
    let two = format!("mocks: {{a: {{openai: []}}, b: {{anthropic: []}}}}\n{test}");
    check(&two, "the suite has several LLM endpoints for these turns");
    let wrong = suite("openai: [{}], vars: {}", "{name: a, ping: true, turns: [{call: {tol: a}}]}");
    for message in [
        "the turn has no answer",
        "`vars` cannot be used with `openai`",
        "unknown key `tol` in a call",
    ] {
        check(&wrong, message);
    }
    let lost = "{name: a, ping: true, turns: [{text: \"${mocks.no.url} ${nobody} ${last.text}\"}]}";
    check(&suite("openai: []", lost), "no mock named `no`");
    check(&suite("openai: []", lost), "no earlier step saves `nobody`");
    let of_http = "{name: a, ping: true, expect: {received: {api: {tools: []}}}}";
    check(&suite("openai: []", of_http), "`tools` needs an LLM endpoint, and `api` is none");
    let of_mcp = "{name: a, ping: true, expect: {received: {api: {client_info: {}}}}}";
    check(&suite("openai: []", of_mcp), "`client_info` needs an MCP server, and `api` is none");
    let of_llm = "{name: a, ping: true, expect: {received: {it: {path: /a, user: a}}}}";
    check(&suite("openai: []", of_llm), "`path` needs an HTTP server, and `it` is none");
    check(&suite("openai: []", of_llm), "`user` needs an LLM endpoint, and `it` is none");
    let called = "{name: a, ping: true, expect: {called: {llm: {}}}}";
    check(&suite("openai: []", called), "`llm` is an HTTP server");
}

#[test]
fn turns_that_are_not_requested_fail_the_test() {
    let step = user_message_step("hi", "is_error: false");
    let expect = "is_error: true, violations: {has: {rule: llm/unexpected-turn}}";
    let misfit = user_message_step("hi", expect);
    let tests = [
        format!("{{name: a, turns: [{{text: x}}, {{text: y}}], {step}}}"),
        format!("{{name: b, turns: [{{text: x}}, {{text: y, optional: true}}], {step}}}"),
        "{name: c, ping: true, turns: {llm: [{text: x}]}}".to_owned(),
        "{name: d, ping: true}".to_owned(),
        // The step expects that the request does not fit.
        format!("{{name: e, turns: [{{expect: {{user: hello}}, text: x}}], {misfit}}}"),
    ];
    let messages = failure_messages(&suite("openai: [{text: of all}]", &tests.join(", ")));
    let unused = |turn: u32| format!("mock `llm`: turn {turn} was never requested\n");
    let none = String::new;
    assert_eq!(messages, [unused(2), none(), unused(1), none(), none()]);
}

#[test]
fn a_misfit_is_reported_before_the_timeout_of_an_agent() {
    let script = "import json, time, urllib.request as r\n\
                  body = json.dumps({'model': 'm', 'messages': [{'role': 'user', 'content': 'hi'}]})\n\
                  for _ in range(2):\n    \
                  try: r.urlopen('${mocks.llm.url}/chat/completions', body.encode())\n    \
                  except Exception: pass\n\
                  time.sleep(30)\n";
    let script = serde_json::Value::from(script);
    let text = format!(
        "mocks: {{llm: {{turns: []}}}}\ntests: [{{name: a, turns: [{{expect: {{user: hello}}, text: x}}], \
         agent: {{command: python3, args: [-c, {script}], timeout: 2s}}}}]"
    );
    let expected = "llm/unexpected-turn: mock `llm`: turn 1: the request does not meet the expectation: at user: expected \"hello\", found \"hi\" (2 times)\nthe agent took longer than 2s and was stopped\n";
    assert_eq!(failure_messages(&text), [expected]);
}

//! The default checks: events that fail a test unless the test expects them.

use sparring_suite::Outcome;

use crate::fixture::{ON_MOCK, block_on, ends, fail, failed, outcomes, pass};

#[test]
fn an_unexpected_violation_fails_the_test() {
    fail("call: noise, expect: {text: heard}", "wire/not-json");
    pass(&[
        "call: noise, expect: {text: heard, violations: {has: {rule: wire/not-json}, count: 1}}",
    ]);
    fail("call: two, expect: {violations: {has: {rule: wire/not-json}}}", "found no violations");
}

#[test]
fn a_violation_other_than_the_expected_ones_fails_the_test() {
    let noise = |expected: &str| format!("call: noise, expect: {{violations: {expected}}}");
    let printed = "wire/not-json: the server printed a line that is not JSON-RPC: \
                   `hello` (log to stderr, not to stdout)";
    fail(&noise("{lacks: {rule: wire/wrong-jsonrpc}}"), printed);
    fail(
        "call: noisy_type, with: {days: many}, expect: {violations: {has: {rule: tools/output-schema}}}",
        printed,
    );
    pass(&[
        "call: noisy_type, with: {days: many}, \
         expect: {violations: {has: [{rule: tools/output-schema}, {rule: wire/not-json}]}}",
        "call: noisy_type, with: {days: many}, expect: {violations: {count: 2}}",
    ]);
}

#[test]
fn an_end_of_the_server_that_no_step_expects_fails_the_test() {
    fail("call: bye", "the server ended after the last step: the other side closed the connection");
    pass(&["steps: [{call: bye}, {call: two, expect: {error: {kind: closed}}}]"]);
    let text = format!("{ON_MOCK}tests: [{{name: a, call: bye}}, {{name: b, call: two}}]");
    let results = block_on(outcomes(&text, false));
    assert!(matches!(results[1].1, Some(Outcome::Passed)), "{results:#?}");
}

#[test]
fn an_unexpected_is_error_fails_the_test() {
    fail("call: failing", "tool returned isError: \"no such city\"");
}

#[test]
fn an_unexpected_error_fails_the_test() {
    fail("call: refused", "the server returned an error: not today (-32001)");
    fail("read: \"b://nowhere\"", "the server returned an error");
    fail("call: exit", "the other side closed the connection before it answered tools/call");
}

#[test]
fn a_result_that_violates_the_output_schema_fails_the_test() {
    fail(
        "call: typed, with: {days: many}",
        "tools/output-schema at $.result.structuredContent.days: \"many\" is not of type",
    );
    pass(&[
        "call: typed, with: {days: many}, expect: {violations: {has: {rule: tools/output-schema}}}",
    ]);
}

#[test]
fn a_call_of_an_unlisted_tool_fails_the_test() {
    fail("call: secret", "tools/unlisted: the server does not list a tool `secret`");
    fail("call: ehco", "did you mean 'echo'?");
    pass(&["call: ehco, expect: {error: {code: -32602}}"]);
}

#[test]
fn a_request_that_no_answer_covers_fails_the_test() {
    let later = "call: ask, answer: {elicitation: {action: decline}}";
    let test = format!("steps: [{{call: ask}}, {{{later}}}]");
    fail(&test, "the client did not answer elicitation/create (input `sure` of tools/call)");
    fail(
        "call: ask_twice, answer: {elicitation: [{action: accept, content: {}}]}",
        "the client did not answer elicitation/create",
    );
}

/// Up to 2025-11-25 the client answers such a request with an error, and the server continues.
#[test]
fn a_request_that_no_answer_covers_fails_the_test_despite_a_result() {
    let test = |name: &str, beside: &str| format!("{{name: {name}, call: ask{beside}}}");
    let text = format!(
        "servers: {{it: {{mock: trainer.mock.yaml, protocol: 2025-11-25}}}}\n\
         tests: [{}, {}, {}]",
        test("unanswered", ", expect: {is_error: true}"),
        test("expected", ", expect: {is_error: true, violations: {has: {rule: suite/unanswered}}}"),
        test("answered", ", answer: {elicitation: {action: decline}}, expect: {text: decline}"),
    );
    let results = block_on(outcomes(&text, false));
    let Some(Outcome::Failed(failed)) = &results[0].1 else { panic!("{results:?}") };
    let messages: Vec<&str> = failed.failures.iter().map(|failure| &*failure.message).collect();
    assert!(
        messages.contains(
            &"suite/unanswered: the server sent elicitation/create, which no `answer` covers"
        ),
        "{messages:?}"
    );
    assert!(matches!(results[2].1, Some(Outcome::Passed)), "{results:#?}");
    assert!(matches!(results[1].1, Some(Outcome::Passed)), "{results:#?}");
}

#[test]
fn a_key_of_the_step_below_with_is_refused_unless_the_tool_declares_it() {
    let misplaced = |key: &str, tool: &str| {
        format!(
            "`{key}` is below `with`, and the input schema of `{tool}` has no property `{key}`; \
             move it to the step"
        )
    };
    fail("call: echo, with: {message: hi, expect: {text: no}}", &misplaced("expect", "echo"));
    fail("call: two, with: {save: {a: text}}", &misplaced("save", "two"));
    fail("call: two, with: {answer: {roots: []}}", &misplaced("answer", "two"));
    fail("call: two, with: {steps: []}", &misplaced("steps", "two"));
    pass(&["call: declared, with: {expect: yes}, expect: {text: yes}"]);
}

#[test]
fn the_position_of_a_misplaced_key_is_the_key() {
    let test = "call: echo, with: {message: hi, expect: {text: no}}";
    let failed = block_on(failed(test)).unwrap();
    let text = format!("{ON_MOCK}tests: [{{name: the test, {test}}}]\n");
    let span = failed.failures[0].span;
    assert_eq!((failed.failures.len(), &text[span.start..span.end]), (1, "expect"));
    assert!(failed.frames.iter().all(|it| !it.text.contains("tools/call")), "it was sent");
}

#[test]
fn an_argument_that_the_tool_does_not_declare_gets_a_note() {
    let notes = |test: &str| {
        let text = format!("{ON_MOCK}tests: [{{name: a, {test}}}]\n");
        block_on(ends(&text)).remove(0).notes
    };
    let found = notes("call: echo, with: {message: hi, mesage: ho}");
    let message = "the input schema of `echo` has no property `mesage`; did you mean 'message'?";
    assert_eq!(found.iter().map(|it| &*it.message).collect::<Vec<_>>(), [message]);
    assert!(notes("call: echo, with: {message: hi}").is_empty());
    assert!(notes("call: two, with: {anything: hi}").is_empty(), "the schema is open");
}

#[test]
fn an_answer_for_which_the_server_does_not_ask_gets_a_note() {
    let notes = |test: &str| {
        let text = format!("{ON_MOCK}tests: [{{name: a, {test}}}]\n");
        let end = block_on(ends(&text)).remove(0);
        assert!(matches!(end.outcome, Outcome::Passed), "{test}: {end:?}");
        end.notes.into_iter().map(|note| note.message).collect::<Vec<_>>()
    };
    let accept = "{action: accept, content: {}}";
    let not_sent = "the server did not send elicitation/create, which has an `answer`";
    assert_eq!(notes(&format!("call: two, answer: {{elicitation: {accept}}}")), [not_sent]);
    let once = "the server sent elicitation/create once, and `answer` has 3 answers";
    let three = format!("call: ask, answer: {{elicitation: [{accept}, {accept}, {accept}]}}");
    assert_eq!(notes(&three), [once]);
    let two = format!("call: ask_twice, answer: {{elicitation: [{accept}, {accept}]}}");
    assert!(notes(&two).is_empty());
    let earlier = "servers: {it: {mock: trainer.mock.yaml, protocol: 2025-03-26}}\n\
                   tests: [{name: a, call: two, answer: {elicitation: {action: decline}}}]";
    assert!(block_on(ends(earlier)).remove(0).notes.is_empty(), "the revision has no elicitation");
    assert!(notes(&format!("call: ask_twice, answer: {{elicitation: {accept}}}")).is_empty());
}

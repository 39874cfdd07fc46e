//! What fails a test that does not expect it.

use sparring_suite::Outcome;

use crate::fixture::{ON_MOCK, block_on, fail, outcomes, pass};

#[test]
fn a_breach_of_the_protocol() {
    fail("call: noise, expect: {text: heard}", "wire/not-json");
    pass(&[
        "call: noise, expect: {text: heard, violations: {has: {rule: wire/not-json}, count: 1}}",
    ]);
    fail("call: two, expect: {violations: {has: {rule: wire/not-json}}}", "found no violations");
}

#[test]
fn a_breach_that_is_another_than_those_expected() {
    let noise = |expected: &str| format!("call: noise, expect: {{violations: {expected}}}");
    fail(&noise("{lacks: {rule: wire/wrong-jsonrpc}}"), "wire/not-json: unexpected 'h' at byte 0");
    fail(
        "call: noisy_type, with: {days: many}, expect: {violations: {has: {rule: tools/output-schema}}}",
        "wire/not-json: unexpected 'h' at byte 0",
    );
    pass(&[
        "call: noisy_type, with: {days: many}, \
         expect: {violations: {has: [{rule: tools/output-schema}, {rule: wire/not-json}]}}",
        "call: noisy_type, with: {days: many}, expect: {violations: {count: 2}}",
    ]);
}

#[test]
fn a_server_that_ends_and_no_step_meets_that() {
    fail("call: bye", "the server ended after the last step: the other side closed the connection");
    pass(&["steps: [{call: bye}, {call: two, expect: {error: {kind: closed}}}]"]);
    let text = format!("{ON_MOCK}tests: [{{name: a, call: bye}}, {{name: b, call: two}}]");
    let told = block_on(outcomes(&text, false));
    assert!(matches!(told[1].1, Some(Outcome::Passed)), "{told:#?}");
}

#[test]
fn a_tool_that_says_that_it_failed() {
    fail("call: failing", "tool returned isError: \"no such city\"");
}

#[test]
fn an_error_instead_of_a_result() {
    fail("call: refused", "the server returned an error: not today (-32001)");
    fail("read: \"b://nowhere\"", "the server returned an error");
    fail("call: exit", "the other side closed the connection before it answered tools/call");
}

#[test]
fn a_result_that_breaks_the_tools_own_schema() {
    fail("call: typed, with: {days: many}", "tools/output-schema: /days: \"many\" is not of type");
    pass(&[
        "call: typed, with: {days: many}, expect: {violations: {has: {rule: tools/output-schema}}}",
    ]);
}

#[test]
fn a_tool_that_is_not_listed() {
    fail("call: secret", "tools/unlisted: the server does not list a tool `secret`");
    fail("call: ehco", "did you mean 'echo'?");
    pass(&["call: ehco, expect: {error: {code: -32602}}"]);
}

#[test]
fn a_question_that_no_answer_covers() {
    let later = "call: ask, answer: {elicitation: {action: decline}}";
    let test = format!("steps: [{{call: ask}}, {{{later}}}]");
    fail(&test, "the client did not answer elicitation/create (input `sure` of tools/call)");
    fail(
        "call: ask_twice, answer: {elicitation: [{action: accept, content: {}}]}",
        "the client did not answer elicitation/create",
    );
}

/// Up to 2025-11-25 the server is told that there is no answer, and goes on.
#[test]
fn a_question_that_no_answer_covers_although_there_is_a_result() {
    let test = |name: &str, beside: &str| format!("{{name: {name}, call: ask{beside}}}");
    let text = format!(
        "servers: {{it: {{mock: trainer.mock.yaml, protocol: 2025-11-25}}}}\n\
         tests: [{}, {}, {}]",
        test("unanswered", ", expect: {is_error: true}"),
        test("expected", ", expect: {is_error: true, violations: {has: {rule: suite/unanswered}}}"),
        test("answered", ", answer: {elicitation: {action: decline}}, expect: {text: decline}"),
    );
    let told = block_on(outcomes(&text, false));
    let Some(Outcome::Failed(failed)) = &told[0].1 else { panic!("{told:?}") };
    let messages: Vec<&str> = failed.failures.iter().map(|failure| &*failure.message).collect();
    assert!(
        messages.contains(
            &"suite/unanswered: the server sent elicitation/create, which no `answer` covers"
        ),
        "{messages:?}"
    );
    assert!(matches!(told[2].1, Some(Outcome::Passed)), "{told:#?}");
    assert!(matches!(told[1].1, Some(Outcome::Passed)), "{told:#?}");
}
